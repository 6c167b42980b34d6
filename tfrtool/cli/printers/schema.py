"""Print the schema of all inputs: a row for each feature, tag or field, and notes, for pipes and terminals."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from tfrtool.cli.printers.base import DamageWarnings, SilentPrinter
from tfrtool.cli.streams import say
from tfrtool.cli.terminal.console import console
from tfrtool.cli.terminal.table import TableColumn, draw_table, heading, short
from tfrtool.cli.text import plural, safe, safe_name
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature, Key
from tfrtool.payload.schema.shards import FEATURES, GROUPS, NAMES
from tfrtool.payload.schema.values import Blobs, ContentCount, Numbers
from tfrtool.payload.text import shortest_float32, size_text, sizes_text
from tfrtool.payload.wire.reader import WIRE_NAMES
from tfrtool.report import Summary
from tfrtool.types import Kind
from tfrtool.verbs.schema.findings import (
    differs,
    findings,
    is_label,
    kinds_of_tables,
    sampled,
    shards_that_differ,
)

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.payload.schema.events import EventTable
    from tfrtool.payload.schema.table import Table
    from tfrtool.payload.schema.unknown import WireTable


_DETAILS = 3
"""Sizes of images shown of one feature."""

_SHARDS = 8
"""Kinds of shard whose differences are printed, one line each."""


class SchemaLine(NamedTuple):
    """One row, safe for a terminal: name, kind, number of records, fewest and most values, description, remarks.

    `is_list`: the row is a feature list of SequenceExamples.
    """

    name: str
    kind: str
    records: int
    fewest: int
    most: int
    what: str
    remarks: list[str]
    is_list: bool = False


def lines(schema: Schema) -> Iterator[SchemaLine]:
    """Yield a row for each feature, tag and field, with remarks about it."""
    remarks: dict[tuple[Kind | None, Key | None], list[str]] = {}
    for one in findings(schema):
        if one.what != "shard":
            remarks.setdefault((one.kind, one.key), []).append(one.said)
    for table, kind in sorted(kinds_of_tables(schema), key=lambda item: item[0] is schema.ofrecords):
        for key, feature in table.features.items():
            yield _feature_text(feature, remarks.get((kind, key), []))
    for name, tag in schema.events.tags.items() if schema.events else ():
        kinds = "/".join(safe(kind) for kind in tag.kinds)
        what = f"steps {tag.low} to {tag.high}"
        if (numbers := tag.numbers) and (numbers.least != numbers.greatest or numbers.nan or numbers.infinite):
            what += f"; {_numbers(numbers, tag.number_kind, b'')}"
        yield SchemaLine(safe_name(name), kinds, tag.values, tag.low, tag.high, what, [])
    for (number, wire), found in schema.unknown.fields.items() if schema.unknown else ():
        yield SchemaLine(
            f"field {number}", WIRE_NAMES[wire], found.records, found.fewest, found.most, _blobs(found.values), []
        )


def sentences(schema: Schema) -> Iterator[str]:
    """Yield notes about the whole schema, not yet safe: findings that concern no single feature come first."""
    for one in findings(schema):
        if one.key is None and one.what != "shard":
            yield one.message
    odd = list(shards_that_differ(schema))
    for shard in odd[:_SHARDS]:
        yield differs(shard, schema)
    if (more := len(odd) - _SHARDS) > 0:
        kinds = "kind of shard differs" if more == 1 else "kinds of shard differ"
        yield f"{more:,} more {kinds} from the others; --json lists all"
    yield from _uncompared(schema)
    yield from left_out(schema)
    if schema.events:
        yield from _about_events(schema.events)
    if schema.records == schema.blank > 0:
        read = " read" if schema.limited else ""
        yield f"all records{read} are empty, like Examples and OFRecords without features"
    if schema.unknown:
        yield from _about_unknown(schema.unknown)
    if schema.limited:
        which = sampled(schema, "input")
        yield f"only the first records of {which} were read: features may be missing or differ in others"


def _uncompared(schema: Schema) -> Iterator[str]:
    """Yield which shards are not compared, if any: their differences are in no finding."""
    count, path = schema.uncompared
    if count:
        bounds = f"{GROUPS} kinds of shard, or {FEATURES} features or {size_text(NAMES)} of names in one"
        yield f"{plural(count, 'file')} not compared with other shards, first {path}: too different, beyond {bounds}"


def unsaid(schema: Schema, table: Table | None) -> Iterator[str]:
    """Yield what is missing from the description of `table`, or of all, for another program; not yet safe."""
    kind = schema.kind_of(table) if table else None
    for one in findings(schema):
        if one.what == "mixed":
            described = f"; the {kind} records are described" if kind and len(schema.kinds) > 1 else ""
            yield one.message + described
    yield from left_out(schema)


def left_out(schema: Schema) -> Iterator[str]:
    """Yield what is missing from the schema, not yet safe."""
    cut = [(len(table.features), "features") for table in (schema.examples, schema.ofrecords) if table.more]
    if schema.events and schema.events.more:
        cut.append((len(schema.events.tags), "tags"))
    for kept, what in cut:
        yield f"more than {kept:,} {what}: only the {kept:,} most frequent are described"
    if schema.unknown and schema.unknown.more:
        kept = len(schema.unknown.fields)
        yield f"more than {kept:,} fields: only the {kept:,} with the lowest numbers are described"
    if schema.misfits and schema.first_misfit:
        first = schema.first_misfit
        lost = "payload that does not parse" if schema.misfits == 1 else "payloads that do not parse"
        yield f"skipped {schema.misfits:,} {lost}, first record {first.record} of {first.path}"
    if schema.large:
        yield f"skipped {plural(schema.large, 'record')} too large to read"


def _feature_text(feature: Feature, remarks: list[str]) -> SchemaLine:
    kinds = "/".join(feature.set_kinds) or "unset"
    parts = [_values(feature, kind) for kind in feature.set_kinds]
    unset = feature.kinds.get(None)
    if unset is not None and feature.set_kinds:
        parts.append(f"unset in {plural(unset.records, 'record')}")
    what = "; ".join(filter(None, parts))
    low, high = feature.shortest, feature.longest
    if feature.is_list:
        kinds = f"list of {kinds}"
        low, high = feature.steps or (0, 0)
        what = f"{_range(feature.shortest, feature.longest)} a step; {what}" if what else what
    name, said = safe_name(feature.name), [safe(remark) for remark in remarks]
    return SchemaLine(name, kinds, feature.present, low, high, what, said, feature.is_list)


def _values(feature: Feature, kind: str) -> str:
    values = feature.kinds[kind].values
    if isinstance(values, Blobs):
        return _blobs(values)
    return _numbers(values, kind, feature.name) if isinstance(values, Numbers) and values.values else ""


def _numbers(numbers: Numbers, kind: str, name: bytes) -> str:
    parts = []
    if isfinite(numbers.least):
        low, high = _number(numbers.least, kind), _number(numbers.greatest, kind)
        parts.append(low if low == high else f"{low} to {high}")
    if kind.startswith("int"):
        if numbers.distinct is not None and len(numbers.distinct) > 1:
            parts.append(f"{len(numbers.distinct)} different")
        if is_label(name, numbers):
            parts.append("a label")
        if kind == "int64" and not numbers.fits_int32:
            parts.append("beyond int32")
    parts += [f"{count:,} {word}" for count, word in ((numbers.nan, "NaN"), (numbers.infinite, "infinite")) if count]
    return ", ".join(parts)


def _number(value: float, kind: str) -> str:
    return repr(shortest_float32(value)) if kind == "float" else repr(value)


def _blobs(blobs: Blobs) -> str:
    if not blobs.values:
        return ""
    held = sorted(blobs.contents.items(), key=lambda item: -item[1].values)
    parts = []
    for kind, one in held:
        details = sorted(one.details, key=lambda detail: -one.details[detail])
        shown = " ".join(f"({safe(detail)})" for detail in details[:_DETAILS])
        more = " …" if len(details) > _DETAILS or one.more else ""
        count = f"{one.values:,} " if len(held) > 1 else ""
        parts.append(" ".join(f"{count}{kind} {_forms(one)} {shown}{more}".split()))
    return f"{', '.join(parts)}; {sizes_text(int(blobs.shortest), blobs.longest)}"


def _forms(held: ContentCount) -> str:
    """Return the channels of images, and bits per sample if not 8; with counts if there are several."""
    if len(held.forms) == 1:
        return next(iter(held.forms))
    return "/".join(f"{count:,} {form}" for form, count in sorted(held.forms.items(), key=lambda item: -item[1]))


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _about_events(events: EventTable) -> Iterator[str]:
    if isfinite(events.earliest):
        yield f"logged from {_time(events.earliest)} to {_time(events.latest)}"
    if events.low is not None:
        yield f"steps {events.low} to {events.high}"
    if events.gap and events.gap_at:
        at = events.gap_at
        yield f"longest time between two events: {events.gap:.6g} s, before record {at.record} of {at.path}"
    if events.restarts and events.first_restart:
        at = events.first_restart.place
        yield f"{plural(events.restarts, 'restart')}, first at record {at.record} of {at.path}"
    if events.other:
        yield "other events: " + ", ".join(f"{count:,} {what}" for what, count in events.other.items())


def _about_unknown(unknown: WireTable) -> Iterator[str]:
    if unknown.opaque and unknown.first_opaque:
        at = unknown.first_opaque
        held = _blobs(unknown.payloads)
        count = plural(unknown.opaque, "payload")
        yield f"not protocol buffers: {count}, first record {at.record} of {at.path}: {held}"
    if unknown.fields:
        yield "unknown kind of record: top-level fields are shown"
    if unknown.near:
        place, near = unknown.near
        yield f"record {place.record} of {place.path} is {near}"


def _time(seconds: float) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"


class SchemaCollector:
    """Adds up the schemas of the inputs in `total`, and passes other events to the printer it is mixed into."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.total = Schema()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Schema):
            self.total.merge(event)
        else:
            super().show(name, event)  # type: ignore[misc]


