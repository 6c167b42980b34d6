"""The hot loops over one buffer, in Python: the reference twin of the compiled kernel.

Policy never enters here. A loop goes as far as everything is sound and says where it stopped; what to think of that
place is decided in `walk` and `resync`. Figures in comments are nanoseconds a record on records of 216 bytes, CPython
3.11.
"""

from __future__ import annotations

import re
from array import array
from struct import Struct, pack

from tfrtool.framing.crc import MASK_DELTA, crc32c, rotated

NAME = "pure"

_HEADER = Struct("<QI").unpack_from
_BETWEEN = Struct("<IQI").unpack_from  # a footer and the header behind it, in one call
_FOOTER = Struct("<I").unpack_from
_LENGTH = Struct("<Q").pack

Known = dict[int, int]
"""Lengths whose masked CRC has been computed. Data sets repeat their lengths, and a look-up costs a tenth of a CRC."""

_KNOWN_MOST = 1 << 16


def _length_crc(length: int, known: Known) -> int:
    if len(known) >= _KNOWN_MOST:
        known.clear()
    crc = crc32c(_LENGTH(length))
    value = known[length] = (crc >> 15 | crc << 17) + MASK_DELTA & 0xFFFFFFFF
    return value


def walk(buffer: bytearray, view: memoryview, at: int, end: int, known: Known) -> tuple[list[int], list[int], int]:
    """The sound frames that lie whole in `buffer[at:end]`, one after another.

    Returns the begins and the ends of their payloads, and where the walk stopped: at a frame that is not whole in the
    buffer, or not sound. Headers are chained first, then all payload checksums are taken and compared together.
    """
    begins: list[int] = []
    ends: list[int] = []
    stored: list[int] = []
    stop = _chain(buffer, at, end, known, begins, ends, stored)
    bad = _first_unsound(view, begins, ends, stored)
    if bad is not None:
        stop = begins[bad] - 12
        del begins[bad:], ends[bad:]
    return begins, ends, stop


def _chain(
    buffer: bytearray, at: int, end: int, known: Known, begins: list[int], ends: list[int], stored: list[int]
) -> int:
    # 150 ns. One struct call reads the footer of a record together with the header of the next one.
    if end - at < 16:
        return at
    length, crc = _HEADER(buffer, at)
    get, begin_is, end_is, footer_is = known.get, begins.append, ends.append, stored.append
    last = end - 16
    while get(length) == crc or _length_crc(length, known) == crc:
        begin = at + 12
        stop = begin + length
        if stop > last:
            if stop + 4 <= end:
                begin_is(begin)
                end_is(stop)
                footer_is(_FOOTER(buffer, stop)[0])
                at = stop + 4
            break
        begin_is(begin)
        end_is(stop)
        footer, length, crc = _BETWEEN(buffer, stop)
        footer_is(footer)
        at = stop + 4
    return at


_GROUP = 1024


def _lanes(value: int) -> int:
    return int.from_bytes(pack("<Q", value) * _GROUP, "little")


_HIGH17, _LOW15 = _lanes(0x1FFFF), _lanes(0xFFFE0000)
_DELTA, _WORD = _lanes(MASK_DELTA), _lanes(0xFFFFFFFF)


def _first_unsound(view: memoryview, begins: list[int], ends: list[int], stored: list[int]) -> int | None:
    """The number of the first payload whose checksum fails, or None.

    210 ns, nearly all in C: the payloads are sliced and checked by `map`, and the masks of a thousand checksums are
    computed as one integer of 64-bit lanes (20 ns, where a loop over them takes 90).
    """
    crcs = array("Q", map(crc32c, map(view.__getitem__, map(slice, begins, ends))))
    for start in range(0, len(crcs), _GROUP):
        group = crcs[start : start + _GROUP]
        lanes = int.from_bytes(group.tobytes(), "little")
        used = (1 << 64 * len(group)) - 1
        lanes = (((lanes >> 15) & _HIGH17 | (lanes << 17) & _LOW15 & used) + (_DELTA & used)) & _WORD
        wanted = stored[start : start + _GROUP]
        if lanes != int.from_bytes(array("Q", wanted).tobytes(), "little"):
            for i, crc in enumerate(group):
                if rotated(crc) != wanted[i]:
                    return start + i
    return None


def hop(buffer: bytearray, at: int, end: int, known: Known) -> tuple[int, int, int]:
    """Hop from sound header to sound header as far as headers lie whole in `buffer[at:end]`, looking at no payload.

    Returns how many records were hopped over, where the record after the last of them begins (it may lie past `end`),
    and where the last of them began (`at` when there was none).
    """
    get = known.get
    count = 0
    previous = at
    last = end - 12
    while at <= last:
        length, crc = _HEADER(buffer, at)
        if get(length) != crc and _length_crc(length, known) != crc:
            break
        previous = at
        at += length + 16
        count += 1
    return count, at, previous


