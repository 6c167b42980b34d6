"""`record` objects, for `head --json`.

A JSON object has text keys, each once; a record's names are bytes, and may stand more than once. A feature is filed
under its name where that is UTF-8 and free. Else it is filed under the nearest free text (its odd bytes as `\\xNN`;
`#2`, `#3` … behind a name that is taken), and its own name stands in it as `name`. A payload that has no features to
show, since its kind is unknown, shows its first bytes as `payload`, with its size and how many are `shown`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tfrtool.cli.json_out import JsonPrinter
from tfrtool.cli.record_lines import UNKNOWN_BYTES, near
from tfrtool.payload.features import FeatureListView, FeatureView
from tfrtool.payload.values import json_bytes, text_of
from tfrtool.verbs.head import Record
from tfrtool.verbs.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event

VALUES, CUT = 10, 1024
"""Unless more are asked for: values shown of a feature (and steps of a feature list), and bytes of one value."""


class HeadJson(JsonPrinter):
    """Adds `record` objects, with the first `values` values of a feature: -1 for all, None for the usual few."""

    def __init__(self, values: int | None) -> None:
        super().__init__(("unread",))
        self._limit: int | None = VALUES
        self._cut: int | None = CUT
        if values is not None:
            self._limit, self._cut = (None if values < 0 else values), None

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Record):
            self.write("record", self._record(name, event))
        else:
            super().show(name, event)

    def _record(self, name: str, record: Record) -> dict[str, Any]:
        found = record.features()
        fields: dict[str, Any] = {
            "path": json_text(name),
            "index": record.index,
            "offset": record.offset,
            "size": record.size,
            "kind": record.kind,
            "features": filed((view.name, self._feature(view)) for view in found.features) if found else {},
        }
        if found and record.kind == "sequence_example":
            fields["feature_lists"] = filed((view.name, self._feature_list(view)) for view in found.feature_lists)
        if not found and record.payload is not None:
            beginning = bytes(record.payload[:UNKNOWN_BYTES])
            fields["payload"] = {**json_bytes(beginning), "size": record.size, "shown": len(beginning)}
            if why := near(record):
                fields["note"] = why
        return fields

    def _feature(self, view: FeatureView) -> dict[str, Any]:
        values = view.json_values(self._limit, self._cut)
        shown = {"kind": view.kind, "count": view.count, "values": values, "shown": len(values)}
        return {**shown, "note": view.note} if view.note else shown

    def _feature_list(self, view: FeatureListView) -> dict[str, Any]:
        steps = [self._feature(step) for step in view.steps(self._limit)]
        shown = {"kinds": view.kinds, "count": view.count, "steps": steps, "shown": len(steps)}
        return {**shown, "note": view.note} if view.note else shown


def filed(entries: Iterable[tuple[bytes, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Entries by name, so that none is lost and each name can be told; see the head of this module."""
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, int] = {}
    for name, entry in entries:
        key = plain = text_of(name)
        while key in found:
            taken[plain] = taken.get(plain, 1) + 1
            key = f"{plain}#{taken[plain]}"
        found[key] = entry if key.encode() == name else {"name": json_text(name), **entry}
    return found