class SchemaSilent(SchemaCollector, SilentPrinter):
    """Adds up the schemas for the exit code, and prints nothing."""


class SchemaPrinter(SchemaCollector, DamageWarnings):
    """Adds up the schemas of the inputs; reports what was skipped on standard error."""

    verify = "tfrtool verify --payload"

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.warnings import warn_missing

            warn_missing(missing)
        self.total.cut()
        self.print(summary)

    def print(self, summary: Summary) -> None:
        """Print the schema of all inputs."""
        raise NotImplementedError


class SchemaText(SchemaPrinter):
    """Writes a line of tab-separated fields for each feature."""

    def print(self, summary: Summary) -> None:
        for line in lines(self.total):
            remarks = "; ".join(line.remarks)
            counts = f"{line.records}\t{line.fewest}\t{line.most}"
            sys.stdout.write(f"{line.name}\t{line.kind}\t{counts}\t{_ascii(line.what)}\t{_ascii(remarks)}\n")
        for sentence in sentences(self.total):
            say(safe(sentence))


def _ascii(text: str) -> str:
    return text if sys.stdout.encoding.lower().startswith("utf") else text.replace("…", "...")


ROWS = 200
"""Features shown."""
_FEATURES = (
    TableColumn("feature", "name"),
    TableColumn("kind", "bare"),
    TableColumn("records", right=True),
    TableColumn("values", right=True),
    TableColumn("what they are"),
)
_TAGS = (
    TableColumn("tag", "name"),
    TableColumn("kind", "bare"),
    TableColumn("values", right=True),
    TableColumn(""),
)


