"""Finding the headers of a wrong writer: what `kernel.scan` does for sound ones, for any layout."""

from __future__ import annotations

import re
from functools import cache

from tfrtool.framing.layout import HEADER, Layout

BLOCK = 1 << 14
"""Bytes that are searched at once."""

_ZEROS4 = bytes(4)
_RUN = re.compile(b"\0+")
_DENSE = 16


def headers(layout: Layout, buffer: bytearray, at: int, stop: int) -> list[int]:
    """The headers of `layout` in `buffer` that begin in `[at, stop)`, of lengths below 4 GiB, in order.

    At most `BLOCK` bytes. The buffer has to hold 11 more. As in the kernel, the zero bytes of the length's upper half
    are looked for before any checksum is taken, and where zeros are common all offsets are tested at once.
    """
    upper = 0 if _is_big(layout) else 4
    found: list[int] = []
    limit, place, hits = stop + HEADER, at + upper, 0
    while True:
        zeros = buffer.find(_ZEROS4, place, stop + upper + 3)
        if zeros < 0:
            return found
        match = _RUN.match(buffer, zeros, limit)
        run = match.end() if match else limit
        # A length whose upper half ends or begins the run, or a length of zero, which ends it since no checksum of one
        # begins with a zero.
        begins = range(run - 8, run - 3) if not upper else (*range(zeros - 4, zeros), max(zeros, run - 8))
        for begin in begins:
            inside = max(at, zeros - upper) <= begin < stop and begin + upper + 4 <= run
            if inside and layout.sound(buffer[begin : begin + HEADER]):
                found.append(begin)
        place, hits = run, hits + 1
        if hits > _DENSE:
            return _by_lanes(layout, buffer, at, stop)


def _by_lanes(layout: Layout, buffer: bytearray, at: int, stop: int) -> list[int]:
    """The same in time that depends little on the bytes: see `_by_lanes` of the kernel's pure twin."""
    upper, places, tables, low, undo = _tables(layout)
    n = stop - at
    number = int.from_bytes
    lanes = number(buffer[at + low : stop + low].translate(undo), "little")
    for place, table in zip(places, tables, strict=True):
        lanes ^= number(buffer[at + place : stop + place].translate(table), "little")
    half = number(buffer[at + upper : stop + upper + 3], "little")
    half |= half >> 8
    half |= half >> 16
    left = (lanes | half & ((1 << 8 * n) - 1)).to_bytes(n, "little")
    found = []
    begin = left.find(0)
    while begin >= 0:
        if layout.sound(buffer[at + begin : at + begin + HEADER]):
            found.append(at + begin)
        begin = left.find(0, begin + 1)
    return found


def _is_big(layout: Layout) -> bool:
    return layout.length(b"\1" + bytes(11)) != 1


@cache
def _tables(layout: Layout) -> tuple[int, range, list[bytes], int, bytes]:
    """Where the upper half of the length begins, where its lower half is, what each byte of that does to the lowest
    byte of the stored checksum before the mask's constant is added, where that one stands, and the constant undone.
    """
    upper, places = (0, range(4, 8)) if _is_big(layout) else (4, range(4))
    # In a masked checksum, bits 15 to 22 of the bare one are the lowest byte; a mask of nothing is its constant.
    lowest = 1 << 15 if layout.stored(0) else 1
    zero, one = (layout.header.pack(0, layout.stored(bare)) for bare in (0, lowest))
    low = next(place for place in range(8, HEADER) if zero[place] != one[place])
    shift, delta = (15, zero[low]) if layout.stored(0) else (0, 0)
    base = layout.crc(bytes(8))
    tables = []
    for k, place in enumerate(places):
        row = bytearray(256)
        for value in range(256):
            length = bytearray(8)
            length[place] = value
            row[value] = ((layout.crc(bytes(length)) ^ (base if k else 0)) >> shift) & 0xFF
        tables.append(bytes(row))
    return upper, places, tables, low, bytes((value - delta) & 0xFF for value in range(256))
