"""Where the records of a conversion go: outputs one after another, published together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, BinaryIO

from tfrtool.framing.layout import FRAMING, HEADER, OFRECORD_HEADER
from tfrtool.framing.walk import Batch
from tfrtool.report import Kind
from tfrtool.sources.sink_set import OutputSet
from tfrtool.verbs.convert_shards import Cuts
from tfrtool.verbs.salvage import copied
from tfrtool.verbs.targets import WRITERS, FrameWriter, Layout, Pieces, Target, Writer

if TYPE_CHECKING:
    from tfrtool.verbs.reading import Reading


class Counting:
    """A sink that counts, for the pass before one that must know how many records there are."""

    def __init__(self) -> None:
        self.records = 0

    def frames(self, reading: Reading, batch: Batch, first: int, behind: int) -> None:
        self.records += behind - first

    def record(self, pieces: Pieces, kind: Kind) -> None:
        self.records += 1

    def settle(self) -> None:
        pass


class Outputs:
    """A sink that writes outputs, each by a writer of its own; `starts` has the first record of each, by its number."""

    def __init__(self, files: OutputSet, target: Target, layout: Layout, cuts: Cuts) -> None:
        self.files = files
        self.cuts = cuts
        self.starts: list[int] = []
        self._make = WRITERS[target]
        self._layout = layout
        self._writer: Writer | None = None
        self._before, self._after = (OFRECORD_HEADER, 0) if target == "ofrecord" else (HEADER, FRAMING - HEADER)

    def next(self) -> Writer:
        """Open the next output."""
        self.finish()
        out: BinaryIO = self.files.open()
        self._writer = self._make(out, self._layout)
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
        """No more goes into the output that is open."""
        if self._writer is not None:
            self._writer.finish()
            self._writer = None

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

    def record(self, pieces: Pieces, kind: Kind) -> None:
        writer = self._writer
        if writer is None or self.cuts.full or not self.cuts.fits(sum(map(len, pieces)) + self._before + self._after):
            writer = self.next()
        self.cuts.took(1, writer.write(pieces, kind))

    def settle(self) -> None:
        if self._writer is not None:
            self._writer.settle()
