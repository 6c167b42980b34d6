"""Files whose writer put zeros in place of all checksums, read on where they are damaged.

Nothing proves such a file. What speaks for a frame is that another one follows, or the end: a length that leads to four
zeros, behind which a length and four zeros stand again. `walk` takes such a file for records where an unbroken chain of
lengths leads from its first byte to its last one; here the chain may break.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfrtool.framing import messages
from tfrtool.framing.crc import Masked, crc32c, header_is_sound, rotated
from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST, ZEROED
from tfrtool.framing.recovery.budget import WorkBudget
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.recovery.lost_headers import passed
from tfrtool.framing.stream import ByteStream, Window
from tfrtool.framing.walk import Batch, walk

_HEADER = re.compile(rb"(?=(?!\0{4}).{4}\0{8})", re.DOTALL)
"""A length of less than 4 GiB, and zeros as its checksum; matches may overlap."""
_BLOCK = 1 << 14
_CHAIN = 3
"""Frames that must follow one another where the way is found again; or fewer, if they lead to the end."""
_TOIL = 64
"""What looking at a place costs, in bytes touched one by one."""


def zeroed_frames(data: ByteStream, most: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the payload ranges of up to `most` first frames of a stream with zeros in place of checksums, and whether
    the stream ends after the last one."""
    window, at = Window(data), 0
    spans: list[tuple[int, int]] = []
    window.load(0, HEADER)
    while len(spans) < most and (end := _frame_end(window, at)):
        spans.append((at + HEADER, end - 4))
        at = end
    return spans, bool(spans) and window.ends_at(at)


def walk_zeroed(data: ByteStream) -> Iterator[Batch | Damage]:
    """Walk a stream whose first frame has zeros in place of checksums.

    It gives runs of such frames, each as one damaged range that nothing proves, and what lies between. From the first
    record that is proved by its checksums on, it is walked as any other.
    """
    return _Walker(data).walk()


class _Walker:
    def __init__(self, data: ByteStream) -> None:
        self.data = data
        self.window = Window(data)
        self.ahead = Lookahead(data, WorkBudget())

    def walk(self) -> Iterator[Batch | Damage]:
        at = number = 0
        while True:
            count, end = self._run(at)
            if count:
                yield self._written(at, end, number, count)
                number, at = number + count, end
            elif not self.window.load(at, 1) < self.window.fill:
                return
            elif self._is_record(at):
                yield from walk(self.data, payloads=True, start=at, number=number)
                return
            else:
                end = self._next(at)
                yield self._between(at, end, number)
                at = end
            self.data.discard_before(at)
            self.ahead.budget.advance(at)

    def _run(self, at: int) -> tuple[int, int]:
        """How many frames stand one after another from `at` on, and where they end."""
        count = 0
        while True:
            self.window.load(at, HEADER)
            end = _frame_end(self.window, at)
            if not end:
                return count, at
            count, at = count + 1, end

    def _written(self, at: int, end: int, number: int, count: int) -> Damage:
        head = bytes(self.window.peek(at, HEADER))
        want, got = Masked(rotated(crc32c(head[:8]))), Masked(ZEROED.header.unpack(head)[1])
        whole = not at and self.window.ends_at(end)
        said = (messages.wrong_writer if whole else messages.written)(ZEROED.words, count)
        seen = "" if at else messages.tensorflow("length-crc", at, end)
        recovery = Recovery("unverified", count, ((at, end),), ZEROED.name)
        return Damage(at, end, "length-crc", number, want, got, said, recovery, tensorflow=seen)

    def _between(self, at: int, end: int, number: int) -> Damage:
        head = bytes(self.window.peek(at, HEADER))
        if self.window.ends_at(end):
            if len(head) < HEADER:
                return Damage(at, end, "torn", number, detail=messages.torn_header(len(head)))
            length = ZEROED.length(head)
            if ZEROED.sound(head) and end - at - FRAMING < length < LONGEST:  # the rest of it is not there
                present, recovery = end - at - HEADER, None
                if present >= length and not any(self.window.peek(at + HEADER + length, present - length)):
                    recovery = Recovery("unverified", 1, ((at + HEADER, at + HEADER + length),))
                return Damage(
                    at,
                    end,
                    "torn",
                    number,
                    detail=messages.torn(length, present, recovery is not None),
                    recovery=recovery,
                )
        return passed(self.ahead, at, end)

    def _next(self, start: int) -> int:
        """Where frames go on behind `start`, or records begin, or the end of the stream."""
        at, window = start + 1, self.window
        while True:
            index = window.load(at, _BLOCK + HEADER)
            if window.fill - index < HEADER:
                return window.base + window.fill
            base, stop = window.base, min(index + _BLOCK, window.fill - HEADER + 1)
            places = {match.start() for match in _HEADER.finditer(window.buffer, index, stop + HEADER - 1)}
            while index < stop:
                found, index = kernel.scan(window.buffer, index, stop + HEADER - 1)
                places.update(found)
            for begin in sorted(base + place for place in places):
                if self._goes_on(begin) or self._is_record(begin):
                    return begin
            at = base + stop

    def _goes_on(self, begin: int) -> bool:
        if not self.ahead.budget.try_spend_slow(_TOIL):
            return False
        for _ in range(_CHAIN):
            begin = _frame_end(self.window, begin)
            if not begin or self.window.ends_at(begin):
                return bool(begin)
        return True

    def _is_record(self, begin: int) -> bool:
        """Whether a record that its checksums prove stands at `begin`."""
        head = bytes(self.window.peek(begin, HEADER))
        if not header_is_sound(head):
            return False
        length = ZEROED.length(head)
        end = begin + FRAMING + length
        if length >= LONGEST or not self.window.holds(end) or not self.ahead.budget.try_spend(length):
            return False
        return self.ahead.data_matches(begin + HEADER, end - 4)


def _frame_end(window: Window, at: int) -> int:
    """Where the frame at `at` ends, if it is one and all of it is there, else 0."""
    head = bytes(window.peek(at, HEADER))
    if not ZEROED.sound(head):
        return 0
    length = ZEROED.length(head)
    end = at + FRAMING + length
    return end if 0 < length < LONGEST and window.holds(end) and not any(window.peek(end - 4, 4)) else 0
