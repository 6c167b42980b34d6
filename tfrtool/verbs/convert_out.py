"""Where the records of a conversion go: outputs one after another, published together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, BinaryIO, cast

from tfrtool.framing.layout import AROUND
from tfrtool.framing.walk import Batch
from tfrtool.report import Kind
from tfrtool.sources.sink_set import OutputSet
from tfrtool.verbs.convert_check import ReadBack
from tfrtool.verbs.convert_shards import Cuts
from tfrtool.verbs.formats_base import Layout, Pieces, Target, Writer
from tfrtool.verbs.formats_registry import WRITERS
from tfrtool.verbs.salvage import copied
from tfrtool.verbs.targets import FrameWriter

if TYPE_CHECKING:
    from tfrtool.verbs.reading import Reading


class Counting:
    """A sink that counts, for the pass before one that must know how many records there are."""

    takes_many = True

    def __init__(self) -> None:
        self.count = 0
        self.path = ""

    def frames(self, reading: Reading, batch: Batch, first: int, behind: int) -> None:
        self.count += behind - first

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        self.count += 1

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        self.count += len(payloads)

    def settle(self) -> None:
        pass


class Outputs:
    """A sink that writes outputs, each by a writer of its own; `starts` has the first record of each, by its number."""

    def __init__(self, files: OutputSet | Nowhere, target: Target, layout: Layout, cuts: Cuts) -> None:
        self.files = files
        self.cuts = cuts
        self.starts: list[int] = []
        self.target = target
        self._make = WRITERS[target]
        self.compression = layout.compression
        self._layout = layout
        self._writer: Writer | None = None
        self._back: ReadBack | None = None
        self.takes_many = target in ("tfrecord", "ofrecord")
        self._before, self._after = AROUND["ofrecord" if target == "ofrecord" else "tfrecord"]

    def next(self) -> Writer:
        """Open the next output."""
        self.finish()
        self._back = ReadBack(self.files.open(), self.target, self._layout)
        self._writer = self._make(self._back.stream, self._layout)
        self.starts.append(self.cuts.total)
        self.cuts.open()
        return self._writer

    @property
    def opened(self) -> int:
        """How many outputs were opened."""
        return len(self.starts)

    def holding(self, first: int, behind: int) -> tuple[int, int]:
        """Which outputs hold records `[first, behind)`: `[begin, end)` of them."""
        if first == behind:
            return 0, 0
        return bisect_right(self.starts, first) - 1, bisect_left(self.starts, behind)

    def finish(self) -> None:
        """No more goes into the output that is open, which is read back while the system still holds it in memory.

        Raises WriteError where that is not what was written.
        """
        if self._writer is not None and self._back is not None:
            self._writer.finish()
            self._writer = None
            hidden = self.files.finish()
            if hidden is not None:
                self._back.check(hidden, self.cuts.total - self.starts[-1])

    def frames(self, reading: Reading, batch: Batch, first: int, behind: int) -> None:
        view, before, after = batch.view, self._before, self._after
        ends = [end + after for end in batch.ends]
        while first < behind:
            begin = batch.begins[first] - before
            writer = self._writer
            if writer is None or self.cuts.full or not self.cuts.fits(ends[first] - begin):
                writer = self.next()
            count = min(self.cuts.room(ends, begin, first), behind - first)
            stop = ends[first + count - 1]
            assert isinstance(writer, FrameWriter)
            if view is not None and begin >= 0 and stop <= len(view):
                writer.raw(view[begin:stop])
            else:
                for piece in copied(reading.source.data, ((batch.base + begin, batch.base + stop),)):
                    writer.raw(piece)
            self.cuts.took(count, stop - begin)
            first += count

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        writer, rows = self._writer, self._layout.rows
        size = sum(map(len, pieces)) + self._before + self._after
        if rows is not None:
            rows.number = number
            if self.cuts.by_size and rows.target == "jsonl":
                size = rows.measure(pieces, kind)
        if writer is None or self.cuts.full or not self.cuts.fits(size):
            writer = self.next()
        self.cuts.took(1, writer.write(pieces, kind))

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        if self.cuts.by_size:
            for payload in payloads:
                self.record((payload,), kind, 0)
            return
        at = 0
        while at < len(payloads):
            writer = self._writer
            if writer is None or self.cuts.full:
                writer = self.next()
            assert isinstance(writer, FrameWriter)
            count = min(self.cuts.left, len(payloads) - at)
            self.cuts.took(count, writer.write_all(payloads[at : at + count]))
            at += count

    def settle(self) -> None:
        if self._writer is not None:
            self._writer.settle()


class Nowhere:
    """A set of outputs of which nothing is kept: a dry run tries everything all the same."""

    closed = False

    def open(self) -> BinaryIO:
        """The next output."""
        return cast(BinaryIO, self)

    def finish(self) -> None:
        """There is nothing to be read back."""

    def write(self, data: bytes) -> int:
        """As a stream does."""
        return len(data)
