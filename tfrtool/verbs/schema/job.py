"""Describe the features of records: kinds, presence, list lengths and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfrtool.errors import as_error
from tfrtool.framing.walk import Batch
from tfrtool.payload.schema.dataset import File, Schema
from tfrtool.payload.schema.summarize import add, stop_counting
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import RecordPlace
from tfrtool.payload.wire.example import HeaderCache
from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file
from tfrtool.verbs.reading.kind_vote import VOTERS

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.schema.event_reader import EventReader
    from tfrtool.payload.wire.reader import WireError
    from tfrtool.types import Kind

_BLANK = (b"", b"\n\0")
"""Payloads of an Example or OFRecord without features."""


def schema_file(name: str, options: Options, n: int | None = None) -> Iterator[Damage | Schema | FileReport]:
    """Yield the damage of one input as it is found, then its schema, then its report.

    `n` limits the number of records that are read; None for all. A payload that does not parse is damage.
    """
    yield from read_file(name, options, lambda read: _Describing(read, n).run())


class _Describing:
    """Read one file into a schema."""

    def __init__(self, read: FileReader, n: int | None) -> None:
        self.read = read
        self.left = n
        self.schema = Schema()
        self.payload_bytes = 0
        self.seen = 0
        self.kind: Kind | None = None
        self.blank: RecordPlace | None = None
        self.blanks = 0
        self.known: HeaderCache | None = None
        self.events: EventReader | None = None

    def run(self) -> Iterator[Damage | Schema | FileReport]:
        read, more = self.read, False
        ahead = VOTERS if self.left is None else min(self.left, VOTERS)
        for event in read.events(payloads=True, ahead=ahead) if self.left != 0 else ():
            if not isinstance(event, Batch):
                yield event
                continue
            batch = event
            if self.left is not None and batch.count > self.left:
                more = True
                batch = batch.replaced(count=self.left, begins=batch.begins[: self.left], ends=batch.ends[: self.left])
            self.seen += batch.count
            if batch.view is None:
                self.schema.large += 1
            else:
                self.payload_bytes += sum(batch.ends) - sum(batch.begins)
                yield from self._routed(batch)
            if self.left is not None:
                self.left -= batch.count
                if not self.left:
                    break
        if self.kind is None and self.blank:
            self.schema.add_blank(self.blanks, self.blank)
        report = read.report()
        report.unread = report.unread or more  # however much was read at once
        if self.left == 0:
            report.records = self.seen - self.schema.misfits
        if report.status == "foreign" and not report.records:
            self.schema.unread = 1
        else:
            self.schema.damaged = sum(report.faults.values()) - self.schema.misfits
        self.schema.limited = self.left == 0 and report.unread
        self.schema.cut()
        if not self.schema.limited:
            self.schema.shards.add(self.schema.table, report.path)
        kind = None if self.schema.records == self.schema.blank else self.schema.kind
        size, packed = self.payload_bytes, report.compression
        self.schema.files = [
            File(report.path, report.records, size, packed, kind, report.format, not self.schema.limited)
        ]
        report.kind = self.kind or self.schema.kind or report.kind
        yield self.schema
        yield report

    def _routed(self, batch: Batch) -> Iterator[Damage]:
        """Read a batch by the kind of the file, or count it if it holds nothing that tells the kind."""
        if self.kind is None:
            if (rest := self._without_blanks(batch)) is None:
                return
            batch = rest
            self.kind = self.read.kind
            if self.blank:
                self._add_blanks(self.blank)
        yield from self._described(batch)

    def _without_blanks(self, batch: Batch) -> Batch | None:
        """Return the batch without the empty records at the start of a file, which are counted; None if none are
        left."""
        view, blanks = batch.view, 0
        assert view is not None
        for begin, end in zip(batch.begins, batch.ends, strict=True):
            if end - begin > 2 or bytes(view[begin:end]) not in _BLANK:
                break
            blanks += 1
        if not blanks:
            return batch
        self.blank = self.blank or RecordPlace(self.read.source.name, batch.first)
        self.blanks += blanks
        if blanks == batch.count:
            return None
        begins, ends = batch.begins[blanks:], batch.ends[blanks:]
        return batch.replaced(first=batch.first + blanks, count=batch.count - blanks, begins=begins, ends=ends)

    def _add_blanks(self, first: RecordPlace) -> None:
        """Count the empty records at the start of the file under the kind of the file."""
        if self.kind in ("example", "sequence_example", "ofrecord"):
            total = self.schema.ofrecords if self.kind == "ofrecord" else self.schema.examples
            total.merge(Table(self.blanks, first))
        elif self.kind == "event":
            from tfrtool.payload.schema.events import EventTable

            self.schema.with_events().merge(EventTable.of_blanks(self.blanks, first))
        else:
            from tfrtool.payload.schema.unknown import WireTable

            self.schema.with_unknown().merge(WireTable(self.blanks, first))

    def _described(self, batch: Batch) -> Iterator[Damage]:
        view, path = batch.view, self.read.source.name
        assert view is not None
        misfits: Sequence[tuple[int, WireError]] = ()
        if self.kind == "event":
            if self.events is None:
                from tfrtool.payload.schema.event_reader import EventReader

                self.events = EventReader()
            events, misfits = self.events.summarise(view, batch.begins, batch.ends, batch.first, path)
            self.schema.with_events().merge(events)
        elif self.kind in ("example", "sequence_example", "ofrecord"):
            total = self.schema.ofrecords if self.kind == "ofrecord" else self.schema.examples
            if self.known is None:
                self.known = HeaderCache("ofrecord" if self.kind == "ofrecord" else "example")
            misfits = add(total, view, batch.begins, batch.ends, batch.first, path, self.known)
            stop_counting(self.known, total)
        else:
            from tfrtool.payload.schema.unknown import summarise_wire

            self.schema.with_unknown().merge(summarise_wire(view, batch.begins, batch.ends, batch.first, path))
        for number, error in misfits:
            damage = self._damage(batch, number, error)
            self.schema.misfits += 1
            self.schema.first_misfit = self.schema.first_misfit or RecordPlace(path, batch.first + number)
            self.read.reclassify_as_damaged(damage)
            yield damage

    def _damage(self, batch: Batch, number: int, error: WireError) -> Damage:
        from tfrtool.framing.damage import Damage

        before, after = self.read.framing
        return Damage(
            batch.base + batch.begins[number] - before,
            batch.base + batch.ends[number] + after,
            "payload",
            batch.first + number,
            detail=f"the payload is no {self.kind}: {error}",
        )


def schema(
    *paths: PathLike,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    n: int | None = None,
) -> Schema:
    """Return the schema of several files together, in their order, from `n` records of each or all.

    Damaged records and payloads that do not parse are skipped: `verify` reports the former, `misfits` counts the
    latter. Raises `OpenError`, `ReadError` or `UnsupportedError` if a file cannot be read, ValueError or TypeError for
    invalid arguments.
    """
    from tfrtool.verbs.options import path_name, refuse_options, whole_number

    refuse_options(format=format, compression=compression)
    if n is not None:
        n = whole_number("n", n, 0)
    total = Schema()
    for path in [path_name("each of the paths", path) for path in paths]:
        for item in schema_file(path, Options(format=format, compression=compression), n):
            if isinstance(item, Schema):
                total.merge(item)
            elif isinstance(item, FileReport) and item.error:
                raise as_error(*item.error, item.suggestion)
    total.cut()
    return total
