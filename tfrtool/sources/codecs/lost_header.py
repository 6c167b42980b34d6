"""Packed data whose header is damaged or lost: where its deflate data begins, by what that unpacks to."""

from __future__ import annotations

import zlib
from typing import Literal

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.layout import HEADER
from tfrtool.sources.codecs.container import GZIP_MAGIC, RESERVED, Container, Zlib, gzip_header
from tfrtool.sources.codecs.members import RUNWAY, convinces

LOOK = (1 << 10) + RUNWAY
"""Packed bytes that are looked at."""
_LOST = 1 << 10
"""How far the beginning of deflate data is looked for where a header is lost, in bytes."""
_FLIPS = 3
"""Most bits that are turned over in the bytes of a header that are the same in all."""
_USUAL_ZLIB = (0x7801, 0x785E, 0x789C, 0x78DA)


def deflate_begins(data: bytes, container: Container, *, first: bool, to_the_end: bool) -> int | None:
    """Where the deflate data begins of a member whose header, at the start of `data`, is none; None where it does not.

    `data` holds `LOOK` bytes, or all `to_the_end`. Between members, where a header has to stand, some flipped bits in
    the bytes that all gzip headers share are undone, if the data then unpacks. The `first` member may lack any part of
    its header: its data begins where the first 12 bytes that come out are the header of a record and its checksum.
    """
    if container is not Zlib:
        length = _flipped(data, to_the_end)
        if length is not None:
            return length
    return _by_its_record(data, container) if first else None


def packed_as(head: bytes, to_the_end: bool) -> Literal["gzip", "zlib"] | None:
    """How a file is packed whose first bytes are no sound header, if its first member can be unpacked all the same."""
    data = head[:LOOK]
    if _flipped(data, to_the_end and len(data) == len(head)) is not None:
        return "gzip"
    at = _by_its_record(data)
    if at is None:
        return None
    near = min((int.from_bytes(data[:2], "big") ^ usual).bit_count() for usual in _USUAL_ZLIB)
    return "zlib" if at == 2 and near <= _FLIPS else "gzip"


def _flipped(data: bytes, to_the_end: bool) -> int | None:
    """The length of a gzip header with flipped bits in its magic number or in reserved flags, or None."""
    if len(data) < 4:
        return None
    wrong = int.from_bytes(data[:3], "big") ^ int.from_bytes(GZIP_MAGIC, "big")
    flips = wrong.bit_count() + (data[3] & RESERVED).bit_count()
    if not 0 < flips <= _FLIPS:
        return None
    mended = GZIP_MAGIC + bytes([data[3] & ~RESERVED]) + data[4:]
    return gzip_header(mended).length if convinces(mended, to_the_end) else None


def _by_its_record(data: bytes, container: Container | None = None) -> int | None:
    places = range(min(_LOST, len(data))) if container is not Zlib else range(2, 3)
    found = next((at for at in places if gives_record(data[at:])), None)
    # Where a header stands before it, that is the next member's, and what comes before is lost.
    return None if found is None or GZIP_MAGIC in data[1:found] else found


def gives_record(packed: bytes) -> bool:
    """Whether deflate data unpacks to the header of a record, sound by its own checksum, at its first byte."""
    try:
        return header_is_sound(zlib.decompressobj(-15).decompress(packed, HEADER))
    except zlib.error:
        return False


def breaks_at_once(packed: bytes) -> bool:
    """Whether deflate data is none by its first bytes."""
    try:
        zlib.decompressobj(-15).decompress(packed, 1 << 10)
    except zlib.error:
        return True
    return False
