"""count: how many records, reading headers alone where the source can seek."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file


def count_file(name: str, options: Options) -> FileReport:
    """The report of one input; `records` counts those whose length checksum holds and whose bytes are all there."""
    for report in read_file(name, options, _count):
        return report
    raise AssertionError("reading ends with a report")


def _count(read: FileReader) -> Iterator[FileReport]:
    for _ in read.events(headers_only=True):
        pass
    yield read.report()


def count(
    path: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
) -> FileReport:
    """The report of one file from its headers alone: `records`, and any damage that headers can tell.

    Raises ValueError or TypeError for arguments that are none.
    """
    from tfrtool.verbs.options import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return count_file(path_name("path", path), Options(format=format, compression=compression))
