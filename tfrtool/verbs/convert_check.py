"""Outputs of a conversion read back whole before they take their names, each as soon as it is complete.

A TFRecord file proves itself: every header and every payload bears a checksum, and they are counted. What has no
checksums of its own (OFRecord, JSON Lines, the footer of Parquet) is held, byte for byte, against a CRC-32C of what was
given to the file, and counted by what its format has to count by.
"""

from __future__ import annotations

from typing import BinaryIO, cast

from tfrtool.errors import TfrtoolError, WriteError
from tfrtool.framing.crc import Bytes, crc32c
from tfrtool.report import Compression
from tfrtool.sources.opening import open_source
from tfrtool.sources.stream import whole
from tfrtool.verbs.formats_base import Layout, Target
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading

_BLAME = "nothing was published; the disk or the memory of this machine may be at fault"


class Summed:
    """A binary stream that adds up what is written to it: its `size` in bytes, and their `crc`, a CRC-32C."""

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
    """Takes the place of one output while it is written, and compares the file with what was written.

    `stream` is what the writer of the output is to write to.
    """

    def __init__(self, out: BinaryIO, target: Target, layout: Layout) -> None:
        self._target = target
        self._layout = layout
        self._summed = None if target == "tfrecord" else Summed(out)
        self.stream = out if self._summed is None else cast(BinaryIO, self._summed)

    def check(self, name: str, count: int) -> None:
        """Raise WriteError unless the file of that name has all that was written, and so many records."""
        try:
            if self._summed is not None:
                _same_bytes(name, self._summed)
            if self._target == "parquet":
                from tfrtool.verbs.parquet import check_parquet

                check_parquet(name, count)
                return
            if self._target == "ofrecord" and self._layout.hollow:
                return  # whose reader takes a record of no bytes for damage, and so cannot count them
            status, records = self._counted(name)
        except TfrtoolError as error:
            if isinstance(error, WriteError):
                raise
            raise WriteError(f"an output could not be read back: {error}; nothing was published") from error
        if status != "clean" or records != count:
            raise WriteError(
                f"an output did not read back as written ({status}, {records:,} of {count:,} records): {_BLAME}"
            )

    def _counted(self, name: str) -> tuple[str, int]:
        compression: Compression = self._layout.compression
        if self._target == "jsonl":
            return _lines(name, compression)
        options = Options(format="ofrecord" if self._target == "ofrecord" else "tfrecord", compression=compression)
        with open_source(name, compression=compression) as source:
            reading = Reading(source, options)
            for _ in reading.events(headers_only=self._target == "ofrecord"):
                pass
            found = reading.report()
        return found.status, found.records


def _same_bytes(name: str, written: Summed) -> None:
    size = crc = 0
    with open_source(name, compression="none") as source:
        for view in whole(source.data):
            size, crc = size + len(view), crc32c(view, crc)
    if (size, crc) != (written.size, written.crc):
        what = f"{size:,} bytes" if size != written.size else "other bytes"
        raise WriteError(f"an output did not read back as written ({what} of {written.size:,}): {_BLAME}")


def _lines(name: str, compression: Compression) -> tuple[str, int]:
    with open_source(name, compression=compression) as source:
        count = sum(bytes(view).count(b"\n") for view in whole(source.data))
        return ("damaged" if source.faults else "clean"), count
