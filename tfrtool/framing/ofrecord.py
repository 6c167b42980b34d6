"""The walk over OFRecord framing, which has no checksums.

Nothing here is proved. A record is taken for sound when its length is positive and fits, and its payload has the strict
structure of an OFRecord message, which the caller judges (`plausible`); what is found again after damage rests on the
same. OneFlow's reader refuses a length of zero, so zeros are never records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

from tfrtool.framing import messages
from tfrtool.framing.damage import Damage, Fault
from tfrtool.framing.layout import OFRECORD_HEADER as HEADER
from tfrtool.framing.ofrecord_entries import TAG, chained, entry_ends
from tfrtool.framing.recovery.budget import WorkBudget
from tfrtool.framing.stream import CAPACITY, ByteStream, Window
from tfrtool.framing.walk import Batch

Plausible = Callable[[memoryview], bool]

_LENGTH = Struct("<q")
_HELD = 1 << 26
"""Largest payload whose structure is judged whole; of a larger one, how its entries follow one another."""

_UNHEARD_OF = 1 << 31
"""Lengths that no writer of messages makes: they claim nothing of what is left of the stream."""

_STEP = 256
"""What trying one record costs beside reading it, in bytes."""

_MANY = 64
"""So many plausible records one behind the other are the file's, though the last of them is cut short."""

_REMEMBERED = 1 << 17
"""Offsets remembered of those from which no records lead to the end."""

_NEEDLE = b"\0\0\0\0\n"
"""The upper half of a length below 4 GiB, and the tag of the first map entry behind it."""


def walk_ofrecord(data: ByteStream, plausible: Plausible) -> Iterator[Batch | Damage]:
    """Walk OFRecord framing; the batches and damage tile the stream as those of `walk` do."""
    return _Walker(data, plausible).walk()


def hop_ofrecord(data: ByteStream) -> int | None:
    """The number of records where a chain of positive lengths leads exactly to the end of the stream, else None.

    Reads lengths alone; the stream must be one that can be read again.
    """
    window, at, count = Window(data), 0, 0
    fetch = CAPACITY
    while True:
        index = window.load(at, HEADER, fetch)
        if window.fill - index < HEADER:
            return count if window.fill == index and window.base + index == at else None
        length: int = _LENGTH.unpack_from(window.buffer, index)[0]
        to = at + HEADER + length
        if length <= 0 or (to > window.base + window.fill and not window.holds(to)):
            return None
        fetch = 4096 if length > 1 << 14 else CAPACITY
        at, count = to, count + 1


def hopped_ofrecord(data: ByteStream) -> Iterator[Batch]:
    """The records of a stream of which `hop_ofrecord` gave the number, with the lengths of their payloads."""
    window, at, number = Window(data), 0, 0
    fetch = CAPACITY
    while True:
        begin, lengths = at, list[int]()
        index = window.load(at, HEADER, fetch)
        while index + HEADER <= window.fill:
            length: int = _LENGTH.unpack_from(window.buffer, index)[0]
            if length <= 0:  # the file was changed meanwhile
                return
            lengths.append(length)
            index += HEADER + length
        if not lengths:
            return
        at = window.base + index
        fetch = 4096 if lengths[-1] > 1 << 14 else CAPACITY
        yield Batch(begin, at, number, len(lengths), begin, None, [], [], lengths)
        number += len(lengths)


def looks_like_ofrecord(data: ByteStream, plausible: Plausible, within: int) -> bool:
    """Whether a plausible record, followed by another or by the end, begins at 0 or in the first `within` bytes."""
    return _Walker(data, plausible).found(within)


