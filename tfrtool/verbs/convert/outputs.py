"""Write outputs one after another, and verify each by reading it back.

A TFRecord file proves itself: every header and every payload bears a checksum, and they are counted. What has no
checksums of its own (OFRecord, JSON Lines, the footer of Parquet) is held, byte for byte, against a CRC-32C of what was
given to the file, and counted by what its format has to count by.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import BinaryIO, cast

from tfrtool.errors import TfrtoolError, WriteError
from tfrtool.framing.crc import Bytes, crc32c
from tfrtool.framing.layout import AROUND
from tfrtool.framing.walk import Batch
from tfrtool.sources.sinks.output_set import OutputSet
from tfrtool.sources.source import open_source
from tfrtool.sources.spool import read_all
from tfrtool.types import Compression, Kind
from tfrtool.verbs.convert.shards import ShardSplitter
from tfrtool.verbs.formats.base import Layout, Pieces, Target, Writer
from tfrtool.verbs.formats.frames import FrameWriter
from tfrtool.verbs.formats.registry import WRITERS
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader
from tfrtool.verbs.repair.decide import copied

_LIKELY_CAUSE = "nothing was published; the disk or the memory of this machine may be at fault"


class ChecksummedStream:
    """A binary stream that tracks the `size` in bytes and the CRC-32C (`crc`) of the data written to it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.size = self.crc = 0

    @property
    def closed(self) -> bool:
        """Whether the stream beneath is closed."""
        return self._out.closed

    def write(self, data: Bytes) -> int:
        """Append all of the data."""
        self.size += memoryview(data).nbytes
        self.crc = crc32c(data, self.crc)
        return self._out.write(data)


class ReadBack:
    """Compare an output file with the data written to it.

    `stream` is what the writer of the output is to write to.
    """

    def __init__(self, out: BinaryIO, target: Target, layout: Layout) -> None:
        self._target = target
        self._layout = layout
        self._checksummed = None if target == "tfrecord" else ChecksummedStream(out)
        self.stream = out if self._checksummed is None else cast(BinaryIO, self._checksummed)

    def check(self, name: str, count: int) -> None:
        """Raise WriteError unless the file holds the written data and `count` records."""
        try:
            if self._checksummed is not None:
                _same_bytes(name, self._checksummed)
            if self._target == "parquet":
                from tfrtool.verbs.formats.parquet_writer import check_parquet

                check_parquet(name, count)
                return
            if self._target == "ofrecord" and self._layout.allow_empty:
                return  # whose reader takes a record of no bytes for damage, and so cannot count them
            status, records = self._counted(name)
        except TfrtoolError as error:
            if isinstance(error, WriteError):
                raise
            raise WriteError(f"an output could not be read back: {error}; nothing was published") from error
        if status != "clean" or records != count:
            raise WriteError(
                f"an output did not read back as written ({status}, {records:,} of {count:,} records): {_LIKELY_CAUSE}"
            )

    def _counted(self, name: str) -> tuple[str, int]:
        compression: Compression = self._layout.compression
        if self._target == "jsonl":
            return _lines(name, compression)
        options = Options(format="ofrecord" if self._target == "ofrecord" else "tfrecord", compression=compression)
        with open_source(name, compression=compression) as source:
            reading = FileReader(source, options)
            for _ in reading.events(headers_only=self._target == "ofrecord"):
                pass
            found = reading.report()
        return found.status, found.records


def _same_bytes(name: str, written: ChecksummedStream) -> None:
    size = crc = 0
    with open_source(name, compression="none") as source:
        for view in read_all(source.data):
            size, crc = size + len(view), crc32c(view, crc)
    if (size, crc) != (written.size, written.crc):
        what = f"{size:,} bytes" if size != written.size else "other bytes"
        raise WriteError(f"an output did not read back as written ({what} of {written.size:,}): {_LIKELY_CAUSE}")


def _lines(name: str, compression: Compression) -> tuple[str, int]:
    with open_source(name, compression=compression) as source:
        count = sum(bytes(view).count(b"\n") for view in read_all(source.data))
        return ("damaged" if source.faults else "clean"), count


class CountingSink:
    """A sink that only counts records."""

    takes_many = True

    def __init__(self) -> None:
        self.count = 0
        self.path = ""

    def frames(self, reading: FileReader, batch: Batch, start: int, stop: int) -> None:
        self.count += stop - start

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        self.count += 1

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        self.count += len(payloads)

    def release_views(self) -> None:
        pass


class Outputs:
    """A sink that writes outputs, each by a writer of its own; `starts` has the first record of each, by its number."""

    def __init__(self, files: OutputSet | NullOutput, target: Target, layout: Layout, splitter: ShardSplitter) -> None:
        self.files = files
        self.splitter = splitter
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
        self.starts.append(self.splitter.total)
        self.splitter.open()
        return self._writer

    @property
    def opened(self) -> int:
        """The number of outputs opened so far."""
        return len(self.starts)

    def holding(self, start: int, stop: int) -> tuple[int, int]:
        """Which outputs hold records `[first, behind)`: `[begin, end)` of them."""
        if start == stop:
            return 0, 0
        return bisect_right(self.starts, start) - 1, bisect_left(self.starts, stop)

    def finish(self) -> None:
        """Close the open output and read it back while the page cache still holds it.

        Raises WriteError if the content differs from what was written.
        """
        if self._writer is not None and self._back is not None:
            self._writer.finish()
            self._writer = None
            hidden = self.files.finish()
            if hidden is not None:
                self._back.check(hidden, self.splitter.total - self.starts[-1])

    def frames(self, reading: FileReader, batch: Batch, start: int, stop: int) -> None:
        view, before, after = batch.view, self._before, self._after
        ends = [end + after for end in batch.ends]
        while start < stop:
            begin = batch.begins[start] - before
            writer = self._writer
            if writer is None or self.splitter.full or not self.splitter.fits(ends[start] - begin):
                writer = self.next()
            count = min(self.splitter.room(ends, begin, start), stop - start)
            last = ends[start + count - 1]
            assert isinstance(writer, FrameWriter)
            if view is not None and begin >= 0 and last <= len(view):
                writer.raw(view[begin:last])
            else:
                for piece in copied(reading.source.data, ((batch.base + begin, batch.base + last),)):
                    writer.raw(piece)
            self.splitter.add(count, last - begin)
            start += count

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        writer, rows = self._writer, self._layout.rows
        size = sum(map(len, pieces)) + self._before + self._after
        if rows is not None:
            rows.number = number
            if self.splitter.by_size and rows.target == "jsonl":
                size = rows.measure(pieces, kind)
        if writer is None or self.splitter.full or not self.splitter.fits(size):
            writer = self.next()
        self.splitter.add(1, writer.write(pieces, kind))

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        if self.splitter.by_size:
            for payload in payloads:
                self.record((payload,), kind, 0)
            return
        at = 0
        while at < len(payloads):
            writer = self._writer
            if writer is None or self.splitter.full:
                writer = self.next()
            assert isinstance(writer, FrameWriter)
            count = min(self.splitter.left, len(payloads) - at)
            self.splitter.add(count, writer.write_all(payloads[at : at + count]))
            at += count

    def release_views(self) -> None:
        if self._writer is not None:
            self._writer.release_views()


class NullOutput:
    """An output set that discards all data, for dry runs."""

    closed = False

    def open(self) -> BinaryIO:
        """Open the next output."""
        return cast(BinaryIO, self)

    def finish(self) -> None:
        """Do nothing: there is no file to read back."""

    def write(self, data: bytes) -> int:
        """Discard the data, and return its size."""
        return len(data)
