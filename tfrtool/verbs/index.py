"""Index files: a line `<offset> <size>` for each record, in bytes, as NVIDIA DALI and the PyPI `tfrecord` read them.

`offset` is where the frame of a record begins and `size` counts the whole frame: header, payload and footer, so 16
more than the payload. Source: `tools/tfrecord2idx` of NVIDIA DALI, `tfrecord/tools/tfrecord2idx.py` of `tfrecord`. Both
of those index torn and damaged records too; here only sound ones have a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from tfrtool.errors import OpenError, ReadError, UnsupportedError
from tfrtool.framing.layout import FOOTER, HEADER
from tfrtool.framing.walk import Batch
from tfrtool.sources.reasons import reason
from tfrtool.verbs.reading import Reading

LONGEST_LINE = 64
"""Bytes of a line beyond which it is none: two numbers of 64 bits take 41 and a line end."""


class Line(NamedTuple):
    """A line of an index, numbered from 1. What is no line of two numbers has neither, but its `text`."""

    number: int
    offset: int | None
    size: int | None
    text: str


def refuse(read: Reading) -> None:
    """Raise `UnsupportedError` where an index would be of no use to anyone."""
    name, compression = read.source.name, read.source.compression
    if compression != "none":
        raise UnsupportedError(
            f"'{name}' is compressed with {compression}, so no offset in it leads to a record: DALI and tfrecord read "
            "the file as it lies; unpack it first"
        )
    if read.identity.format == "ofrecord":
        raise UnsupportedError(
            f"'{name}' is an OFRecord file, and OneFlow reads no index; those who do, DALI and tfrecord, read TFRecord"
        )


def frames(batch: Batch) -> Iterator[tuple[int, int]]:
    """Offset and size of each frame of a batch of TFRecord framing."""
    if batch.lengths:
        at = batch.begin
        for length in batch.lengths:
            yield at, length + HEADER + FOOTER
            at += length + HEADER + FOOTER
        return
    base = batch.base - HEADER
    for begin, end in zip(batch.begins, batch.ends, strict=True):
        yield base + begin, end - begin + HEADER + FOOTER


def lines_of(batch: Batch) -> bytes:
    """The lines of a batch."""
    return b"".join([b"%d %d\n" % frame for frame in frames(batch)])


def read_index(path: str) -> Iterator[Line]:
    """The lines of an index, whatever stands in it, in bounded memory. Raises `OpenError` and `ReadError`."""
    try:
        file = open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise OpenError(f"cannot open the index '{path}': {reason(error)}") from error
    with file:
        number = 0
        while raw := _line(file, path):
            number += 1
            yield _parsed(number, raw)


def _line(file: BinaryIO, path: str) -> bytes:
    """The next line with its end; of one that is too long a beginning that is too long, and the rest is passed over."""
    try:
        raw = file.readline(LONGEST_LINE)
        if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
            while (more := file.readline(1 << 16)) and not more.endswith(b"\n"):
                pass
            raw += b"\n"
    except OSError as error:
        raise ReadError(f"cannot read the index '{path}': {reason(error)}") from error
    return raw


def _parsed(number: int, raw: bytes) -> Line:
    fields = raw.split()
    if len(raw) <= LONGEST_LINE and len(fields) == 2 and all(map(bytes.isdigit, fields)):
        return Line(number, int(fields[0]), int(fields[1]), f"{int(fields[0])} {int(fields[1])}")
    return Line(number, None, None, raw[:LONGEST_LINE].decode("utf-8", "backslashreplace").strip())
