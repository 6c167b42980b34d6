"""Print the results of `head`: for pipes, terminals and as JSON Lines; names for `--keys`, bytes for `--raw`.

The keys of a JSON object are unique text; feature names are bytes, and may repeat. A feature is listed under its name
if that is UTF-8 and not taken. Otherwise it is listed under similar text (invalid bytes as `\\xNN`; `#2`, `#3` …
appended to a name that is taken), and its `name` field holds the real name. For a payload of unknown kind, `payload`
holds its first bytes, its size and how many bytes are `shown`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tfrtool.cli.printers.base import DamageWarnings
from tfrtool.cli.printers.jsonl import JsonPrinter
from tfrtool.cli.streams import say
from tfrtool.cli.terminal.console import console
from tfrtool.cli.terminal.table import TableColumn, draw_table, heading, short, table_widths
from tfrtool.cli.text import plural, row, safe, safe_name
from tfrtool.errors import TfrtoolError
from tfrtool.payload.features.preview import preview, preview_list, value_text
from tfrtool.payload.features.view import FeatureListView, FeatureView
from tfrtool.payload.text import json_bytes, size_text, text_of
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.head import Record

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event


UNKNOWN_BYTES = 64
"""Bytes shown of a payload of unknown kind."""


class FeatureLine(NamedTuple):
    """One feature: name (empty if the line is about the whole record), kind, number of values, and values."""

    name: str
    kind: str
    number: str
    values: str


def near(record: Record) -> str:
    """Return which kind a record of unknown kind resembles, and where it differs."""
    from tfrtool.payload.validate import nearly

    return nearly(record.payload) if record.payload is not None and record.kind == "unknown" else ""


def lines(record: Record, width: int, values: int | None) -> Iterator[FeatureLine]:
    """Yield the lines of a record; values are previewed in `width` columns, or the first `values` shown (-1: all)."""
    found = record.features()
    if found is None:
        shown = "too large to read"
        if record.payload is not None:
            shown = "  ".join(filter(None, (dump(record.payload), near(record))))
        yield FeatureLine("", "unknown", "", shown)
    elif not (found.features or found.feature_lists):
        yield FeatureLine("", record.kind or "", "0", "no features")
    else:
        for view in found.features:
            yield FeatureLine(
                safe_name(view.name), view.kind or "", str(view.count), _noted(view, _values(view, width, values))
            )
        for steps in found.feature_lists:
            kind = "list of " + "/".join(kind or "nothing" for kind in steps.kinds)
            yield FeatureLine(
                safe_name(steps.name), kind, str(steps.count), _noted(steps, _steps(steps, width, values))
            )


def _noted(view: FeatureView | FeatureListView, shown: str) -> str:
    shown = safe(f"{shown} ({view.note})" if view.note else shown)
    return shown if sys.stdout.encoding.lower().startswith("utf") else shown.replace("…", "...")


def _values(view: FeatureView, width: int, values: int | None) -> str:
    if values is None or view.count == 0:
        return preview(view, width)
    shown = [value_text(value, view.kind, sys.maxsize) for value in view.values(_limit(values))]
    return shown[0] if view.count == 1 and shown else _listed(shown, view.count)


def _steps(view: FeatureListView, width: int, values: int | None) -> str:
    if values is None:
        return preview_list(view, width)
    shown = [
        _listed([value_text(value, step.kind, sys.maxsize) for value in step.values(_limit(values))], step.count)
        for step in view.steps(_limit(values))
    ]
    return _listed(shown, view.count)


def _limit(values: int) -> int | None:
    return None if values < 0 else values


def _listed(shown: Sequence[str], count: int) -> str:
    more = [f"… {count - len(shown)} more"] if count > len(shown) else []
    return f"[{', '.join([*shown, *more])}]"


def dump(payload: bytes | memoryview) -> str:
    """Return the first bytes of a payload in hexadecimal and ASCII, and how many follow."""
    head = bytes(payload[:UNKNOWN_BYTES])
    more = f" and {len(payload) - len(head)} more bytes" if len(payload) > len(head) else ""
    return f"{head.hex(' ')} |{''.join(chr(b) if 32 <= b < 127 else '.' for b in head)}|{more}"


VALUES, CUT = 10, 1024
"""Defaults: values shown of a feature (and steps of a feature list), and bytes of one value."""


class HeadJson(JsonPrinter):
    """Adds `record` objects, with the first `values` values of a feature: -1 for all, None for the default."""

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
    """Return the entries by unique names; see the docstring of this module."""
    found: dict[str, dict[str, Any]] = {}
    taken: dict[str, int] = {}
    for name, entry in entries:
        key = plain = text_of(name)
        while key in found:
            taken[plain] = taken.get(plain, 1) + 1
            key = f"{plain}#{taken[plain]}"
        found[key] = entry if key.encode() == name else {"name": json_text(name), **entry}
    return found


PREVIEW = 80
"""Width of a preview in a pipe."""


class HeadPrinter(DamageWarnings):
    """Base of the printers of `head`: reports everything but records on standard error."""

    def record(self, name: str, record: Record) -> None:
        """Print one record."""
        raise NotImplementedError

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Record):
            self.record(name, event)
            return
        super().show(name, event)
        if isinstance(event, FileReport) and event.status == "clean":
            self.hint(event)

    def hint(self, report: FileReport) -> None:
        """Report the hint of a clean file."""
        if report.hint:
            say(report.hint, report.path)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.warnings import warn_missing

            warn_missing(missing)


class HeadText(HeadPrinter):
    """Writes a line for each feature: path, record number, name, kind, number of values, preview."""

    def __init__(self, values: int | None) -> None:
        super().__init__()
        self._values = values

    def record(self, name: str, record: Record) -> None:
        for line in lines(record, PREVIEW, self._values):
            sys.stdout.write(row((name, record.index)) + "\t" + "\t".join(line) + "\n")


class HeadKeys(HeadPrinter):
    """Prints the names of features, each once, in order of appearance."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[bytes] = set()

    def record(self, name: str, record: Record) -> None:
        found = record.features()
        names = [view.name for view in found.features] if found else []
        names += [view.name for view in found.feature_lists] if found else []
        for feature in names:
            if feature not in self._seen:
                self._seen.add(feature)
                sys.stdout.write(safe_name(feature) + "\n")


