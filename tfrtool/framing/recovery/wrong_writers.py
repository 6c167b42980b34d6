"""Writers that got the checksums wrong in every record: their files hold whole payloads.

Finding the headers of a wrong writer: what `kernel.scan` does for sound ones, for any layout.

Looking ahead in the file of a wrong writer: its frames count as records beside sound ones, by the same rules.

What runs CRC-32C backwards serves writers of that checksum alone. So with plain CRC-32, payloads into which bytes were
put are not put together again, and of several records in a row whose headers are lost none is found.
"""

from __future__ import annotations

import re
from functools import cache
from struct import Struct
from zlib import crc32

from tfrtool.framing import messages
from tfrtool.framing.crc import Bytes, Masked, crc32c, header_is_sound, rotated
from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST, WRONG_WRITERS, ZEROED, Layout
from tfrtool.framing.recovery.gap_scan import GapScanner
from tfrtool.framing.recovery.header_bits import candidate_lengths, one_bit_apart
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.stream import Window

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


_FOOTER = Struct("<I")


class LayoutLookahead(Lookahead):
    """Looks ahead as `ahead` does, whose windows and budget it shares, for frames of `layout` too."""

    def __init__(self, ahead: Lookahead, layout: Layout) -> None:
        self.near, self.far, self.budget, self._known = ahead.near, ahead.far, ahead.budget, ahead._known
        self.layout = layout
        self.is_header = self._sound

    def _sound(self, head: Bytes) -> bool:
        return self.layout.sound(head) or header_is_sound(head)

    def declared_length(self, head: bytes) -> int:
        """The length that a header tells: to the right writer if it is sound, else to the wrong one."""
        return super().declared_length(head) if header_is_sound(head) else self.layout.length(head)

    def candidate_lengths(self, head: bytes) -> tuple[int, ...]:
        """The lengths that a damaged header may have held, those of the wrong writer first."""
        return *candidate_lengths(head, self.layout), *candidate_lengths(head)

    def scanner(self, start: int, at: int, keep: int | None, hold: int = 0) -> GapScanner:
        """Goes ahead over the gap from `start` on."""
        return LayoutScanner(self.near, self.layout, start, at, keep, hold)

    def data_matches(self, begin: int, end: int) -> bool:
        """Whether the checksum stored at `end` is that of `[begin, end)`, as either writer takes it.

        Zeros, which without the mask are the checksum of no bytes, prove nothing.
        """
        layout, stored = self.layout, self.peek(end, 4)
        if len(stored) < 4:
            return False
        crc = self.far.crc(begin, end, layout.crc)
        if layout.stored(crc) == layout.footer.unpack(stored)[0] and (crc or any(stored)):
            return True
        right = crc if layout.crc is crc32c else self.far.crc(begin, end)
        return bool(rotated(right) == _FOOTER.unpack(stored)[0])

    def checksums(self, begin: int, end: int) -> list[bytes]:
        """What may be stored behind `[begin, end)` as its checksum, as either writer takes it."""
        layout = self.layout
        by_layout = layout.footer.pack(layout.stored(self.far.crc(begin, end, layout.crc)))
        return [by_layout, *super().checksums(begin, end)]

    def find_insertions(self, begin: int, length: int, boundary: int) -> list[int]:
        """See `Lookahead`; for writers of CRC-32C alone."""
        return super().find_insertions(begin, length, boundary) if self.layout.crc is crc32c else []

    def _bare(self, stored: bytes) -> int:
        return self.layout.bare(self.layout.footer.unpack(stored)[0])

    def _hop(self, buffer: bytearray, index: int, fill: int) -> tuple[int, int, int]:
        count, last = 0, index
        while index + HEADER <= fill and self._sound(head := bytes(buffer[index : index + HEADER])):
            last = index
            index += FRAMING + self.declared_length(head)
            count += 1
        return count, index, last


