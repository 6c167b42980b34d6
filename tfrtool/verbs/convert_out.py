"""Where the records of a conversion go: outputs one after another, published together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, cast

from tfrtool.errors import WriteError
from tfrtool.framing.layout import AROUND
from tfrtool.framing.walk import Batch
from tfrtool.report import Compression, Format, Kind
from tfrtool.sources.sink_set import OutputSet
from tfrtool.verbs.convert_shards import Cuts
from tfrtool.verbs.options import Options
from tfrtool.verbs.salvage import copied
from tfrtool.verbs.targets import WRITERS, FrameWriter, Layout, Pieces, Target, Writer

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
        self._make = WRITERS[target]
        self.compression = layout.compression
        self._layout = layout
        self._writer: Writer | None = None
        self.takes_many = target in ("tfrecord", "ofrecord")
        self._before, self._after = AROUND["ofrecord" if target == "ofrecord" else "tfrecord"]

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

    def counts(self) -> list[int]:
        """How many records are in each output."""
        return [behind - first for first, behind in pairwise([*self.starts, self.cuts.total])]

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


def read_back(files: Sequence[str], counts: Sequence[int], target: Target, compression: Compression) -> None:
    """Raise WriteError unless each file holds so many records: by headers, by line ends, by the footer of Parquet.

    That is what a full disk or a network file system can spoil without a word; payloads were checked on their way.
    """
    for name, count in zip(files, counts, strict=True):
        if target == "parquet":
            from tfrtool.verbs.parquet import check_parquet

            check_parquet(name, count)
            continue
        status, records = _lines(name, compression) if target == "jsonl" else _frames(name, target, compression)
        if status != "clean" or records != count:
            raise WriteError(
                f"an output did not read back as written ({status}, {records:,} of {count:,} records): "
                "nothing was published; the disk or the memory of this machine may be at fault"
            )


def _frames(name: str, target: Format, compression: Compression) -> tuple[str, int]:
    from tfrtool.verbs.count import count_file

    found = count_file(name, Options(format=target, compression=compression))
    return found.status, found.records


def _lines(name: str, compression: Compression) -> tuple[str, int]:
    from tfrtool.sources import open_source
    from tfrtool.sources.stream import whole

    with open_source(name, compression=compression) as source:
        count = sum(bytes(view).count(b"\n") for view in whole(source.data))
        return ("damaged" if source.faults else "clean"), count


class Nowhere:
    """A set of outputs of which nothing is kept: a dry run tries everything all the same."""

    closed = False

    def open(self) -> BinaryIO:
        """The next output."""
        return cast(BinaryIO, self)

    def write(self, data: bytes) -> int:
        """As a stream does."""
        return len(data)
