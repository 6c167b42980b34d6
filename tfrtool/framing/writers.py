"""Writers that got the checksums wrong in every record: their files hold whole payloads."""

from __future__ import annotations

from zlib import crc32

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.crc import Masked, crc32c, rotated
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.finding import BLOCK, headers
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST, WRONG_WRITERS, ZEROED, Layout
from tfrtool.framing.mend import one_bit_apart
from tfrtool.framing.variant import VariantAhead
from tfrtool.framing.window import Window

_EARLY = 1 << 20
"""How far from the start of a stream a wrong writer's first whole record is looked for, in bytes."""


def wrong_writer(ahead: Ahead, start: int, number: int, head: bytes) -> Damage | None:
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
    rescue = Rescue("unproved" if layout is ZEROED else "wrong-writer", count, ((start, end),), layout.name)
    return Damage(start, end, "length-crc", number, want, got, words.wrong_writer(layout.words, count), rescue)


def writer_at(ahead: Ahead, start: int, head: bytes) -> Layout | None:
    """The wrong writer whose header stands at `start`, before a record that is not sound.

    One that is known already; else another header of the same writer, or the end, has to stand where the record ends.
    At the start of a stream the header speaks for itself, as one of the right writer does.
    """
    known = ahead.layout if isinstance(ahead, VariantAhead) else None
    for layout in WRONG_WRITERS:
        if layout.sound(head) and layout.length(head) < LONGEST:
            end = start + FRAMING + layout.length(head)
            if layout is known or not start or (ahead.fits(end) and _goes_on(layout, ahead, end)):
                return layout
    return None


def early_writer(ahead: Ahead) -> Layout | None:
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


def _is_whole(layout: Layout, ahead: Ahead, begin: int) -> bool:
    length = layout.length(ahead.head(begin))
    end = begin + FRAMING + length
    if not ahead.fits(end) or not _goes_on(layout, ahead, end) or not ahead.ledger.spend(length):
        return False
    return _footer_holds(layout, ahead.far, begin + HEADER, end - 4)


def confined(ahead: Ahead, layout: Layout, start: int, end: int, number: int) -> Damage:
    """The record `[start, end)` of a wrong writer, whose payload does not agree with its checksum."""
    length, first = end - start - FRAMING, start + HEADER
    want = layout.stored(ahead.far.crc(first, end - 4, layout.crc))
    if one_bit_apart(want, layout.footer.unpack(ahead.peek(end - 4, 4))[0]):
        rescue = Rescue("stored-checksum", 1, ((first, end - 4),))
        return Damage(start, end, "data-crc", number, detail=words.checksum_flipped(length), rescue=rescue)
    return Damage(start, end, "data-crc", number, detail=words.data_unsound(length))


def data_by_a_wrong_writer(ahead: Ahead, start: int, end: int, crc: int) -> Rescue | None:
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
            return Rescue("wrong-writer", 1, ((start + HEADER, end - 4),), writer=layout.name)
    return None


def may_be_wrong(head: bytes) -> bool:
    """Whether any wrong writer's checksum fits this header; gaps are many, so this is quick."""
    length, stored = head[:8], head[8:HEADER]
    plain, castagnoli = crc32(length), crc32c(length)
    little = int.from_bytes(stored, "little")
    if little in (plain, castagnoli, 0):
        return True
    return little == rotated(plain) or int.from_bytes(stored, "big") == rotated(castagnoli)


def _goes_on(layout: Layout, ahead: Ahead, end: int) -> bool:
    return layout.sound(ahead.head(end)) or ahead.near.ends_at(end)


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
        if ahead.ledger.broke and not _goes_on(layout, ahead, end):
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