def hop_lengths(buffer: bytearray, at: int, end: int, known: Known, lengths: list[int]) -> tuple[int, int, int]:
    """The same as `hop`, and the length of each record is appended to `lengths`.

    A loop of its own: a test in each round of `hop` would cost those who only count.
    """
    get, length_is = known.get, lengths.append
    before = len(lengths)
    previous = at
    last = end - 12
    while at <= last:
        length, crc = _HEADER(buffer, at)
        if get(length) != crc and _length_crc(length, known) != crc:
            break
        previous = at
        at += length + 16
        length_is(length)
    return len(lengths) - before, at, previous


# Finding the next header. A length below 4 GiB has four zero bytes in its upper half, so random bytes and text are
# searched for those at memory speed. Where zeros are common (tensors of small integers, masks) nearly every offset has
# them, and each costs a checksum: 170 s a GB. There, all offsets of a block are tested at once by `_by_lanes`.

_ZEROS4 = bytes(4)
_ZEROS_BLOCK = bytes(1 << 14)
_RUN = re.compile(b"\0+")
_EMPTY_CRC = pack("<I", rotated(crc32c(bytes(8))))
_BLOCK = 1 << 14
_DENSE = 16


def scan(buffer: bytearray, at: int, end: int) -> tuple[list[int], int]:
    """The first headers in `buffer[at:end]` with a sound checksum and a length below 4 GiB.

    Returns the offsets found in the first block that holds any (none: no block does), and the offset from which to go
    on.
    """
    stop = max(end - 11, at)
    while at < stop:
        found, at = _by_zeros(buffer, at, min(at + _BLOCK, stop))
        if found:
            return found, at
    return [], stop


def _sound(buffer: bytearray, at: int) -> bool:
    return bool(rotated(crc32c(buffer[at : at + 8])) == _FOOTER(buffer, at + 8)[0])


def _by_zeros(buffer: bytearray, at: int, stop: int) -> tuple[list[int], int]:
    """The headers in `[at, stop)`, and where to go on: at `stop`, or farther behind a long run of zeros.

    A run of zeros is passed over whole: within it only a length of zero can stand, and its checksum would end the run.
    """
    begin, hits = at, 0
    found: list[int] = []
    while True:
        zeros = buffer.find(_ZEROS4, at + 4, stop + 7)
        if zeros < 0:
            return found, stop
        run = zeros
        while buffer.startswith(_ZEROS_BLOCK, run):
            run += len(_ZEROS_BLOCK)
        match = _RUN.match(buffer, run)
        run = match.end() if match else run
        # Lengths that begin before the run, then the one offset within it where an empty record could end it.
        for candidate in range(max(zeros - 4, at), min(zeros, stop)):
            if candidate + 8 <= run:
                # As `_sound` has it, in place: these lines run for every offset before zeros.
                crc = crc32c(buffer[candidate : candidate + 8])
                masked = (crc >> 15 | crc << 17) + MASK_DELTA & 0xFFFFFFFF
                if _FOOTER(buffer, candidate + 8)[0] == masked:
                    found.append(candidate)
        if zeros >= stop:
            return found, stop
        if zeros <= run - 8 < stop and buffer.startswith(_EMPTY_CRC, run):
            found.append(run - 8)
        at = run - 7 if run - 8 < stop else run - 8
        if at >= stop:
            return found, at
        hits += 1
        if hits > _DENSE:
            return _by_lanes(buffer, begin, stop)


def _tables() -> list[bytes]:
    # CRC-32C is linear: the CRC of a length is a constant XOR one table look-up for each of its bytes. Kept here are
    # the eight bits of the CRC that masking rotates to the bottom, since adding the mask's constant carries nothing
    # into those.
    base = crc32c(bytes(8))
    tables = []
    for place in range(4):
        row = bytearray(256)
        for value in range(256):
            length = bytearray(8)
            length[place] = value
            row[value] = ((crc32c(bytes(length)) ^ (base if place else 0)) >> 15) & 0xFF
        tables.append(bytes(row))
    return tables


_LOOK_UP: list[bytes] = []
_UNDO_DELTA = bytes((value - (MASK_DELTA & 0xFF)) & 0xFF for value in range(256))


def _by_lanes(buffer: bytearray, at: int, stop: int) -> tuple[list[int], int]:
    """The headers in `[at, stop)` and where to go on, in time that depends little on the bytes: 6 s a GB.

    Each offset has a byte of its own in one large integer. It becomes zero where bits 15 to 22 of the length's CRC
    agree with the low byte of the stored checksum and the length's upper half is zero, so one offset in 256 is left
    to test.
    """
    if not _LOOK_UP:
        _LOOK_UP.extend(_tables())
    n = stop - at
    number = int.from_bytes
    lanes = number(buffer[at + 8 : stop + 8].translate(_UNDO_DELTA), "little")
    for place, table in enumerate(_LOOK_UP):
        lanes ^= number(buffer[at + place : stop + place].translate(table), "little")
    upper = number(buffer[at + 4 : stop + 7], "little")
    upper |= upper >> 8
    upper |= upper >> 16
    left = (lanes | upper & ((1 << 8 * n) - 1)).to_bytes(n, "little")
    found = []
    candidate = left.find(0)
    while candidate >= 0:
        if _sound(buffer, at + candidate):
            found.append(at + candidate)
        candidate = left.find(0, candidate + 1)
    return found, stop
