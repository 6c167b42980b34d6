"""Records larger than the window: read past it, checked piece by piece, and held whole where they are asked for."""

from __future__ import annotations

from struct import Struct

from tfrtool.framing.crc import crc32c, rotated
from tfrtool.framing.layout import FOOTER, HEADER
from tfrtool.framing.window import Readable, Window

_STEP = 1 << 21  # bytes that are read and checked while they are in the processor's cache
_PASSING = 3 << 19  # the same where they are not held: all the memory that takes
_AHEAD = 1 << 10  # bytes behind a record that are read with it: the next header, most likely of one as large

_CRC = Struct("<I").unpack_from


class Large:
    """Reads the large records of a walk into memory of its own, and gives its window what follows them.

    That memory is used again for each: fresh memory takes several times as long to fill.
    """

    __slots__ = ("_data", "_memory", "_window")

    def __init__(self, data: Readable, window: Window) -> None:
        self._data = data
        self._window = window
        self._memory = memoryview(b"")

    def read(self, at: int, length: int, held: bool) -> tuple[int, int, memoryview | None]:
        """The masked checksum of the `length` bytes behind the header at `at`, the one stored behind them, and them.

        They are None unless they are to be `held`; the view is good until the next call. The stream must hold them,
        and the window their header. A stored checksum of -1 is none: the stream got shorter meanwhile.
        """
        window, begin = self._window, at + HEADER
        here = min(window.base + window.fill - begin, length)
        step = _STEP if held else _PASSING
        room = self._room((length if held else min(length - here, step)) + FOOTER + _AHEAD)
        known = window.peek(begin, here)
        crc, to = crc32c(known), 0
        if held:
            room[:here], to = known, here
        while length - here > step:
            part = room[to : to + step]
            if self._data.read_into(begin + here, part) < step:
                return rotated(crc), -1, None
            crc = crc32c(part, crc)
            here += step
            to = here if held else 0
        end = to + length - here
        got = to + self._data.read_into(begin + here, room[to : end + FOOTER + _AHEAD])
        if got < end + FOOTER:
            return rotated(crc), -1, None
        crc = crc32c(room[to:end], crc)
        window.restart(begin + length + FOOTER, room[end + FOOTER : got])
        return rotated(crc), _CRC(room, end)[0], room[:length] if held else None

    def _room(self, size: int) -> memoryview:
        if len(self._memory) < size:
            self._memory = memoryview(bytearray(size))
        return self._memory[:size]
