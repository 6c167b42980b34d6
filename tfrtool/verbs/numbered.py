"""Finding one record by its number: by the headers before it, or by an index."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.errors import TfrtoolError
from tfrtool.framing.crc import crc32c, header_is_sound, rotated
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.payload.values import plural
from tfrtool.report import Remedy
from tfrtool.verbs.index import IndexFile, frames, refuse
from tfrtool.verbs.reading import Reading

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage

_PIECE = 1 << 20
"""Bytes of a payload that are read at once where it is not kept."""


class NoSuchRecord(TfrtoolError):
    """The file has no record of that number."""

    kind = "number"


class StaleIndex(TfrtoolError):
    """The index does not lead to a record."""

    kind = "index"


def by_number(read: Reading, number: int) -> Iterator[Batch | Damage]:
    """The damage before the record of that number, then the record as a batch of one; or its own damage as the last.

    Raises `NoSuchRecord` where the file holds no record of that number, and some others or none.
    """
    headers = read.identity.format == "tfrecord"
    there = 0
    for event in read.events(payloads=not headers, headers_only=headers, lengths=headers):
        if isinstance(event, Batch):
            there = event.first + event.count
            if number < there:
                yield _proved(read, event, number) if headers else _one(event, number - event.first)
                return
            continue
        yield event
        if event.record is not None:
            there = event.record + max(event.rescue.records if event.rescue else 1, 1)
            if number < there:
                return
    if there or not read.tally.faults:
        holds = plural(there, "record")
        raise NoSuchRecord(f"'{read.source.name}' has no record {number}: it holds {holds}, numbered from 0")


def _proved(read: Reading, batch: Batch, number: int) -> Batch | Damage:
    """A record of a batch of headers, or its damage: only now its payload is read."""
    offset, size = next(islice(frames(batch), number - batch.first, None))
    found = _frame(read, offset, size, number)
    if not isinstance(found, Batch):
        read.tally.records -= 1
        read.tally.bytes -= size
        read.tally.add(found)
    return found


def _frame(read: Reading, offset: int, size: int, number: int) -> Batch | Damage:
    """The frame of a sound header that takes these bytes, its payload checked unless it is too large to be held."""
    data, length, begin, end = read.source.data, size - FRAMING, offset + HEADER, offset + size
    if length > MAX_RECORD:
        return Batch(offset, end, number, 1, begin, None, [0], [length])
    view = memoryview(bytearray(length))
    data.read_into(begin, view)
    return _unsound(read, offset, size, number, crc32c(view)) or Batch(
        offset, end, number, 1, begin, view, [0], [length]
    )


def payload_damage(read: Reading, offset: int, size: int, number: int) -> Damage | None:
    """The damage of the frame of a sound header that takes these bytes; None where its payload is sound.

    Of a payload no more than a piece is held. The source has to be one that can seek.
    """
    crc, at, end = 0, offset + HEADER, offset + size - FOOTER
    piece = memoryview(bytearray(min(end - at, _PIECE)))
    while at < end and (got := read.source.data.read_into(at, piece[: end - at])):
        crc, at = crc32c(piece[:got], crc), at + got
    return _unsound(read, offset, size, number, crc)


def _unsound(read: Reading, offset: int, size: int, number: int, crc: int) -> Damage | None:
    footer = memoryview(bytearray(FOOTER))
    read.source.data.read_into(offset + size - FOOTER, footer)
    want, got = rotated(crc), int.from_bytes(footer, "little")
    if want == got:
        return None
    from tfrtool.framing.damage import unsound_data

    return unsound_data(offset, offset + size, number, want, got)


def _one(batch: Batch, i: int) -> Batch:
    begin, end = batch.begins[i], batch.ends[i]
    return batch.replaced(first=batch.first + i, count=1, begins=[begin], ends=[end], lengths=())


def by_index(read: Reading, index: str, number: int) -> Iterator[Batch | str]:
    """The record that a line of an index leads to, as a batch of one; lines are counted from 0 here, as records are.

    Damaged records have a number, and no line in an index. Where some come before, a sentence that says so is yielded
    first.

    Raises `NoSuchRecord` where the index has no such line, `StaleIndex` where the line does not lead to a sound record.
    """
    refuse(read)
    with IndexFile(index) as lines:
        first, _ = lines.peek()
        whole = lines.skip_whole(number)
        line, _ = lines.peek()
    if line is None and first is not None and first.offset is None:
        facts = f"'{index}' is no index: its line 1 is '{first.text}', which are not two numbers, an offset and a size"
        raise StaleIndex(facts, _another(read))
    if line is None:
        has = plural(lines.lines, "line")
        raise NoSuchRecord(f"the index '{index}' has no record {number}: it has {has}, numbered from 0")
    said = f"line {line.number} of the index '{index}'"
    if line.offset is None or line.size is None:
        raise StaleIndex(f"{said} is '{line.text}', which are not two numbers, an offset and a size", _another(read))
    found = _sound(read, line.offset, line.size, number)
    if found is None:
        raise StaleIndex(
            f"{said} says {line.offset} {line.size}, and no sound record of that size stands there: the file was "
            f"changed, or the index is one of another file",
            _another(read),
        )
    read.tally.records, read.tally.bytes = 1, found.end
    if not whole:
        yield (
            f"{number} counts the lines of the index '{index}', which leaves out bytes of the file before this record; "
            "where those are damaged records, they count too if no index is used"
        )
    yield found


def _another(read: Reading) -> Remedy:
    """How an index of this file is written, under a name that is free: what was taken for one may be anything."""
    return Remedy("stat", read.source.name, (("index", "NEW.idx"),), "write an index of it")


def _sound(read: Reading, offset: int, size: int, number: int) -> Batch | None:
    # The header and the last byte are looked at first, so that no wrong size is believed and no room taken for it.
    data = read.source.data
    head = memoryview(bytearray(HEADER))
    if data.read_into(offset, head) < HEADER or not header_is_sound(head):
        return None
    if int.from_bytes(head[:8], "little") != size - FRAMING or not data.read_into(offset + size - 1, head[:1]):
        return None
    found = _frame(read, offset, size, number)
    return found if isinstance(found, Batch) else None
