"""Writers that got the checksums wrong in every record: their files hold whole payloads."""

from __future__ import annotations

from zlib import crc32

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.crc import Masked, crc32c, rotated
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST, WRONG_WRITERS, ZEROED, Layout
from tfrtool.framing.window import Window


def wrong_writer(ahead: Ahead, start: int, number: int, head: bytes) -> Damage | None:
    """The run of frames from `start` on that are sound in the layout of a wrong writer, as one damaged range.

    Zeros in place of checksums prove nothing, so for those the frames must lead from the first byte of the stream to
    its last one, and what they hold is called unproved.
    """
    if not _may_be(head):
        return None
    for layout in (*WRONG_WRITERS, ZEROED):
        if layout.stored(layout.crc(head[:8])) != layout.header.unpack(head)[1] or (layout is ZEROED and start):
            continue
        count, end = _run(layout, ahead, start)
        if not count and layout is not ZEROED:
            return _confined(layout, ahead, start, number, head)
        if not count or (layout is ZEROED and not ahead.near.ends_at(end)):
            continue
        want, got = Masked(rotated(crc32c(head[:8]))), Masked(layout.header.unpack(head)[1])
        rescue = Rescue("unproved" if layout is ZEROED else "wrong-writer", count, ((start, end),), layout.name)
        return Damage(start, end, "length-crc", number, want, got, words.wrong_writer(layout.words, count), rescue)
    return None


def _confined(layout: Layout, ahead: Ahead, start: int, number: int, head: bytes) -> Damage | None:
    """The record of a wrong writer with a damaged payload, if another one of that writer, or the end, stands behind."""
    length = layout.header.unpack(head)[0]
    end = start + FRAMING + length
    if length >= LONGEST or not ahead.fits(end):
        return None
    behind = ahead.head(end)
    sound = len(behind) == HEADER and layout.stored(layout.crc(behind[:8])) == layout.header.unpack(behind)[1]
    if not sound and not ahead.near.ends_at(end):
        return None
    return Damage(start, end, "data-crc", number, message=words.data_unsound(length))


def _may_be(head: bytes) -> bool:
    """Whether any wrong writer's checksum fits this header; gaps are many, so this is quick."""
    length, stored = head[:8], head[8:HEADER]
    plain, castagnoli = crc32(length), crc32c(length)
    little = int.from_bytes(stored, "little")
    if little in (plain, castagnoli, 0):
        return True
    return little == rotated(plain) or int.from_bytes(stored, "big") == rotated(castagnoli)


def _run(layout: Layout, ahead: Ahead, at: int) -> tuple[int, int]:
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
        if ahead.ledger.broke:
            return count, at
        if not _footer_holds(layout, far, at + HEADER, end - 4):
            ahead.ledger.owe(length)
            return count, at
        count, at = count + 1, end
        ahead.ledger.reach(at)


def _footer_holds(layout: Layout, far: Window, begin: int, end: int) -> bool:
    value = far.crc(begin, end, layout.crc)
    index = far.load(end, 4)
    return far.fill - index >= 4 and layout.stored(value) == layout.footer.unpack_from(far.buffer, index)[0]
