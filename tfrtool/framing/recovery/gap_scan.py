"""Going ahead over a gap: finding sound headers, and taking in what is passed over, in one pass."""

from __future__ import annotations

import re
from struct import Struct

from tfrtool.framing import messages as words
from tfrtool.framing.crc import crc32c, header_is_sound, rotated, unmasked
from tfrtool.framing.damage import Damage
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.crc_math import back_over_zeros, starts
from tfrtool.framing.stream import CAPACITY, Window

TOILED = 1 << 20
"""Largest stretch that is searched byte by byte for where a payload begins or goes on, in bytes."""
LOOK = 1 << 16
"""What looking at one more chain of records costs, in bytes of sight."""
CANDIDATE = 1 << 10
"""What trying one header costs, in bytes read at memory speed."""

_ALLOWANCE = 1 << 26
_EARN = 4
_SHARE = 8
_SKIPPED = 512
_NEAR = 20
_AT_HAND = 1 << 12
_SLOW_ALLOWANCE = 1 << 22
_SLOW_EARN = 8

_FOOTER = Struct("<I")
_ZEROS = bytes(CAPACITY)
_STRETCH = 64
_RUN = re.compile(b"\0+")


class Ledger:
    """What looking ahead may still cost: allowances, and shares of the farthest offset that was reached.

    So all looking ahead together is linear in the stream, however hostile it is. Four accounts, so that none starves
    another: `spend` pays for trying what may be a record, in bytes that are read and checked at memory speed; `owe` for
    what was read and was no sound record, so that sound ones are found however many they are; `look` for
    following chains to see whether they are content, in bytes hopped over; `toil` for bytes that Python touches one by
    one.
    """

    __slots__ = ("farthest", "looked", "refused", "risked", "slow", "spent")

    def __init__(self) -> None:
        self.farthest = 0
        self.refused = 0  # how often bytes were not searched one by one, since that could not be afforded
        self.spent = 0
        self.risked = 0
        self.looked = 0
        self.slow = 0

    def reach(self, offset: int) -> None:
        """Earn for the way to `offset`."""
        if offset > self.farthest:
            self.farthest = offset

    def spend(self, cost: int) -> bool:
        """Whether `cost` bytes can be afforded; if so they are paid."""
        if self.spent + cost > _ALLOWANCE + _EARN * self.farthest:
            return False
        self.spent += cost
        return True

    def regain(self, cost: int) -> None:
        """Get back what was spent, since it was not in vain: the walk goes on behind it, and that happens once."""
        self.spent -= cost

    def owe(self, cost: int) -> None:
        """Pay for what was read before it was known to be in vain, if need be on credit: ask `broke` before."""
        self.risked += cost

    @property
    def broke(self) -> bool:
        """Whether so much was read in vain that no record may be read any more that may be unsound."""
        return self.risked + CANDIDATE > _ALLOWANCE + _EARN * self.farthest

    def look(self, cost: int) -> None:
        """Pay for what was looked at, seen before by `sight`."""
        self.looked += cost

    def sight(self) -> int:
        """How far one gap may look ahead, in bytes: a part of what is left, so that gaps to come can look too."""
        return max(0, _ALLOWANCE + _EARN * self.farthest - self.looked) // _SHARE

    def toil(self, cost: int) -> bool:
        """Whether `cost` slow bytes can be afforded; if so they are paid."""
        if self.slow + cost > _SLOW_ALLOWANCE + self.farthest // _SLOW_EARN:
            self.refused += 1
            return False
        self.slow += cost
        return True

    @property
    def tired(self) -> bool:
        """Whether the half of all slow bytes is spent: what is left is for places where there is more to be found."""
        return 2 * self.slow > _SLOW_ALLOWANCE + self.farthest // _SLOW_EARN

    def rest(self, cost: int) -> None:
        """Get back slow bytes that were not in vain: records were found in them, and the walk goes on behind those."""
        self.slow -= cost


class Scout:
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
        self._marked = start
        self._until_mark = 0

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
                window.data.forget(max(self.start, self._taken - self._hold))
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

    def lost_bytes(self, boundary: int, ledger: Ledger) -> int | None:
        """Where the payload begins if bytes of its header are missing, and its checksum stands before `boundary`.

        The offset is one of `[start, start + 12)`. The CRC from there on is that of the few bytes before `start +
        12`, moved on by as many zeros as follow them, XOR the CRC of what follows: nothing is read again.
        """
        before, length = self._sample[:HEADER], boundary - 4 - self.start - HEADER
        if len(before) < HEADER or length < 0 or not ledger.spend(HEADER * length):
            return None
        self.take_in(boundary - 4)
        stored = self._stored(boundary)
        none = _over_zeros(0, length)
        for i in range(HEADER):
            if stored == rotated(_over_zeros(crc32c(before[i:]), length) ^ none ^ self._crc):
                ledger.regain(HEADER * length)
                return None if self._is_header(self.start + i, boundary) else self.start + i
        return None

    def _is_header(self, begin: int, boundary: int) -> bool:
        """Whether a payload and its checksum are a sound header, which is 8 bytes and their checksum too."""
        return boundary - begin == HEADER and header_is_sound(self.window.peek(begin, HEADER))

    def mark(self, at: int) -> None:
        """Remember the stretch before `at`, to find payloads later that begin in it."""
        self._marked = max(at, self.start + HEADER)
        self.take_in(self._marked)
        self._until_mark = self._crc

    def begins(self, boundary: int, ledger: Ledger) -> int | None:
        """Where before the mark the payload begins whose checksum stands before `boundary`, a good way behind it."""
        behind = boundary - 4 - self._marked
        if behind < 0 or self._marked - self.start > TOILED or not ledger.toil(self._marked - self.start + 256):
            return None
        self.take_in(boundary - 4)
        stored = self._stored(boundary)
        if stored is None:
            return None
        view = memoryview(bytearray(self._marked - self.start))
        got = self.window.data.read_into(self.start, view)
        wanted = self._until_mark ^ back_over_zeros(self._crc ^ unmasked(stored), behind)
        found = starts(bytes(view[:got]), wanted)
        return self.start + found[0] if found else None

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
            return Damage(self.start, end, "zeros", detail=words.zeros(end - self.start, zeros, begin))
        return Damage(self.start, end, "stray", detail=words.stray(end - self.start, self._sample[:_STRETCH]))


def _over_zeros(crc: int, length: int) -> int:
    """The CRC that goes on from `crc` over `length` zeros."""
    while length:
        step = min(length, len(_ZEROS))
        crc = crc32c(_ZEROS[:step] if step < len(_ZEROS) else _ZEROS, crc)
        length -= step
    return crc