class LayoutScanner(GapScanner):
    """Goes ahead over a gap in the file of a wrong writer."""

    def __init__(self, window: Window, layout: Layout, start: int, at: int, keep: int | None, hold: int) -> None:
        super().__init__(window, start, at, keep, hold)
        self._layout = layout
        self._other = 0

    def _scan(self, buffer: bytearray, at: int, end: int) -> tuple[list[int], int]:
        last = max(end - HEADER + 1, at)
        while at < last:
            stop = min(at + BLOCK, last)
            right, to = kernel.scan(buffer, at, stop + HEADER - 1)
            found = sorted({*headers(self._layout, buffer, at, stop), *right})
            if found:
                return found, stop
            at = max(stop, min(to, last))
        return [], last

    def _sum(self, view: memoryview) -> None:
        super()._sum(view)
        if self._layout.crc is not crc32c:
            self._other = self._layout.crc(view, self._other)

    def checksums(self, end: int) -> list[bytes]:
        """What may be stored at `end` as the checksum of the payload up to there."""
        right = super().checksums(end)
        layout = self._layout
        return [layout.footer.pack(layout.stored(self._crc if layout.crc is crc32c else self._other)), *right]

    def _agrees(self, boundary: int) -> bool:
        if super()._agrees(boundary):
            return True
        layout, stored = self._layout, self._stored(boundary)
        crc = self._crc if layout.crc is crc32c else self._other
        return bool(stored) and layout.footer.pack(layout.stored(crc)) == _FOOTER.pack(stored or 0)

    def _is_header(self, begin: int, boundary: int) -> bool:
        head = bytes(self.window.peek(begin, HEADER)) if boundary - begin == HEADER else b""
        return self._layout.sound(head) or header_is_sound(head)


_EARLY = 1 << 20
"""How far from the start of a stream a wrong writer's first whole record is looked for, in bytes."""


def wrong_writer(ahead: Lookahead, start: int, number: int, head: bytes) -> Damage | None:
    """The run of frames from `start` on that are sound in the layout of a wrong writer, as one damaged range.

    Zeros in place of checksums prove nothing, so for those the frames must lead from the first byte of the stream to
    its last one, and what they hold is called unproved.
    """
    runs = [(layout, *_run(layout, ahead, start)) for layout in WRONG_WRITERS if layout.sound(head)]
    if not start and ZEROED.sound(head):
        count, end = _run(ZEROED, ahead, start)
        runs = [(ZEROED, count, end)] if ahead.near.ends_at(end) else []
    # Several have to be looked at where the length reads the same from both ends, as that of no bytes does.
    layout, count, end = max(runs, key=lambda run: run[2], default=(ZEROED, 0, start))
    if not count:
        return None
    want, got = Masked(rotated(crc32c(head[:8]))), Masked(layout.header.unpack(head)[1])
    recovery = Recovery("unverified" if layout is ZEROED else "wrong-writer", count, ((start, end),), layout.name)
    return Damage(start, end, "length-crc", number, want, got, messages.wrong_writer(layout.words, count), recovery)


def writer_at(ahead: Lookahead, start: int, head: bytes) -> Layout | None:
    """The wrong writer whose header stands at `start`, before a record that is not sound.

    One that is known already; else another header of the same writer, or the end, has to stand where the record ends.
    At the start of a stream the header speaks for itself, as one of the right writer does.
    """
    known = ahead.layout if isinstance(ahead, LayoutLookahead) else None
    for layout in WRONG_WRITERS:
        if layout.sound(head) and layout.length(head) < LONGEST:
            end = start + FRAMING + layout.length(head)
            if layout is known or not start or (ahead.in_stream(end) and _goes_on(layout, ahead, end)):
                return layout
    return None


def early_writer(ahead: Lookahead) -> Layout | None:
    """The wrong writer of a stream whose first record is damaged, by a whole record of it near the start.

    Behind that one another header of the same writer has to stand, or the end of the stream: three checksums, or two
    and a record that ends with the stream.
    """
    near = ahead.near
    for at in range(0, _EARLY, BLOCK):
        index = near.load(at, BLOCK + HEADER - 1)
        stop = min(index + BLOCK, near.fill - HEADER + 1)
        base = near.base
        for layout in WRONG_WRITERS:
            for place in headers(layout, near.buffer, index, max(index, stop)):
                if _is_whole(layout, ahead, base + place):
                    return layout
        if stop < index + BLOCK:
            break
    return None


