"""Members whose header is damaged: try to inflate at the offsets where deflate data usually begins."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Literal

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.layout import HEADER
from tfrtool.sources.codecs.container import GZIP_MAGIC, Container, Zlib
from tfrtool.sources.codecs.members import RUNWAY, inflates

_LENGTH = 10
"""Bytes of a gzip header without optional fields."""
_NAME_LIMIT = 1 << 10
LOOK = _NAME_LIMIT + RUNWAY
"""Bytes of a member that are looked at."""
_USUAL_ZLIB = (0x7801, 0x785E, 0x789C, 0x78DA)
_FLIPS = 3
"""Bits by which a zlib header may differ from a usual one."""


def deflate_begins(data: bytes, container: Container, *, first: bool, to_the_end: bool) -> int | None:
    """Return the offset of the deflate data of a member whose header, at the start of `data`, is damaged, or None.

    `data` holds `LOOK` bytes, or all that is left (`to_the_end`). The usual ends of a header are tried. The `first`
    member, whose header may lack its beginning, must decompress to a valid record header; a later one for a while.
    """
    if container is Zlib:
        return 2 if first and gives_record(data[2:]) else None
    for at in _ends(data, first):
        if gives_record(data[at:]) if first else inflates(data[at:], to_the_end):
            return None if GZIP_MAGIC in data[1:at] else at  # else that header belongs to the next member
    return None


def packed_as(head: bytes) -> Literal["gzip", "zlib"] | None:
    """Return how a file is compressed whose first bytes are a damaged header, or None."""
    data = head[:LOOK]
    at = next((at for at in _ends(data, True) if gives_record(data[at:])), None)
    if at is None or GZIP_MAGIC in data[1:at]:
        return None
    flips = min((int.from_bytes(data[:2], "big") ^ usual).bit_count() for usual in _USUAL_ZLIB)
    return "zlib" if at == 2 and flips <= _FLIPS else "gzip"


def _ends(data: bytes, first: bool) -> Iterator[int]:
    """Where the header may end: after 10 bytes, after a file name, or earlier if its beginning is cut off."""
    yield _LENGTH
    name_end = data.find(b"\0", _LENGTH, _NAME_LIMIT) + 1
    if name_end:
        yield name_end
    if first:
        yield from range(_LENGTH)


def gives_record(packed: bytes) -> bool:
    """Return whether deflate data begins with a record header whose checksum matches."""
    try:
        return header_is_sound(zlib.decompressobj(-15).decompress(packed, HEADER))
    except zlib.error:
        return False


def breaks_at_once(packed: bytes) -> bool:
    """Return whether the first bytes cannot be deflate data."""
    try:
        zlib.decompressobj(-15).decompress(packed, 1 << 10)
    except zlib.error:
        return True
    return False
