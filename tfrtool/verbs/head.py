"""Read the first records whole, or one record by its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.errors import DamageError, TfrtoolError, as_error
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.stream import CAPACITY
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.payload.kinds import kind_of
from tfrtool.payload.text import plural
from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.features.view import Features
    from tfrtool.types import Kind


@dataclass
class Record:
    """An intact record: its number in the file, the offset of its frame in the decoded stream, its payload and kind.

    `size` is that of the payload, in bytes. `payload` is None where it is too large to be held in memory; a large one
    is a view that is valid until the next item is requested.
    """

    index: int
    offset: int
    size: int
    kind: Kind | None
    payload: bytes | memoryview | None

    def features(self) -> Features | None:
        """Return the features, feature lists or, of an event, tags: names, kinds, counts, and values on request.

        None where the record is of no known kind, or too large to be held.
        """
        from tfrtool.payload.features.read import read_features
        from tfrtool.payload.wire.reader import WireError

        if self.payload is None or self.kind == "unknown":
            return None
        try:
            return read_features(self.payload, self.kind or "example")
        except WireError:
            return None


def head_file(name: str, options: Options, n: int = 5, skip: int = 0) -> Iterator[Record | Damage | FileReport]:
    """Yield `n` intact records after the first `skip`, the damage between them, then the report of what was read."""
    yield from read_file(name, options, lambda read: _head(read, n, skip))


def _head(read: FileReader, n: int, skip: int) -> Iterator[Record | Damage | FileReport]:
    last = skip + n
    shown = 0
    if n > 0:
        for event in read.events(payloads=True):
            if not isinstance(event, Batch):
                yield event
                continue
            for i in range(max(0, skip - shown), min(event.count, last - shown)):
                yield _record(event, i, read)
            shown += event.count
            if shown >= last:
                break
    report = read.report()
    if skip > 0 and shown <= skip and n > 0 and report.status == "clean" and not report.hint:
        report.hint = f"it holds {shown:,} record{'' if shown == 1 else 's'}, none after the first {skip:,}"
    report.unread = report.unread or shown > last  # however much was read at once
    report.records = min(shown, last)
    yield report


def record_file(name: str, options: Options, number: int) -> Iterator[Record | Damage | FileReport]:
    """Yield one record by its number in the file, or its damage; then the report of what was read.

    Numbers count from 0 and include damaged records, as in `verify`; damage before the record is yielded too. Of the
    records before it only headers are read, where that is possible. A number beyond the last record is a report of
    status `error`. `records` of the report is 1 where the record is intact, else 0. `unread` is true unless every byte
    of the file was checked: `status` is that of what was.
    """
    yield from read_file(name, options, lambda read: _numbered(read, number))


def _numbered(read: FileReader, number: int) -> Iterator[Record | Damage | FileReport]:
    kind, shown, end = None, 0, 0
    try:
        for event in _find(read, number):
            if isinstance(event, Batch):
                record = _record(event, 0, read)
                kind, shown, end = record.kind, 1, record.offset + sum(read.framing) + record.size
                yield record
            else:
                yield event
    except _NoSuchRecord as error:  # not one that counts what was read before it, which is all of the file
        report = read.counts()
        report.status, report.message, report.error = "error", error.facts, (error.kind, error.facts)
    else:
        report = read.report()
        skipped = number > 0 and report.format == "tfrecord"  # payloads before the record
        report.unread = report.unread or skipped or 0 < end < read.tally.bytes + read.tally.damaged_bytes
    report.records = shown
    report.kind = report.kind or kind
    yield report


class _NoSuchRecord(TfrtoolError):
    """The file has no record of that number."""

    kind = "number"


def _find(read: FileReader, number: int) -> Iterator[Batch | Damage]:
    """Yield the damage before a record, then the record as a batch of one; or its own damage as the last.

    Raises `_NoSuchRecord` where the file holds other records or none, but not where it holds damage alone.
    """
    headers = read.identity.format == "tfrecord"
    holds = 0
    for event in read.events(payloads=not headers, headers_only=headers, lengths=headers):
        if isinstance(event, Batch):
            holds = event.first + event.count
            if number < holds:
                yield _payload_read(read, event, number) if headers else _one(event, number - event.first)
                return
            continue
        yield event
        if event.record is not None:
            holds = event.record + max(event.recovery.records if event.recovery else 1, 1)
            if number < holds:
                return
    if holds or not read.tally.faults:
        records = plural(holds, "record")
        raise _NoSuchRecord(f"'{read.source.name}' has no record {number}: it holds {records}, numbered from 0")


def _payload_read(read: FileReader, batch: Batch, number: int) -> Batch | Damage:
    """Return a record of a batch of headers with its payload, or its damage. A huge payload is left unread."""
    from tfrtool.verbs.index import frames, payload_damage

    offset, size = next(islice(frames(batch), number - batch.first, None))
    length, begin, view = size - FRAMING, offset + HEADER, None
    if length <= MAX_RECORD:
        damage = payload_damage(read, offset, size, number)
        if damage:
            read.reclassify_as_damaged(damage)
            return damage
        view = memoryview(bytearray(length))
        read.source.data.read_into(begin, view)
    return Batch(offset, offset + size, number, 1, begin, view, [0], [length])


def _one(batch: Batch, i: int) -> Batch:
    begin, end = batch.begins[i], batch.ends[i]
    return batch.replaced(first=batch.first + i, count=1, begins=[begin], ends=[end], lengths=())


def _record(batch: Batch, i: int, read: FileReader) -> Record:
    begin, end = batch.begins[i], batch.ends[i]
    payload: bytes | memoryview | None = None
    if batch.view is not None:
        payload = batch.view[begin:end]
        if len(payload) <= CAPACITY:  # copying a larger one would take longer than reading it
            payload = bytes(payload)
    kind = None if payload is None else kind_of(payload)
    if kind is None and payload is not None and read.kind in ("example", "sequence_example"):
        kind = read.kind  # one without features is what the others are
    return Record(batch.first + i, batch.base + begin - read.framing[0], end - begin, kind, payload)


def head(
    path: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    n: int = 5,
    skip: int = 0,
    record: int | None = None,
) -> Iterator[Record]:
    """Yield the first `n` intact records after `skip` others, or the one of number `record`.

    Numbers count from 0 and include damaged records, which are skipped: `verify` reports them. Raises `DamageError`
    where the record of that number is damaged, or the file is not a record file; `TfrtoolError` where there is no such
    record; what `walk` raises where the file cannot be read; ValueError or TypeError at once for invalid arguments.
    """
    from tfrtool.verbs.options import path_name, refuse_options, whole_number

    refuse_options(format=format, compression=compression)
    n, skip = whole_number("n", n, 0), whole_number("skip", skip, 0)
    if record is not None:
        record = whole_number("record", record, 0)
        if skip:
            raise ValueError("record is one record: leave out skip")
    name, options = path_name("path", path), Options(format=format, compression=compression)
    return _given(head_file(name, options, n, skip) if record is None else record_file(name, options, record), record)


def _given(found: Iterator[Record | Damage | FileReport], number: int | None) -> Iterator[Record]:
    damage: Damage | None = None
    for item in found:
        if isinstance(item, Record):
            number = None
            yield replace(item, payload=bytes(item.payload)) if isinstance(item.payload, memoryview) else item
        elif not isinstance(item, FileReport):
            damage = item
        elif item.error:
            raise as_error(*item.error, item.suggestion)
        elif item.status == "foreign":
            raise DamageError(f"{item.path}: {item.message or 'not a record file'}", item.path)
        elif number is not None:
            said = f"{damage.fault} at [{damage.begin}, {damage.end}): {damage.message}" if damage else item.message
            raise DamageError(f"{item.path}: record {number} is damaged: {said}", item.path, damage)