def _is_whole(layout: Layout, ahead: Lookahead, begin: int) -> bool:
    length = layout.length(ahead.head(begin))
    end = begin + FRAMING + length
    if not ahead.in_stream(end) or not _goes_on(layout, ahead, end) or not ahead.budget.try_spend(length):
        return False
    return _footer_holds(layout, ahead.far, begin + HEADER, end - 4)


def confined(ahead: Lookahead, layout: Layout, start: int, end: int, number: int) -> Damage:
    """The record `[start, end)` of a wrong writer, whose payload does not agree with its checksum."""
    length, first = end - start - FRAMING, start + HEADER
    want = layout.stored(ahead.far.crc(first, end - 4, layout.crc))
    if one_bit_apart(want, layout.footer.unpack(ahead.peek(end - 4, 4))[0]):
        recovery = Recovery("stored-checksum", 1, ((first, end - 4),))
        return Damage(start, end, "data-crc", number, detail=messages.checksum_flipped(length), recovery=recovery)
    return Damage(start, end, "data-crc", number, detail=messages.data_unsound(length))


def data_by_a_wrong_writer(ahead: Lookahead, start: int, end: int, crc: int) -> Recovery | None:
    """What proves the payload of the record `[start, end)`, behind a sound header, where its checksum is a wrong one.

    `crc` is its bare CRC-32C. Four zeros prove nothing.
    """
    stored = ahead.peek(end - 4, 4)
    if len(stored) < 4 or not any(stored):
        return None
    plain: int | None = None
    for layout in WRONG_WRITERS:
        value = crc
        if layout.crc is not crc32c:
            plain = value = ahead.far.crc(start + HEADER, end - 4, layout.crc) if plain is None else plain
        if layout.footer.pack(layout.stored(value)) == stored:
            return Recovery("wrong-writer", 1, ((start + HEADER, end - 4),), writer=layout.name)
    return None


def may_be_wrong(head: bytes) -> bool:
    """Whether any wrong writer's checksum fits this header; gaps are many, so this is quick."""
    length, stored = head[:8], head[8:HEADER]
    plain, castagnoli = crc32(length), crc32c(length)
    little = int.from_bytes(stored, "little")
    if little in (plain, castagnoli, 0):
        return True
    return little == rotated(plain) or int.from_bytes(stored, "big") == rotated(castagnoli)


def _goes_on(layout: Layout, ahead: Lookahead, end: int) -> bool:
    return layout.sound(ahead.head(end)) or ahead.near.ends_at(end)


def _run(layout: Layout, ahead: Lookahead, at: int) -> tuple[int, int]:
    """How many frames of `layout` stand one after another from `at` on, and where they end."""
    count, far = 0, ahead.far
    while True:
        index = far.load(at, HEADER)
        if far.fill - index < HEADER:
            return count, at
        length, stored = layout.header.unpack_from(far.buffer, index)
        end = at + FRAMING + length
        sound = layout.stored(layout.crc(far.buffer[index : index + 8])) == stored and length < LONGEST
        if not sound or (layout is ZEROED and not length) or not far.holds(end):
            return count, at
        if ahead.budget.exhausted and not _goes_on(layout, ahead, end):
            return count, at
        if not _footer_holds(layout, far, at + HEADER, end - 4):
            ahead.budget.charge(length)
            return count, at
        count, at = count + 1, end
        ahead.budget.advance(at)


def _footer_holds(layout: Layout, far: Window, begin: int, end: int) -> bool:
    value = far.crc(begin, end, layout.crc)
    index = far.load(end, 4)
    return far.fill - index >= 4 and layout.stored(value) == layout.footer.unpack_from(far.buffer, index)[0]
