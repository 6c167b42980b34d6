"""Write and check index files: a line `<offset> <size>` for each record, as NVIDIA DALI and `tfrecord` read them.

`offset` is where the frame of a record begins and `size` counts the whole frame: header, payload and footer, so 16
bytes more than the payload. Source: `tools/tfrecord2idx` of NVIDIA DALI, `tfrecord/tools/tfrecord2idx.py` of the PyPI
package `tfrecord`. Both of those list torn and damaged records too; here only intact records have a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.errors import OpenError, ReadError, UnsupportedError
from tfrtool.framing.crc import crc32c, rotated
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER
from tfrtool.framing.walk import Batch
from tfrtool.sources.os_text import reason
from tfrtool.verbs.reading.file_reader import FileReader

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage

LONGEST_LINE = 64
"""Bytes of the longest line that is parsed: two numbers of 64 bits take 41, and a line end."""
_PIECE = 1 << 20
"""Bytes of a payload that are read at once where it is not kept."""
SHOWN = 20
"""Index faults that are reported one by one; the others are counted."""


def refuse_index(read: FileReader) -> None:
    """Raise `UnsupportedError` where no reader could use an index of the file."""
    name, compression = read.source.name, read.source.compression
    if compression != "none":
        raise UnsupportedError(
            f"'{name}' is compressed with {compression}: DALI and tfrecord read by the offsets of an index, which does "
            "not work in compressed data; unpack the file first"
        )
    if read.identity.format == "ofrecord":
        raise UnsupportedError(
            f"'{name}' is an OFRecord file: OneFlow reads no index, and DALI and tfrecord read TFRecord only"
        )


def frames(batch: Batch) -> Iterator[tuple[int, int]]:
    """Yield offset and size of each frame of a batch of TFRecord framing, in bytes."""
    if batch.lengths:
        at = batch.begin
        for length in batch.lengths:
            yield at, length + FRAMING
            at += length + FRAMING
        return
    base = batch.base - HEADER
    for begin, end in zip(batch.begins, batch.ends, strict=True):
        yield base + begin, end - begin + FRAMING


def lines_of(batch: Batch) -> bytes:
    """Return the index lines of a batch."""
    return b"".join([b"%d %d\n" % frame for frame in frames(batch)])


def payload_damage(read: FileReader, offset: int, size: int, number: int) -> Damage | None:
    """Check the payload of a frame whose header is valid; return its damage, or None.

    At most a piece of the payload is held. The source has to be seekable.
    """
    data = read.source.data
    crc, at, end = 0, offset + HEADER, offset + size - FOOTER
    piece = memoryview(bytearray(min(end - at, _PIECE)))
    while at < end and (got := data.read_into(at, piece[: end - at])):
        crc, at = crc32c(piece[:got], crc), at + got
    footer = memoryview(bytearray(FOOTER))
    data.read_into(end, footer)
    want, got = rotated(crc), int.from_bytes(footer, "little")
    if want == got:
        return None
    from tfrtool.framing.damage import unsound_data

    return unsound_data(offset, offset + size, number, want, got)


@dataclass(frozen=True, slots=True)
class IndexFault:
    """A line of an index that does not match the file, or a missing one: then `line` is where it belongs.

    Lines are numbered from 1. `offset` and `size` are what the line says, in bytes; None where it does not say two
    numbers or is missing.
    """

    line: int
    offset: int | None
    size: int | None
    message: str


class _IndexLine(NamedTuple):
    """A line of an index, numbered from 1. One that is not two numbers has neither of them, but its `text`."""

    number: int
    offset: int | None
    size: int | None
    text: str


class IndexCheck:
    """Compares an index with the lines that its file must have.

    Takes the batches of the file in order, then `end`; both yield what differs, the first `SHOWN` faults. Lines are
    matched by offset, so that a missing or an extra line is one fault. Blank lines are skipped, as all readers of an
    index do. Raises `OpenError` and `ReadError`; memory is bounded whatever the index holds.
    """

    def __init__(self, path: str, hidden_damage: Callable[[int, int, int], Damage | None] | None = None) -> None:
        """Open the index.

        `hidden_damage` is called with offset, size and number of each record that has no line, where only headers are
        read: a record whose payload is damaged needs none.
        """
        self._path = path
        self._hidden_damage = hidden_damage
        try:
            self._file = open(path, "rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise OpenError(f"cannot open the index '{path}': {reason(error)}") from error
        self._number = 0
        self._line = self._next()
        self._not_an_index = self._line if self._line and self._line.offset is None else None
        self.faults = 0
        """Faults so far."""

    @property
    def replaceable(self) -> bool:
        """Whether the file is an index, or empty, so that writing a new one in its place loses nothing."""
        return self._not_an_index is None

    def batch(self, batch: Batch) -> Iterator[IndexFault | Damage]:
        """Compare the lines of intact frames. Damage that `hidden_damage` finds is yielded too."""
        if self._not_an_index:
            return
        for number, (offset, size) in enumerate(frames(batch), batch.first):
            line = self._line
            if line is not None and line.offset == offset and line.size == size:
                self._line = self._next()
                continue
            yield from self._lines_before(offset)
            line = self._line
            if line is None or line.offset != offset:
                damage = self._hidden_damage and self._hidden_damage(offset, size, number)
                missing = f"record {number} (offset {offset}, size {size}) has no line"
                yield from [damage] if damage else self._fault(self._number + (line is None), missing)
                continue
            if line.size != size:
                yield from self._fault(line.number, f"the record at byte {offset} has size {size}", line)
            self._line = self._next()

    def end(self) -> Iterator[IndexFault]:
        """Compare what is left of the index with the end of the file."""
        if self._not_an_index:
            yield from self._fault(1, f"'{self._not_an_index.text}' is not an offset and a size: this is not an index")
        else:
            yield from self._lines_before(None)

    def close(self) -> None:
        """Close the index."""
        self._file.close()

    def _lines_before(self, offset: int | None) -> Iterator[IndexFault]:
        """Report the lines up to the one that may be that of a frame at `offset`, or all lines for None."""
        while (line := self._line) is not None and (line.offset is None or offset is None or line.offset < offset):
            what = f"no intact record begins at byte {line.offset}"
            if line.offset is None:
                what = f"'{line.text}' is not an offset and a size"
            yield from self._fault(line.number, what, line)
            self._line = self._next()

    def _fault(self, number: int, message: str, line: _IndexLine | None = None) -> Iterator[IndexFault]:
        self.faults += 1
        if self.faults <= SHOWN:
            yield IndexFault(number, line and line.offset, line and line.size, message)

    def _next(self) -> _IndexLine | None:
        while raw := self._read_line():
            self._number += 1
            whole = rest = raw
            while not rest.endswith(b"\n") and (rest := self._read_line()):
                whole = b""
            fields = raw.split()
            if whole and not fields:
                continue
            if whole and len(fields) == 2 and all(map(bytes.isdigit, fields)):
                return _IndexLine(self._number, int(fields[0]), int(fields[1]), "")
            return _IndexLine(self._number, None, None, raw.decode("utf-8", "backslashreplace").strip())
        return None

    def _read_line(self) -> bytes:
        """Return the next line with its end, or as much of it as is parsed."""
        try:
            return self._file.readline(LONGEST_LINE)
        except OSError as error:
            raise ReadError(f"cannot read the index '{self._path}': {reason(error)}") from error
