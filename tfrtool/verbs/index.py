"""Index files: a line `<offset> <size>` for each record, in bytes, as NVIDIA DALI and the PyPI `tfrecord` read them.

`offset` is where the frame of a record begins and `size` counts the whole frame: header, payload and footer, so 16
more than the payload. Source: `tools/tfrecord2idx` of NVIDIA DALI, `tfrecord/tools/tfrecord2idx.py` of `tfrecord`. Both
of those index torn and damaged records too; here only sound ones have a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

from tfrtool.errors import OpenError, ReadError, UnsupportedError
from tfrtool.framing.layout import FOOTER, HEADER
from tfrtool.framing.walk import Batch
from tfrtool.sources.reasons import reason
from tfrtool.verbs.reading import Reading

LONGEST_LINE = 64
"""Bytes of a line beyond which it is none: two numbers of 64 bits take 41 and a line end."""
_PIECE = 1 << 16
_AT_ONCE = 1 << 10  # lines that are looked at together


class Line(NamedTuple):
    """A line of an index, numbered from 1. What is no line of two numbers has neither, but its `text`."""

    number: int
    offset: int | None
    size: int | None
    text: str


def refuse(read: Reading) -> None:
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

    def peek(self) -> tuple[Line | None, Line | None]:
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

    def _line(self, at: int, more: int) -> Line | None:
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


def _parsed(number: int, raw: bytes) -> Line:
    raw = raw[: LONGEST_LINE + 1]
    fields = raw.split()
    if len(raw) <= LONGEST_LINE and len(fields) == 2 and all(map(bytes.isdigit, fields)):
        return Line(number, int(fields[0]), int(fields[1]), f"{int(fields[0])} {int(fields[1])}")
    return Line(number, None, None, raw[:LONGEST_LINE].decode("utf-8", "backslashreplace").strip())
