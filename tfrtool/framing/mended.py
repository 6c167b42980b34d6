"""What a damaged header still says: the length it held, read from its own redundancy."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST
from tfrtool.framing.mend import mends
from tfrtool.framing.told import header_damage

_HEADER = Struct("<QI")


def mended(ahead: Ahead, start: int, number: int | None) -> Damage | None:
    """The record at `start` with its header mended, where the payload's checksum then holds."""
    head = ahead.head(start)
    if len(head) < HEADER:
        return None
    as_it_stands: int = _HEADER.unpack(head)[0]
    for length in _lengths(ahead, start, head):
        end = start + FRAMING + length
        if not ahead.fits(end) or not ahead.ledger.spend(length):
            continue
        if ahead.data_holds(start + HEADER, end - 4):
            message = words.mended(length, (length ^ as_it_stands).bit_count())
            rescue = Rescue("mended-header", 1, ((start + HEADER, end - 4),))
            return header_damage(start, end, number, head, message, rescue)
    return None


def known_end(ahead: Ahead, start: int, head: bytes) -> int | None:
    """Where the record at `start` ends if its damaged header, mended or as it stands, still points at a boundary."""
    if not any(head):
        return None
    for length in _lengths(ahead, start, head):
        if _leads_on(ahead, start, length):
            return start + FRAMING + length
    return None


def _lengths(ahead: Ahead, start: int, head: bytes) -> Iterator[int]:
    """The lengths that a damaged header may have held, the likeliest first."""
    as_it_stands: int = _HEADER.unpack(head)[0]
    if _leads_on(ahead, start, as_it_stands):
        yield as_it_stands
    for length in mends(head):
        if length < LONGEST:
            yield length
    if as_it_stands < LONGEST:
        yield as_it_stands


def _leads_on(ahead: Ahead, start: int, length: int) -> bool:
    end = start + FRAMING + length
    return length < LONGEST and ahead.fits(end) and ahead.boundary(end)
