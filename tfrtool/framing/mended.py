"""What a damaged header still says: the lengths it may have held, read from its own redundancy."""

from __future__ import annotations

from typing import NamedTuple

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST
from tfrtool.framing.told import header_damage


class Readings(NamedTuple):
    """The lengths that the damaged header `head` at `start` may have held, the likeliest first.

    `end` is where the record ends if one of them leads to a boundary; None if none does.
    """

    start: int
    head: bytes
    lengths: list[int]
    end: int | None


def readings(ahead: Ahead, start: int, head: bytes) -> Readings:
    """Read a damaged header: as it stands, and with a few bits turned over."""
    as_it_stands = ahead.told(head)
    lengths = [length for length in (*ahead.mends(head), as_it_stands) if length < LONGEST]
    ends = (start + FRAMING + length for length in reversed(lengths))
    leading = [end for end in ends if ahead.fits(end) and ahead.boundary(end)] if any(head) else []
    if leading and leading[0] == start + FRAMING + as_it_stands:
        lengths = [as_it_stands, *lengths[:-1]]
        return Readings(start, head, lengths, leading[0])
    return Readings(start, head, lengths, leading[-1] if leading else None)


def mended(ahead: Ahead, read: Readings, number: int | None) -> Damage | None:
    """The record with its header mended, where the payload's checksum then holds."""
    start = read.start
    for length in sorted(read.lengths):  # only one can agree with its checksum, and the short ones cost least
        end = start + FRAMING + length
        if not ahead.fits(end) or not ahead.ledger.spend(length):
            continue
        # A sound header is 8 bytes and their checksum too: it is the next record's, not a payload.
        is_header = length == HEADER - 4 and ahead.sound(ahead.head(start + HEADER))
        if not is_header and ahead.data_holds(start + HEADER, end - 4):
            ahead.ledger.regain(length)
            message = words.mended(length, (length ^ ahead.told(read.head)).bit_count())
            rescue = Rescue("mended-header", 1, ((start + HEADER, end - 4),))
            return header_damage(start, end, number, read.head, message, rescue)
    return None


def may_be_mended(ahead: Ahead, start: int) -> bool:
    """Whether a record with a damaged header stands at `start`."""
    head = ahead.head(start)
    return len(head) == HEADER and mended(ahead, readings(ahead, start, head), None) is not None
