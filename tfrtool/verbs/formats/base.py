"""The seam at which formats are added to `convert`: what a writer of outputs is, and a reader of rows.

A writer is made of a binary stream and a `Layout`. The stream is a hidden file that takes its name with all others of
its run; a writer never names or closes it. `formats_registry` has all of them by the name of their format.
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
"""The formats of rows, which are read and written."""
SUFFIXES: dict[Target, str] = {
    "tfrecord": ".tfrecord",
    "ofrecord": ".ofrecord",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
}
"""What outputs are called that are named after their inputs."""
Pieces = Sequence[bytes | memoryview]


class Lines(Protocol):
    """What is known of the rows of all outputs together, as far as these ask for it; see `RowPlan`."""

    target: Target | None
    number: int

    def measure(self, pieces: Pieces, kind: Kind) -> int:
        """The bytes that a record will take as a line."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How outputs are written. `level` is that of gzip and zlib; `rows` is for formats of rows; `hollow`: OFRecords may
    be of no bytes."""

    compression: Compression = "none"
    level: int = 6
    rows: Lines | None = None
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


class Rows(Protocol):
    """The rows of one input, to be read once: the number of each, and its payload."""

    @property
    def message(self) -> Message | None:
        """What the payloads are."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """What it cannot do it raises as a `TfrtoolError` that names the place."""
