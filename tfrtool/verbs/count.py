"""Count records, by their headers alone where the source is seekable."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file


def count_file(name: str, options: Options) -> FileReport:
    """Return the report of one input; `records` counts those with a valid length checksum and all their bytes."""
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
    """Return the report of one file from its headers alone: `records`, and any damage that headers show.

    Payloads are not checked. Never raises for damage; a file that cannot be read has status `error`. Raises ValueError
    or TypeError for invalid arguments.
    """
    from tfrtool.verbs.options import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return count_file(path_name("path", path), Options(format=format, compression=compression))
