"""Index files: a line `<offset> <size>` for each record, in bytes, as NVIDIA DALI and the PyPI `tfrecord` read them.

`offset` is where the frame of a record begins and `size` counts the whole frame: header, payload and footer, so 16
more than the payload. Source: `tools/tfrecord2idx` of NVIDIA DALI, `tfrecord/tools/tfrecord2idx.py` of `tfrecord`. Both
of those index torn and damaged records too; here only sound ones have a line.

Does an index agree with its file: each line of the one is held against the frames of the other.

Finding one record by its number: by the headers before it, or by an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from tfrtool.errors import OpenError, ReadError, TfrtoolError, UnsupportedError
from tfrtool.framing.crc import crc32c, header_is_sound, rotated
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.payload.text import plural
from tfrtool.report import Remedy
from tfrtool.sources.os_text import reason
from tfrtool.verbs.reading.file_reader import FileReader

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage


LONGEST_LINE = 64
"""Bytes of a line beyond which it is none: two numbers of 64 bits take 41 and a line end."""
_PIECE = 1 << 16
_AT_ONCE = 1 << 10  # lines that are looked at together


class IndexLine(NamedTuple):
    """A line of an index, numbered from 1. What is no line of two numbers has neither, but its `text`."""

    number: int
    offset: int | None
    size: int | None
    text: str


def refuse(read: FileReader) -> None:
    """Raise `UnsupportedError` where an index would be of no use to anyone."""
    name, compression = read.source.name, read.source.compression
    if compression != "none":
        raise UnsupportedError(
            f"'{name}' is compressed with {compression}, so no offset in it leads to a record: DALI and tfrecord read "
            "the file as it lies; unpack it first"
        )
    if read.identity.format == "ofrecord":
        raise UnsupportedError(
            f"'{name}' is an OFRecord file, and OneFlow reads no index; those who do, DALI and tfrecord, read TFRecord"
        )


def frames(batch: Batch) -> Iterator[tuple[int, int]]:
    """Offset and size of each frame of a batch of TFRecord framing."""
    if batch.lengths:
        at = batch.begin
        for length in batch.lengths:
            yield at, length + HEADER + FOOTER
            at += length + HEADER + FOOTER
        return
    base = batch.base - HEADER
    for begin, end in zip(batch.begins, batch.ends, strict=True):
        yield base + begin, end - begin + HEADER + FOOTER


def lines_of(batch: Batch) -> bytes:
    """The lines of a batch."""
    return b"".join([b"%d %d\n" % frame for frame in frames(batch)])


class IndexFile:
    """An index that is read from its beginning to its end, whatever stands in it, in bounded memory.

    Raises `OpenError` and `ReadError`.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise OpenError(f"cannot open the index '{path}': {reason(error)}") from error
        self._buffer = b""
        self._at = 0
        self._ended = False
        self.lines = 0
        """Lines that were passed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def passes(self, lines: bytes, count: int) -> bool:
        """Whether exactly these lines come next; then they are passed."""
        self._have(len(lines))
        if not self._buffer.startswith(lines, self._at):
            return False
        self._at += len(lines)
        self.lines += count
        return True

    def peek(self) -> tuple[IndexLine | None, IndexLine | None]:
        """The next line and the one after it."""
        self._have(2 * LONGEST_LINE)
        end = self._end(self._at)
        return self._line(self._at, 1), self._line(end, 2) if end else None

    def skip(self) -> None:
        """Pass the next line, however long it is."""
        while (end := self._end(self._at)) == 0 and not self._ended:
            self._at = len(self._buffer)
            self._have(1)
        self._at = end or len(self._buffer)
        self.lines += 1

    def skip_whole(self, count: int) -> bool:
        """Pass that many lines, or all where there are fewer: do they lead from byte 0 to the line that comes then?

        If so, no frame before that one lacks a line.
        """
        at: int | None = 0
        while count and at is not None:
            self._have(_PIECE)
            end, some = self._at, 0
            while some < min(count, _AT_ONCE) and (stop := self._end(end)):
                end, some = stop, some + 1
            if not some:
                break
            numbers = self._buffer[self._at : end].split()
            self._at, self.lines, count = end, self.lines + some, count - some
            at = _reached(numbers, at) if len(numbers) == 2 * some else None
        if count:
            self.skip_many(count)
            return False
        line, _ = self.peek()
        return line is not None and line.offset == at

    def skip_many(self, count: int) -> None:
        """Pass that many lines, or all where there are fewer, without a look at what they say."""
        while count:
            self._have(1)
            inside = self._buffer.count(b"\n", self._at)
            if inside >= count:
                for _ in range(count):
                    self._at = self._end(self._at)
                self.lines += count
                return
            cut = len(self._buffer) > self._at and not self._buffer.endswith(b"\n")
            self.lines, count, self._at = self.lines + inside, count - inside, len(self._buffer)
            self._have(1)
            if self._at == len(self._buffer):
                self.lines += cut  # the last line has no end
                return

    def _have(self, count: int) -> None:
        """Have `count` bytes from here on, as far as there are as many."""
        while len(self._buffer) - self._at < count and not self._ended:
            try:
                more = self._file.read(_PIECE)
            except OSError as error:
                raise ReadError(f"cannot read the index '{self._path}': {reason(error)}") from error
            self._ended = not more
            self._buffer = self._buffer[self._at :] + (more or b"")
            self._at = 0

    def _end(self, at: int) -> int:
        """Where the line at `at` ends, with its line end; 0 where that is not in the buffer."""
        return self._buffer.find(b"\n", at) + 1

    def _line(self, at: int, more: int) -> IndexLine | None:
        raw = self._buffer[at : self._end(at) or len(self._buffer)]
        if raw.isspace() and self._ended and len(self._buffer) - at <= LONGEST_LINE and self._buffer[at:].isspace():
            return None  # empty lines at the end, which every reader passes over
        return _parsed(self.lines + more, raw) if raw else None


def _reached(numbers: list[bytes], at: int) -> int | None:
    """Where the frames end that these offsets and sizes tell of, the first at `at`; None where they leave a gap."""
    try:
        for offset, size in zip(map(int, numbers[::2]), map(int, numbers[1::2]), strict=True):
            if offset != at:
                return None
            at += size
    except ValueError:
        return None
    return at


def _parsed(number: int, raw: bytes) -> IndexLine:
    raw = raw[: LONGEST_LINE + 1]
    fields = raw.split()
    if len(raw) <= LONGEST_LINE and len(fields) == 2 and all(map(bytes.isdigit, fields)):
        return IndexLine(number, int(fields[0]), int(fields[1]), f"{int(fields[0])} {int(fields[1])}")
    return IndexLine(number, None, None, raw[:LONGEST_LINE].decode("utf-8", "backslashreplace").strip())


TOLD = 20
"""Disagreements that are told one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class IndexFault:
    """A line of an index that does not agree with the file, or that is missing: then the number is where it belongs.

    Lines are numbered from 1. `offset` and `size` are what the line says, in bytes, None where it says no numbers or is
    missing.
    """

    line: int
    offset: int | None
    size: int | None
    message: str


