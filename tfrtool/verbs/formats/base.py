"""Define the interface of output and row formats of `convert`: writers of outputs, and readers of rows.

A writer gets a binary stream and a `Layout`. The stream is a temporary file that is renamed together with all outputs
of the run; a writer never names or closes it. `registry` lists all formats by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from tfrtool.types import Compression, Kind

if TYPE_CHECKING:
    from tfrtool.payload.rows.row import Message

Target = Literal["tfrecord", "ofrecord", "jsonl", "parquet"]
ROWS = ("jsonl", "parquet")
"""Formats of rows, which can be read and written."""
SUFFIXES: dict[Target, str] = {
    "tfrecord": ".tfrecord",
    "ofrecord": ".ofrecord",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
}
"""Suffixes of outputs that are named after their inputs."""
Pieces = Sequence[bytes | memoryview]


class Lines(Protocol):
    """What the writers of rows need to know of all outputs together; see `RowPlan`."""

    target: Target | None
    number: int

    def measure(self, pieces: Pieces, kind: Kind) -> int:
        """Return the size of a record as a line, in bytes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How outputs are written. `level` is the compression level of gzip and zlib; `rows` is for formats of rows;
    `allow_empty`: OFRecord files may have 0 bytes."""

    compression: Compression = "none"
    level: int = 6
    rows: Lines | None = None
    allow_empty: bool = False


class Writer(Protocol):
    """Write the records of one output file, in order."""

    def write(self, pieces: Pieces, kind: Kind) -> int:
        """Append a record of a kind, whose payload is the concatenation of the pieces; return its approximate size in
        bytes.

        The pieces are valid until the next `release_views`. Raises `Refused` (payload.mapping.rules) if the format
        cannot represent the record.
        """

    def release_views(self) -> None:
        """Write or copy all data that is still held as views, which are about to change."""

    def finish(self) -> None:
        """Write the end of the file. Nothing may be written after it."""


class Rows(Protocol):
    """Iterate once over the rows of one input: the number and the payload of each."""

    @property
    def message(self) -> Message | None:
        """The message type of the payloads."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield rows; errors are raised as a `TfrtoolError` that names the place."""
