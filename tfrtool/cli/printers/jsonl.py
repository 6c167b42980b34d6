"""Print JSON Lines: one object per line, with its `type` and the version `v` of this layout.

Text and bytes that are not UTF-8 are written as `{"bytes": "<base64>"}`; NaN and infinities as strings.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.report import FileReport, Summary
from tfrtool.verbs.formats.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage

VERSION = 1

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode

_FILE = ("status", "format", "compression", "size", "records", "kind", "diagnosis", "message", "hint")
_SUMMARY = ("files", "clean", "damaged", "foreign", "errors", "records", "missing", "exit")


class JsonPrinter:
    """Prints a `file` object for each input, after the `damage` objects of that file, and one `summary`.

    `extra` names fields of the report that a command adds to the `file` object. A command with other events overrides
    `show`, and calls `write`.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self._fields = (*_FILE, *extra)

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self.write("file", self._file(event))
        else:
            self.write("damage", damage_fields(name, event))  # type: ignore[arg-type]

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.write("summary", self.summary(summary, missing))

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        """Return the fields of the `summary` object."""
        values: dict[str, Any] = {field: getattr(summary, field) for field in _SUMMARY}
        values["missing_names"] = [json_text(name) for name in missing]
        return values

    def write(self, kind: str, values: dict[str, Any]) -> None:
        """Write one object as one line."""
        sys.stdout.write(_encode({"type": kind, "v": VERSION, **values}) + "\n")

    def _file(self, report: FileReport) -> dict[str, Any]:
        values: dict[str, Any] = {"path": json_text(report.path)}
        for field in self._fields:
            value = getattr(report, field)
            values[field] = json_text(value) if isinstance(value, str) else value
        if report.suggestion:
            from tfrtool.cli.suggestions import advice

            values["hint"] = json_text(advice(report) or "")
        if report.error:
            values["error"] = {"kind": report.error[0], "message": json_text(report.error[1])}
        return values


def damage_fields(name: str, damage: Damage) -> dict[str, Any]:
    """Return the fields of a `damage` object."""
    return {
        "path": json_text(name),
        "begin": damage.begin,
        "end": damage.end,
        "fault": damage.fault,
        "record": damage.record,
        "want": _checksum(damage.want),
        "got": _checksum(damage.got),
        "restorable": damage.restorable,
        "message": json_text(damage.message),
    }


def _checksum(value: int | None) -> str | None:
    return None if value is None else f"0x{value:08x}"