class IndexCheck:
    """Takes in a file in its order, by `batch` and `damage` and last `end`, each of which yields what disagrees.

    A wrong line is told once: lines are matched by their offset, so one that is missing or too many puts no other out
    of step.
    """

    def __init__(self, path: str, unseen: Callable[[int, int, int], Damage | None] | None = None) -> None:
        """`unseen` is asked for the damage of a frame whose payload nobody looked at, by its offset, its size and its
        number; only of frames without a line, since a damaged record has none."""
        self._unseen = unseen
        self._index = IndexFile(path)
        self._line, self._next = self._index.peek()
        self.alien = _why_alien(self._line, self._next)
        """What it is instead of an index, None where it is one."""
        self._passed = -1  # where the last frame began that was held against a line
        self.faults = 0
        """Disagreements so far."""

    @property
    def replaceable(self) -> bool:
        """Whether an index may be advised to be written in its place: it is one, or nothing."""
        return not self.alien or self._line is None

    def batch(self, batch: Batch) -> Iterator[IndexFault | Damage]:
        """Sound frames: each has its line. What turns out to be damaged all the same is yielded, too."""
        if self._index.passes(lines_of(batch), batch.count):
            self._line, self._next = self._index.peek()
            self._passed = batch.end - batch.sizes[-1] - FRAMING
            return
        for number, (offset, size) in enumerate(frames(batch), batch.first):
            line = self._line
            if line is not None and line.offset == offset and line.size == size:
                self._advance()
            elif damage := self._looked_at(number, offset, size):
                yield damage
                yield from self.damage(damage)
                continue
            else:
                yield from self._told(self._frame(number, offset, size))
            self._passed = offset

    def damage(self, damage: Damage) -> Iterator[IndexFault]:
        """A damaged range: no line leads into it."""
        if not self.alien:
            yield from self._told(self._before(damage.end, damage))

    def end(self, size: int) -> Iterator[IndexFault]:
        """The end of the file, which has `size` bytes."""
        if self._line is None or not self.alien:
            yield from self._told(self._rest(size))
        elif not self.faults:
            yield from self._told(iter([IndexFault(1, None, None, self.alien)]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._index.__exit__()

    def _advance(self) -> None:
        self._index.skip()
        self._line, self._next = self._index.peek()

    def _told(self, faults: Iterator[IndexFault]) -> Iterator[IndexFault]:
        for fault in faults:
            self.faults += 1
            if self.faults <= TOLD:
                yield fault

    def _looked_at(self, number: int, offset: int, size: int) -> Damage | None:
        told = self.alien and (self.faults or self._line is not None)
        if self._unseen is None or told or (self._line and self._line.offset == offset):
            return None
        return self._unseen(offset, size, number)

    def _frame(self, number: int, offset: int, size: int) -> Iterator[IndexFault]:
        if self.alien:
            if not self.faults:
                yield IndexFault(1, None, None, self.alien)
            return
        if self._line and self._next and self._next.offset == offset + size and self._line.offset != offset:
            yield _fault(self._line, f"record {number} begins at byte {offset} and takes {size} bytes with its framing")
            self._advance()
            return
        yield from self._before(offset, None)
        while (line := self._line) and line.offset is not None and line.offset > offset and self._out_of_order(line):
            yield _fault(line, "a smaller offset follows, and the lines have to be in the order of the file")
            self._advance()
            yield from self._before(offset, None)
        if line is None or line.offset != offset:
            yield IndexFault(
                self._index.lines + 1, None, None, f"record {number}, {size} bytes at byte {offset}, has no line"
            )
            return
        if line.size != size:
            yield _fault(line, f"the record at byte {offset} takes {size} bytes with its framing")
        self._advance()

    def _out_of_order(self, line: IndexLine) -> bool:
        after = self._next
        return after is not None and after.offset is not None and after.offset <= (line.offset or 0)

    def _before(self, offset: int, damage: Damage | None) -> Iterator[IndexFault]:
        """The lines that come before an offset, none of which is right."""
        while (line := self._line) is not None and (line.offset is None or line.offset < offset):
            if line.offset is None:
                yield _fault(line, "these are not two numbers, an offset and a size")
            elif damage is not None and line.offset >= damage.begin:
                yield _fault(line, f"bytes {damage.begin} to {damage.end} are damaged: {damage.fault}")
            elif line.offset <= self._passed:
                yield _fault(
                    line, f"byte {self._passed} was reached above: each line has to lead farther than the last"
                )
            else:
                yield _fault(line, f"no sound record begins at byte {line.offset}")
            self._advance()

    def _rest(self, size: int) -> Iterator[IndexFault]:
        yield from self._before(size, None)
        while (line := self._line) is not None:
            if line.offset is None:
                yield from self._before(0, None)
                continue
            yield _fault(line, f"the file ends at byte {size}")
            self._advance()


def _why_alien(first: IndexLine | None, second: IndexLine | None) -> str | None:
    if first is None:
        return "the index is empty, and the file holds records"
    if first.offset is not None or (second is not None and second.offset is not None):
        return None
    return f"'{first.text}': the file begins so, and is no index"


def _fault(line: IndexLine, message: str) -> IndexFault:
    said = f"'{line.text}': " if line.offset is None else ""
    return IndexFault(line.number, line.offset, line.size, said + message)


_RECORD_PIECE = 1 << 20
"""Bytes of a payload that are read at once where it is not kept."""


class NoSuchRecord(TfrtoolError):
    """The file has no record of that number."""

    kind = "number"


class StaleIndex(TfrtoolError):
    """The index does not lead to a record."""

    kind = "index"


def by_number(read: FileReader, number: int) -> Iterator[Batch | Damage]:
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


def _proved(read: FileReader, batch: Batch, number: int) -> Batch | Damage:
    """A record of a batch of headers, or its damage: only now its payload is read."""
    offset, size = next(islice(frames(batch), number - batch.first, None))
    found = _frame(read, offset, size, number)
    if not isinstance(found, Batch):
        read.tally.records -= 1
        read.tally.bytes -= size
        read.tally.add(found)
    return found


def _frame(read: FileReader, offset: int, size: int, number: int) -> Batch | Damage:
    """The frame of a sound header that takes these bytes, its payload checked unless it is too large to be held."""
    data, length, begin, end = read.source.data, size - FRAMING, offset + HEADER, offset + size
    if length > MAX_RECORD:
        return Batch(offset, end, number, 1, begin, None, [0], [length])
    view = memoryview(bytearray(length))
    data.read_into(begin, view)
    return _unsound(read, offset, size, number, crc32c(view)) or Batch(
        offset, end, number, 1, begin, view, [0], [length]
    )


def payload_damage(read: FileReader, offset: int, size: int, number: int) -> Damage | None:
    """The damage of the frame of a sound header that takes these bytes; None where its payload is sound.

    Of a payload no more than a piece is held. The source has to be one that can seek.
    """
    crc, at, end = 0, offset + HEADER, offset + size - FOOTER
    piece = memoryview(bytearray(min(end - at, _RECORD_PIECE)))
    while at < end and (got := read.source.data.read_into(at, piece[: end - at])):
        crc, at = crc32c(piece[:got], crc), at + got
    return _unsound(read, offset, size, number, crc)


def _unsound(read: FileReader, offset: int, size: int, number: int, crc: int) -> Damage | None:
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


def by_index(read: FileReader, index: str, number: int) -> Iterator[Batch | str]:
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


def _another(read: FileReader) -> Remedy:
    """How an index of this file is written, under a name that is free: what was taken for one may be anything."""
    return Remedy("stat", read.source.name, (("index", "NEW.idx"),), "write an index of it")


def _sound(read: FileReader, offset: int, size: int, number: int) -> Batch | None:
    # The header and the last byte are looked at first, so that no wrong size is believed and no room taken for it.
    data = read.source.data
    head = memoryview(bytearray(HEADER))
    if data.read_into(offset, head) < HEADER or not header_is_sound(head):
        return None
    if int.from_bytes(head[:8], "little") != size - FRAMING or not data.read_into(offset + size - 1, head[:1]):
        return None
    found = _frame(read, offset, size, number)
    return found if isinstance(found, Batch) else None