class _Walker:
    def __init__(self, data: ByteStream, plausible: Plausible) -> None:
        self.data = data
        self.window = Window(data)
        self.ahead = Window(data)
        self._entries = Window(data, 1 << 12)
        self.plausible = plausible
        self.budget = WorkBudget()
        self.number = 0
        self._nowhere: set[int] = set()

    def walk(self) -> Iterator[Batch | Damage]:
        at, window, need = 0, self.window, HEADER
        while True:
            index, need = window.load(at, need), HEADER
            begins, ends, stop = self._frames(index)
            overrun = None
            if begins:
                behind = self._behind(stop)
                if behind is None and len(begins) > 1:
                    # What follows the last one is not in the window yet: they are looked at together.
                    stop, need = begins.pop() - HEADER, CAPACITY
                    ends.pop()
                elif behind is False:
                    overrun = self._overrun(window.base + begins[-1] - HEADER, window.base + stop)
            if overrun is not None:
                stop = begins.pop() - HEADER
                ends.pop()
            if begins:
                end = window.base + stop
                yield Batch(at, end, self.number, len(begins), window.base, window.view, begins, ends)
                self.number += len(begins)
                at = end
            if overrun is not None:
                yield self._lacking(at, overrun)
                self.number += 1
                at = overrun
            if begins or overrun is not None:
                self.data.discard_before(at)
                self.budget.advance(at)
                continue
            left = window.fill - index
            if not left:
                return
            length: int | None = _LENGTH.unpack_from(window.buffer, index)[0] if left >= HEADER else None
            if length is not None and length > 0:
                if left < HEADER + length <= CAPACITY:
                    index = window.load(at, HEADER + length)
                    if window.fill - index >= HEADER + length:
                        continue
                elif HEADER + length > CAPACITY and self._fits(at, length):
                    whole = self._payload(at + HEADER, length)
                    if self._is_sound(whole, at + HEADER, length):
                        end = at + HEADER + length
                        yield Batch(at, end, self.number, 1, at + HEADER, whole, [0], [length])
                        self.number += 1
                        at = end
                        self.data.discard_before(at)
                        continue
            damage = self._damage(at, length)
            if damage.record is not None:
                self.number += 1
            yield damage
            at = damage.end
            self.data.discard_before(at)

    def found(self, within: int) -> bool:
        """Whether a plausible record that is followed by one, or by the end, begins at 0 or in the first bytes."""
        end = self._stands(0)
        if end is not None:
            self.budget.advance(end)  # two large records at the start are tried once, and must not outrun the allowance
            if self._goes_on(end):
                return True
        return within > 0 and self._search(0, to_the_end=False, most=within)[0] is not None

    def _fits(self, at: int, length: int) -> bool:
        # Where the size is not known, whether a record fits is found out by reading that far, so that is bounded.
        return (self.ahead.end is not None or length < _UNHEARD_OF) and self.ahead.holds(at + HEADER + length)

    def _frames(self, index: int) -> tuple[list[int], list[int], int]:
        buffer, view, fill, plausible = self.window.buffer, self.window.view, self.window.fill, self.plausible
        begins: list[int] = []
        ends: list[int] = []
        while index + HEADER <= fill:
            length = _LENGTH.unpack_from(buffer, index)[0]
            end = index + HEADER + length
            if length <= 0 or end > fill or not plausible(view[index + HEADER : end]):
                break
            begins.append(index + HEADER)
            ends.append(end)
            index = end
        return begins, ends, index

    def _behind(self, stop: int) -> bool | None:
        """Whether a record or the end follows the last one of the window, which ends at `stop`; None where the window
        does not show it.
        """
        window = self.window
        left, at = window.fill - stop, window.base + stop
        if left <= HEADER:
            return None if window.fill == window.capacity else not left
        length: int = _LENGTH.unpack_from(window.buffer, stop)[0]
        if length <= 0 or HEADER + length <= left:  # the walk stopped at it
            return False
        return None if window.buffer[stop + HEADER] == TAG and self._fits(at, length) else False

    def _overrun(self, begin: int, end: int) -> int | None:
        """Where in the record `[begin, end)`, behind which none stands, the next one begins, since bytes are missing.

        It goes on past the end, as no content does, and a record or the end follows it.
        """
        if not self.budget.try_spend(end - begin):
            return None
        data = bytes(self.ahead.peek(begin, end - begin + HEADER))
        place = data.find(_NEEDLE, HEADER + 5)
        while place >= 0:
            stop = self._stands(begin + place - 4) if begin + place - 4 < end else None
            if stop is not None and stop > end and self._goes_on(stop):
                return begin + place - 4
            place = data.find(_NEEDLE, place + 1)
        return None

    def _lacking(self, at: int, end: int) -> Damage:
        length: int = _LENGTH.unpack(self.ahead.peek(at, HEADER))[0]
        message = messages.ofrecord_lacking(length, at + HEADER + length - end)
        return Damage(at, end, "payload", self.number, detail=message)

    def _payload(self, begin: int, length: int) -> memoryview | None:
        """The payload, or None for one that is too large to hold."""
        if length > _HELD:
            return None
        view = memoryview(bytearray(length))
        return view[: self.data.read_into(begin, view)]

    def _is_sound(self, payload: memoryview | None, begin: int, length: int) -> bool:
        if payload is None:
            return chained(self._entries, self.budget, begin, length)
        return self.plausible(payload)

    def _stands(self, at: int) -> int | None:
        """Where a plausible record that begins at `at` ends, or None."""
        head = self.ahead.peek(at, HEADER + 1)
        if len(head) <= HEADER:
            return None
        length: int = _LENGTH.unpack_from(head)[0]
        end = at + HEADER + length
        if length <= 0 or head[HEADER] != TAG or not self._fits(at, length):
            return None
        if not self.budget.try_spend(_STEP + (length if length <= _HELD else 0)):
            return None
        payload = self._payload(at + HEADER, length)
        return end if self._is_sound(payload, at + HEADER, length) else None

    def _damage(self, at: int, length: int | None) -> Damage:
        if length is None:
            end = at + len(self.ahead.peek(at, HEADER))
            return Damage(at, end, "torn", self.number, detail=f"{end - at} of the 8 bytes of a length are there")
        after = self._told_end(at)
        if after is not None:
            return self._named(at, after, length, after)
        end = at + HEADER + length
        fits = length > 0 and self._fits(at, length)
        if fits and (self.ahead.ends_at(end) or self._stands(end) is not None):
            return Damage(at, end, "payload", self.number, detail=messages.ofrecord_payload(length))
        if length == 0 and (self.ahead.ends_at(end) or self._stands(end) is not None):
            return self._named(at, end, length, end)  # a record of no bytes, whose neighbour is none the worse
        resume, stop = self._search(at, to_the_end=0 < length < _UNHEARD_OF and not fits)
        if resume is None and length > 0 and not fits:
            return Damage(at, stop, "torn", self.number, detail=messages.ofrecord_torn(length, stop - at - HEADER))
        return self._named(at, stop if resume is None else resume, length, stop)

    def _told_end(self, start: int) -> int | None:
        """Where the record at `start` ends, whatever its length says: behind one of the entries of its message, where
        another record stands. A record file in one of its values never begins there.
        """
        first = start + HEADER
        for at in entry_ends(self._entries, self.budget, first):
            if at - first > _HELD or not self.ahead.holds(at + 1):
                return None
            if self._stands(at) is not None:
                payload = self._payload(first, at - first) if self.budget.try_spend(at - start) else None
                return at if payload is not None and self.plausible(payload) else None
        return None

    def _named(self, at: int, end: int, length: int, stop: int) -> Damage:
        fault: Fault = "length"
        message = messages.ofrecord_length(length, stop - at - HEADER)
        if length == 0 and self._all_zero(at, end):
            fault, message = "zeros", messages.ofrecord_zeros(end - at)
        elif length > 0:
            message = f"a length of {length:,} that leads to no record"
        return Damage(at, end, fault, None if fault == "zeros" else self.number, detail=message)

    def _all_zero(self, at: int, end: int) -> bool:
        zeros = bytes(CAPACITY)
        while at < end:
            index = self.ahead.load(at, 1)
            n = min(self.ahead.fill - index, end - at)
            if n <= 0 or not self.ahead.buffer.startswith(zeros[:n], index):
                return False
            at += n
        return True

    def _search(self, start: int, *, to_the_end: bool, most: int | None = None) -> tuple[int | None, int]:
        """The next offset where a plausible record stands that is followed by the end or by another one.

        Returns it, or None, and the end of what was looked at. `to_the_end` demands that records lead from there
        exactly to the end of the stream, since all the rest is claimed by one torn record.
        """
        window, at = self.ahead, start + 1
        while most is None or at < most:
            index = window.load(at, CAPACITY)
            place = window.buffer.find(_NEEDLE, index + 4, window.fill)
            if place < 0:
                if window.fill < CAPACITY:
                    return None, window.base + window.fill
                at = window.base + window.fill - HEADER
                continue
            at = window.base + place - 4
            self.budget.advance(at)
            end = self._stands(at)
            if end is not None and (self._leads_to_end(end) if to_the_end else self._goes_on(end)):
                return at, at
            at += 1
        return None, at

    def _goes_on(self, end: int) -> bool:
        return self.ahead.ends_at(end) or self._stands(end) is not None or len(self.ahead.peek(end, HEADER)) < HEADER

    def _leads_to_end(self, at: int) -> bool:
        """Whether records lead from `at` to the end of the stream, or many of them to one that is cut short there.

        Where a chain has led to nothing is remembered, since the search meets each of its records again.
        """
        met: list[int] = []
        while not self.ahead.ends_at(at):
            known = at in self._nowhere
            end = None if known else self._stands(at)
            if end is None:
                if not known and len(met) >= _MANY and self._is_cut_short(at):
                    return True
                if len(self._nowhere) < _REMEMBERED:
                    self._nowhere.update((*met, at))
                return False
            met.append(at)
            at = end
        return True

    def _is_cut_short(self, at: int) -> bool:
        head = self.ahead.peek(at, HEADER)
        if len(head) < HEADER:
            return True
        length: int = _LENGTH.unpack(head)[0]
        return 0 < length < _UNHEARD_OF and not self._fits(at, length)
