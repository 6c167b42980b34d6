"""Writers of payloads into one open output each: the seam at which output formats are added.

A format is an entry of `WRITERS`: a function that takes a binary stream and a `Layout`, and gives a `Writer`. The
stream is a hidden file that takes its name with all others of its run; a writer never names or closes it. Inputs that
are no record files are entries of `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from struct import pack
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from tfrtool.framing.crc import crc32c, rotated
from tfrtool.framing.encode import header
from tfrtool.report import Compression, Kind
from tfrtool.verbs.writer import packer

if TYPE_CHECKING:
    from tfrtool.payload.mapping_rules import Losses
    from tfrtool.payload.rows_row import Message
    from tfrtool.sources import Source
    from tfrtool.verbs.convert_rows import RowPlan

Target = Literal["tfrecord", "ofrecord", "jsonl", "parquet"]
ROWS = ("jsonl", "parquet")
"""The formats of rows."""
Pieces = Sequence[bytes | memoryview]

_HELD = 1 << 18
"""Bytes that are gathered before they are written: as much as a batch of small records."""
_KNOWN_MOST = 1 << 12


@dataclass(frozen=True, slots=True)
class Layout:
    """How outputs are written. `level` is that of gzip and zlib; `rows` is for formats of rows; `hollow`: OFRecords may
    be of no bytes."""

    compression: Compression = "none"
    level: int = 6
    rows: RowPlan | None = None
    hollow: bool = False


class Writer(Protocol):
    """Takes the records of one output file, in order."""

    def write(self, pieces: Pieces, kind: Kind) -> int:
        """Append the record whose payload is the pieces one after another, of that kind; its size, about, in bytes.

        The pieces are good until the next `settle`. Raises `Refused` (payload.mapping_rules) for what cannot be held.
        """

    def settle(self) -> None:
        """The views that were given are about to change: write or copy what is still held."""

    def finish(self) -> None:
        """Write what belongs at the end. Nothing is written after it."""


class FrameWriter:
    """Frames of TFRecord or OFRecord, compressed or not; gzip is one member, all that TensorFlow up to 2.4 reads."""

    def __init__(
        self,
        out: BinaryIO,
        layout: Layout,
        framed: Callable[[Pieces], list[bytes | memoryview]],
        framed_all: Callable[[list[bytes]], Iterable[bytes]],
    ) -> None:
        """`framed` gives the parts of one frame, `framed_all` those of many."""
        self._write = out.write
        self._framed = framed
        self._framed_all = framed_all
        self._parts: list[bytes | memoryview] = []
        self._held = 0
        self._deflate = packer(layout.compression, layout.level)

    def write(self, pieces: Pieces, kind: Kind) -> int:
        parts = self._framed(pieces)
        size = sum(map(len, parts))
        self._parts += parts
        self._held += size
        if self._held >= _HELD:
            self.settle()
        return size

    def write_all(self, payloads: list[bytes]) -> int:
        """Append records whose payloads are in one piece each; their size, framing included."""
        self.settle()
        data = b"".join(self._framed_all(payloads))
        self._put(data)
        return len(data)

    def raw(self, data: bytes | memoryview) -> None:
        """Append whole frames as they are."""
        self.settle()
        self._put(data)

    def _put(self, data: bytes | memoryview) -> None:
        self._write(data if self._deflate is None else self._deflate.compress(data))

    def settle(self) -> None:
        if self._parts:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts.clear()
            self._held = 0
            self._put(data)

    def finish(self) -> None:
        self.settle()
        if self._deflate is not None:
            self._write(self._deflate.flush())


def tfrecord_writer(out: BinaryIO, layout: Layout) -> FrameWriter:
    """Writes TFRecord frames."""
    known: dict[int, bytes] = {}

    def framed(pieces: Pieces) -> list[bytes | memoryview]:
        length = crc = 0
        for piece in pieces:
            length += len(piece)
            crc = crc32c(piece, crc)
        return [known.get(length) or head(length), *pieces, pack("<I", rotated(crc))]

    def head(length: int) -> bytes:
        if len(known) >= _KNOWN_MOST:
            known.clear()
        known[length] = header(length)
        return known[length]

    def framed_all(payloads: list[bytes]) -> Iterator[bytes]:
        for payload in payloads:
            length = len(payload)
            yield known.get(length) or head(length)
            yield payload
            yield pack("<I", rotated(crc32c(payload)))

    return FrameWriter(out, layout, framed, framed_all)


def ofrecord_writer(out: BinaryIO, layout: Layout) -> FrameWriter:
    """Writes OFRecord frames."""

    def framed(pieces: Pieces) -> list[bytes | memoryview]:
        return [pack("<q", sum(map(len, pieces))), *pieces]

    def framed_all(payloads: list[bytes]) -> Iterator[bytes]:
        return chain.from_iterable(zip(map(partial(pack, "<q"), map(len, payloads)), payloads, strict=True))

    return FrameWriter(out, layout, framed, framed_all)


def _jsonl_writer(out: BinaryIO, layout: Layout) -> Writer:
    from tfrtool.verbs.convert_row_out import JsonlOut

    return JsonlOut(out, layout)


def _parquet_writer(out: BinaryIO, layout: Layout) -> Writer:
    from tfrtool.verbs.convert_row_out import ParquetOut

    return ParquetOut(out, layout)


WRITERS: dict[Target, Callable[[BinaryIO, Layout], Writer]] = {
    "tfrecord": tfrecord_writer,
    "ofrecord": ofrecord_writer,
    "jsonl": _jsonl_writer,
    "parquet": _parquet_writer,
}
SUFFIXES: dict[Target, str] = {
    "tfrecord": ".tfrecord",
    "ofrecord": ".ofrecord",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
}
"""What outputs are called that are named after their inputs."""


class Rows(Protocol):
    """The rows of one input, to be read once: the number of each, and its payload."""

    @property
    def message(self) -> Message | None:
        """What the payloads are."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """What it cannot do it raises as a `TfrtoolError` that names the place."""


RowReader = Callable[["Source", "RowPlan", Callable[[int], None] | None, "Losses"], Rows]
"""Takes an open input, what is known of the rows of this conversion, whom to tell of bytes that were read, and where to
count what did not come through."""


def _jsonl_rows(source: Source, plan: RowPlan, progress: Callable[[int], None] | None, losses: Losses) -> Rows:
    from tfrtool.verbs.convert_row_in import jsonl_rows

    return jsonl_rows(source, plan, progress, losses)


def _parquet_rows(source: Source, plan: RowPlan, progress: Callable[[int], None] | None, losses: Losses) -> Rows:
    from tfrtool.verbs.convert_row_in import parquet_rows

    return parquet_rows(source, plan, progress, losses)


READERS: dict[str, RowReader] = {"jsonl": _jsonl_rows, "parquet": _parquet_rows}
"""Inputs that are no record files, by the name of their format."""
