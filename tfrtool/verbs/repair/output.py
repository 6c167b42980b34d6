"""Write the output of repair: opened before anything is read, verified before it is renamed into place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrtool.errors import TfrtoolError, WriteError
from tfrtool.framing.crc import crc32c, masked
from tfrtool.framing.encode import footer, header
from tfrtool.framing.layout import AROUND
from tfrtool.framing.stream import ByteStream
from tfrtool.framing.walk import Batch
from tfrtool.report import RepairReport
from tfrtool.sources.source import Source, open_source
from tfrtool.sources.spool import read_all
from tfrtool.verbs.options import InputProgress, Options
from tfrtool.verbs.reading.file_reader import FileReader
from tfrtool.verbs.records import FrameFile
from tfrtool.verbs.repair.decide import Payload, copied

if TYPE_CHECKING:
    from tfrtool.types import Compression
    from tfrtool.verbs.repair.options import RepairOptions
    from tfrtool.verbs.repair.side_files import SideFiles

_DIGESTS = 1 << 20
"""Payloads whose digests are compared to find repeats, the first ones of a file."""
_COMPARED = 16 << 20
"""Largest payload that is compared, in bytes: no larger one is held to take its digest."""


class RepairOutput:
    """Writes the records that are kept of one input; with `dry_run` it only counts their bytes in the report."""

    _source: Source
    _report: RepairReport

    def __init__(self, name: str, output: str, options: RepairOptions) -> None:
        """Open the output of the input `name`, so that one that cannot be written is refused before hours of reading.

        Raises `WriteError`.
        """
        self._output = output
        self._options = options
        self._file = None
        if not options.dry_run:
            self._file = FrameFile(output, force=options.force, same_as=(name,), check=self._check)
        self._begun = False
        self._digests: set[int] = set()

    def begin(self, source: Source, report: RepairReport) -> None:
        """Take the records of `source` from here on; `report` is that of the first pass, and counts what is written."""
        self._source, self._report = source, report
        self._framing = AROUND[report.format or "tfrecord"]

    def copy(self) -> None:
        """Copy an intact input: its bytes on disk, or the decoded stream where the compression changes."""
        source, compression = self._source, self._compression
        as_it_lies = compression == source.compression
        self._report.output_bytes = self._report.bytes or 0
        if self._file is None:
            return
        self._compress("none" if as_it_lies else compression)
        at, progress = 0, InputProgress(self._options.progress, passes=2)
        for view in read_all(source.encoded if as_it_lies else source.data):
            self._file.write(view)
            at += len(view)
            progress.at(at if as_it_lies else source.position_encoded())

    def frames(self, data: ByteStream, batch: Batch) -> None:
        """Write intact frames of a stream as they are."""
        if batch.view is not None:
            self._count_repeats(map(batch.view.__getitem__, map(slice, batch.begins, batch.ends)))
        before, after = self._framing
        if batch.view is not None and len(batch.view) > batch.ends[-1] + after:
            self._write(batch.view[batch.begins[0] - before : batch.ends[-1] + after])
        else:
            for view in copied(data, ((batch.begin, batch.end),)):
                self._write(view)

    def payload(self, data: ByteStream, payload: Payload) -> None:
        """Write a payload of a stream in a new frame."""
        if payload.data is not None:
            self._count_repeats([payload.data])
            for part in (header(len(payload.data)), payload.data, footer(payload.data)):
                self._write(part)
            return
        length = sum(end - begin for begin, end in payload.pieces)
        self._write(header(length))
        crc, kept = 0, bytearray()
        for view in copied(data, payload.pieces):
            crc = crc32c(view, crc)
            if length <= _COMPARED:
                kept += view
            self._write(view)
        if length <= _COMPARED:
            self._count_repeats([kept])
        self._write(masked(crc).to_bytes(4, "little"))

    def publish(self, side_files: SideFiles) -> None:
        """Publish the output, if there is one. Raises `WriteError`, and then there is none."""
        sink = self._file.finish() if self._file is not None and self._begun else None
        if sink is not None:
            try:
                side_files.ranges.output(self._output, self._report)
                side_files.flush()
                side_files.publish_output(self._source.name, sink)
            except BaseException:
                sink.discard()
                raise
            self._report.output = self._output

    def close(self) -> None:
        """Remove an output that was not published."""
        if self._file is not None:
            self._file.discard()

    def _count_repeats(self, payloads: Iterable[bytes | bytearray | memoryview]) -> None:
        """Count the payloads that were written before, by 64 bits of a digest of each, kept up to a bound."""
        if len(self._digests) < _DIGESTS:
            found = [hash(bytes(payload)) for payload in payloads if len(payload) <= _COMPARED]
            known = len(self._digests)
            self._digests.update(found)
            self._report.repeats = (self._report.repeats or 0) + known + len(found) - len(self._digests)

    def _write(self, data: bytes | memoryview) -> None:
        self._report.output_bytes += len(data)
        if self._file is None:
            return
        if not self._begun:
            self._compress(self._compression)
        self._file.write(data)

    @property
    def _compression(self) -> Compression:
        wanted = self._options.output_compression
        return self._source.compression if wanted == "auto" else wanted

    def _compress(self, compression: Compression) -> None:
        """Choose the compression of the output. An output for which it was never chosen is not published."""
        assert self._file is not None
        self._file.compress(compression)
        self._begun = True

    def _check(self, name: str) -> None:
        """Read the output back; raises `WriteError` where it is not what was written."""
        report = self._report
        try:
            with open_source(name) as source:
                reader = FileReader(source, Options(format=report.format or "auto"))
                for _ in reader.events():
                    pass
                found = reader.report()
        except TfrtoolError as error:
            raise WriteError(
                f"the output '{self._output}' could not be read back: {error}; nothing was published"
            ) from error
        if found.status != "clean" or found.records != report.written:
            raise WriteError(
                f"the output did not read back as written ({found.status}, {found.records:,} of {report.written:,} "
                "records): nothing was published; the input changed while it was read, or the disk or the memory of "
                "this machine is at fault"
            )
