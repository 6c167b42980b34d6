"""The headers and trailers of gzip (RFC 1952) and zlib (RFC 1950) around deflate data."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Literal

GZIP_MAGIC = b"\x1f\x8b\x08"
HEADER_LIMIT = 192 << 10
"""Bytes beyond which a gzip header is not believed: an extra field takes up to 64 KiB, names are short."""

_HEADER_CRC, _EXTRA, _NAME, _COMMENT, RESERVED = 0x02, 0x04, 0x08, 0x10, 0xE0


@dataclass(frozen=True, slots=True)
class ContainerHeader:
    """The result of parsing a header.

    `state` is `sound`, `cut` (a header as far as the bytes go, but they end within it) or `foreign` (something else).
    `length` counts its bytes, as far as they are there.
    """

    state: Literal["sound", "cut", "foreign"]
    length: int = 0


_FOREIGN = ContainerHeader("foreign")


def gzip_header(data: bytes) -> ContainerHeader:
    """Parse the gzip header that `data` begins with."""
    if not data.startswith(GZIP_MAGIC[: len(data)]):
        return _FOREIGN
    if len(data) > 3 and data[3] & RESERVED:
        return _FOREIGN
    if len(data) < 10:
        return ContainerHeader("cut", len(data))
    flags, at = data[3], 10
    if flags & _EXTRA:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for text in (_NAME, _COMMENT):
        if flags & text:
            zero = data.find(b"\0", at)
            if zero < 0:
                return ContainerHeader("cut", len(data)) if len(data) < HEADER_LIMIT else _FOREIGN
            at = zero + 1
    if flags & _HEADER_CRC:
        at += 2
    if at <= len(data):
        return ContainerHeader("sound", at)
    return ContainerHeader("cut", len(data)) if len(data) < HEADER_LIMIT else _FOREIGN


def gzip_header_is_usual(data: bytes) -> bool:
    """Return whether XFL and OS, which a writer may choose freely, have usual values."""
    return len(data) < 10 or (data[8] in (0, 2, 4) and (data[9] <= 13 or data[9] == 255))


def zlib_header(data: bytes) -> ContainerHeader:
    """Parse the zlib header that `data` begins with. A preset dictionary, which nobody could supply, is foreign."""
    if len(data) < 2:
        return ContainerHeader("cut", len(data)) if data and data[0] & 0x0F == 8 and data[0] >> 4 <= 7 else _FOREIGN
    method, flags = data[0], data[1]
    if method & 0x0F != 8 or method >> 4 > 7 or (method << 8 | flags) % 31 or flags & 0x20:
        return _FOREIGN
    return ContainerHeader("sound", 2)


class Gzip:
    """The gzip container: one or more members, possibly padded with zero bytes."""

    name: Literal["gzip"] = "gzip"
    unit = "gzip member"
    trailer_size = 8
    header = staticmethod(gzip_header)

    def __init__(self, module: Any = zlib) -> None:
        """`module` has `crc32`: zlib, or a faster one of the same interface."""
        self._crc32 = module.crc32
        self.crc = 0
        self.length = 0

    def add(self, data: bytes) -> None:
        """Add decompressed bytes to the checksum."""
        self.crc = self._crc32(data, self.crc)
        self.length += len(data)

    @property
    def trailer(self) -> bytes:
        """The 8-byte trailer that matches the data."""
        return self.crc.to_bytes(4, "little") + (self.length & 0xFFFFFFFF).to_bytes(4, "little")

    def disagreement(self, trailer: bytes) -> str | None:
        """Return how the 8-byte trailer does not match the data, or None."""
        stored = int.from_bytes(trailer[:4], "little")
        size = int.from_bytes(trailer[4:], "little")
        if stored != self.crc:
            return f"its stored CRC-32 is 0x{stored:08x}, that of the unpacked data is 0x{self.crc:08x}"
        if size != self.length & 0xFFFFFFFF:
            return f"its stored length is {size} bytes (modulo 2^32), the unpacked data has {self.length}"
        return None


class Zlib:
    """The zlib container: one stream; a second one that follows it is read as well."""

    name: Literal["zlib"] = "zlib"
    unit = "zlib stream"
    trailer_size = 4
    header = staticmethod(zlib_header)

    def __init__(self, module: Any = zlib) -> None:
        """`module` has `adler32`: zlib, or a faster one of the same interface."""
        self._adler32 = module.adler32
        self.adler = 1

    def add(self, data: bytes) -> None:
        """Add decompressed bytes to the checksum."""
        self.adler = self._adler32(data, self.adler)

    def disagreement(self, trailer: bytes) -> str | None:
        """Return how the 4-byte trailer does not match the data, or None."""
        stored = int.from_bytes(trailer, "big")
        if stored != self.adler:
            return f"its stored Adler-32 is 0x{stored:08x}, that of the unpacked data is 0x{self.adler:08x}"
        return None


Container = type[Gzip] | type[Zlib]
CONTAINERS: dict[str, Container] = {"gzip": Gzip, "zlib": Zlib}