class HeadRaw(HeadPrinter):
    """Writes the payload of one record, byte for byte."""

    def __init__(self, skip: int) -> None:
        super().__init__()
        self._skip = skip
        self._written = False
        self._name = ""

    def show(self, name: str, event: Event) -> None:
        self._name = name
        super().show(name, event)

    def record(self, name: str, record: Record) -> None:
        if record.payload is None:
            raise TfrtoolError(f"{name}: record {record.index} is too large to read: {record.size} bytes")
        if record.index > self._skip:
            damaged = record.index - self._skip
            are = "1 is" if damaged == 1 else f"{damaged:,} are"
            say(f"this is record {record.index}: {are} damaged before it", name)
        sys.stdout.buffer.write(record.payload)
        self._written = True

    def hint(self, report: FileReport) -> None:
        if self._written:  # else an error is reported
            super().hint(report)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        super().end(summary, missing)
        if not self._written and not summary.exit:
            raise TfrtoolError(f"{self._name} has no record {self._skip}: it has {plural(summary.records, 'record')}")


CARD_ROWS = 100
"""Features shown of one record."""
_COLUMNS = (TableColumn(style_below="name", style="cyan"), TableColumn(), TableColumn(right=True), TableColumn())
_INDENT = 2


class HeadTerminal(HeadPrinter):
    """Prints a heading for each record, and a row for each feature."""

    def __init__(self, color: bool, values: int | None) -> None:
        super().__init__()
        self._console = console(color)
        self._values = values

    def record(self, name: str, record: Record) -> None:
        from rich.padding import Padding
        from rich.text import Text

        kind = record.kind or ("too large to read" if record.payload is None else "no features")
        what = f"record {record.index}: {kind}, {size_text(record.size)} at byte {record.offset}"
        heading(self._console, safe(name), Text(what), mark="")
        width = self._console.width - _INDENT
        rows = self._rows(record, width)
        if self._values is None:
            rows = self._rows(record, table_widths(width, _COLUMNS, rows, narrow=0).last)
        card = draw_table(self._console, _COLUMNS, rows, width=width, narrow=0)
        self._console.print(Padding(card, (0, 0, 0, _INDENT)))
        found = record.features()
        hidden = len(found.features) + len(found.feature_lists) - CARD_ROWS if found else 0
        if hidden > 0:
            self._console.print(f"  and {plural(hidden, 'more feature')}; --keys lists all names")
        self._console.print()

    def _rows(self, record: Record, width: int) -> list[FeatureLine]:
        rows = islice(lines(record, width, self._values), CARD_ROWS)
        return [row._replace(name=short(row.name)) for row in rows]
