"""Going ahead over a gap: finding sound headers, and taking in what is passed over, in one pass."""

from __future__ import annotations

import re
from struct import Struct

from tfrtool.framing import messages
from tfrtool.framing.crc import crc32c, header_is_sound, rotated
from tfrtool.framing.damage import Damage
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.budget import WorkBudget
from tfrtool.framing.stream import CAPACITY, Window

SEARCHED = 1 << 20
"""Largest stretch that is searched byte by byte for where a payload begins or goes on, in bytes."""

_SKIPPED = 512
_NEAR = 20
_AT_HAND = 1 << 12

_FOOTER = Struct("<I")
_ZEROS = bytes(CAPACITY)
_STRETCH = 64
_RUN = re.compile(b"\0+")


class GapScanner:
    """Goes ahead over one gap from `start` on.

    What it takes in is the CRC of everything from `start + 12` on, as the payload of a record with a lost header, and
    whether the bytes are zeros or text. Each byte is read once, however many headers are found. `keep` is the offset
    from which on the stream must stay readable; while it is None, only the last `hold` bytes that were passed over
    must. `until` is where the search gives up.
    """

    def __init__(self, window: Window, start: int, at: int, keep: int | None, hold: int = 0) -> None:
        self.window = window
        self.start = start
        self._hold = hold
        self.until: int | None = None
        self.at = at
        self.keep = keep
        self._taken = start
        self._crc = 0
        self._found: list[int] = []
        self._all_zero = True
        self._run = (start, start)
        self._open = start  # where the zeros begin that end what was passed over
        self._sample = b""
        # Most gaps are short, or the headers behind one are many: so little is searched at first, then more.
        self._span = _NEAR

    def next(self) -> int | None:
        """The next sound header at or after `at`, which moves behind its first byte.

        None at the end of the stream (then `at` is that end), and behind `until` (then `gave_up` is set).
        """
        window = self.window
        while True:
            if self.until is not None and self.at > self.until:
                return None
            while self._found:
                header = self._found.pop()
                if header >= self.at:
                    self.at = header + 1
                    return header
            self.take_in(self.at - FRAMING)
            if self.keep is None:
                window.data.discard_before(max(self.start, self._taken - self._hold))
            index = window.load(self._taken, _AT_HAND) + self.at - self._taken
            end = min(window.fill, index + self._span)
            self._span = min(4 * self._span, CAPACITY)
            found, stop = self._scan(window.buffer, index, end)
            self._found = [window.base + place for place in reversed(found)]
            if not found:
                if end == window.fill < CAPACITY:
                    self.at = window.base + end
                    return None
                self.at = window.base + stop

    def skip(self) -> None:
        """Pass over a stretch without looking for headers, since too many of those found were none of a record."""
        self.at += _SKIPPED

    @property
    def gave_up(self) -> bool:
        """Whether the search went behind `until`."""
        return self.until is not None and self.at > self.until

    def take_in(self, to: int) -> None:
        """Pass over everything before `to`."""
        window = self.window
        while self._taken < to:
            index = window.load(self._taken, 1)
            stop = index + to - self._taken
            if stop > window.fill:
                stop = window.fill
                if stop <= index:
                    return
            self._note(index, stop)
            payload = index + self.start + HEADER - self._taken
            if payload < stop:
                self._sum(window.view[payload if payload > index else index : stop])
            self._taken += stop - index

    def _scan(self, buffer: bytearray, at: int, end: int) -> tuple[list[int], int]:
        return kernel.scan(buffer, at, end)

    def _sum(self, view: memoryview) -> None:
        self._crc = crc32c(view, self._crc)

    def _note(self, index: int, stop: int) -> None:
        """See whether the next bytes are zeros, and where the longest run of zeros stands.

        A run shorter than `_STRETCH` counts only where it goes on from one part that is taken in to the next.
        """
        buffer, base = self.window.buffer, self.window.base
        size = stop - index
        if len(self._sample) < _STRETCH:
            self._sample += bytes(buffer[index : index + _STRETCH if size > _STRETCH else stop])
        if buffer.startswith(_ZEROS[:size], index):
            self._zeros(self._open, base + stop)
            return
        self._all_zero = False
        if not buffer[index]:
            match = _RUN.match(buffer, index, stop)
            index = match.end() if match else stop
            self._zeros(self._open, base + index)
        tail = stop
        zeros = buffer.find(_ZEROS[:_STRETCH], index, stop)
        while zeros >= 0:
            match = _RUN.match(buffer, zeros, stop)
            zeros_end = match.end() if match else stop
            self._zeros(base + zeros, base + zeros_end)
            if zeros_end == stop:
                tail = zeros
            zeros = buffer.find(_ZEROS[:_STRETCH], zeros_end, stop)
        while not buffer[tail - 1]:
            tail -= 1
        self._open = base + tail

    def _zeros(self, begin: int, end: int) -> None:
        if end - begin > self._run[1] - self._run[0]:
            self._run = (begin, end)

    def proves(self, boundary: int) -> bool:
        """Whether `[start, boundary)` is one record with a lost header: its data checksum is that of its payload."""
        if boundary - self.start < FRAMING:
            return False
        self.take_in(boundary - 4)
        return self._agrees(boundary) and not self._is_header(self.start + HEADER, boundary)

    def checksums(self, end: int) -> list[bytes]:
        """What may be stored at `end` as the checksum of `[start + 12, end)`: one for each writer of the file.

        `end` is not behind what is taken in, which is all but the last 16 bytes in front of `at`.
        """
        self.take_in(end)
        return [_FOOTER.pack(rotated(self._crc))]

    def _agrees(self, boundary: int) -> bool:
        return self._stored(boundary) == rotated(self._crc)

    def lost_bytes(self, boundary: int, budget: WorkBudget) -> int | None:
        """Where the payload begins if bytes of its header are missing, and its checksum stands before `boundary`.

        The offset is one of `[start, start + 12)`. The CRC from there on is that of the few bytes before `start +
        12`, moved on by as many zeros as follow them, XOR the CRC of what follows: nothing is read again.
        """
        before, length = self._sample[:HEADER], boundary - 4 - self.start - HEADER
        if len(before) < HEADER or length < 0 or not budget.try_spend(HEADER * length):
            return None
        self.take_in(boundary - 4)
        stored = self._stored(boundary)
        none = _over_zeros(0, length)
        for i in range(HEADER):
            if stored == rotated(_over_zeros(crc32c(before[i:]), length) ^ none ^ self._crc):
                budget.refund(HEADER * length)
                return None if self._is_header(self.start + i, boundary) else self.start + i
        return None

    def _is_header(self, begin: int, boundary: int) -> bool:
        """Whether a payload and its checksum are a sound header, which is 8 bytes and their checksum too."""
        return boundary - begin == HEADER and header_is_sound(self.window.peek(begin, HEADER))

    def _stored(self, boundary: int) -> int | None:
        index = self.window.load(boundary - 4, 4)
        if self.window.fill - index < 4:
            return None
        stored: int = _FOOTER.unpack_from(self.window.buffer, index)[0]
        return stored

    def passed(self, end: int) -> Damage:
        """The damage `[start, end)`, named by what was passed over there."""
        self.take_in(end)
        begin, stop = self._run
        zeros = stop - begin
        if self._all_zero or 2 * zeros >= end - self.start:
            return Damage(self.start, end, "zeros", detail=messages.zeros(end - self.start, zeros, begin))
        return Damage(self.start, end, "stray", detail=messages.stray(end - self.start, self._sample[:_STRETCH]))


def _over_zeros(crc: int, length: int) -> int:
    """The CRC that goes on from `crc` over `length` zeros."""
    while length:
        step = min(length, len(_ZEROS))
        crc = crc32c(_ZEROS[:step] if step < len(_ZEROS) else _ZEROS, crc)
        length -= step
    return crc