class SchemaTerminal(SchemaPrinter):
    """Prints one table for all inputs, at the end."""

    def __init__(self, color: bool) -> None:
        super().__init__()
        self._console = console(color)

    def print(self, summary: Summary) -> None:
        from rich.text import Text

        total = self.total
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in total.kinds_of_files.items())
        records = f"{kinds} record{'' if sum(total.kinds.values()) == 1 else 's'}" if kinds else "no records"
        self._console.print(Text.assemble((plural(summary.files, "file"), "bold"), f": {records}"))
        rows = list(islice(lines(total), ROWS + 1))
        if rows:
            columns, fields = (_TAGS, _tag) if total.kind == "event" else (_FEATURES, _feature)
            self._console.print(draw_table(self._console, columns, [fields(line) for line in rows[:ROWS]]))
        if len(rows) > ROWS:
            self._console.print("and more; --json lists all")
        for line in rows[:ROWS]:
            for remark in line.remarks:
                heading(self._console, _subject(line), Text(remark))
        for sentence in sentences(total):
            self._console.print(Text(safe(sentence)))


def _subject(line: SchemaLine) -> str:
    """Return the name that precedes a remark."""
    what = "feature list" if line.is_list else "feature"
    if not line.name:
        return f"the {what} without a name"
    return short(line.name) if what == "feature" else f"the {what} {short(line.name)}"


def _tag(line: SchemaLine) -> tuple[str, ...]:
    return short(line.name), line.kind, f"{line.records:,}", line.what


def _feature(line: SchemaLine) -> tuple[str, ...]:
    counts = f"{line.fewest:,}" if line.fewest == line.most else f"{line.fewest:,}-{line.most:,}"
    return short(line.name), line.kind, f"{line.records:,}", counts, line.what
