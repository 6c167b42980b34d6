"""Taking records with lost headers off the two ends of a gap, by their data checksums alone.

Putting what was found about a stretch into damage values.
"""

from __future__ import annotations

from itertools import takewhile
from struct import Struct

from tfrtool.framing import messages as words
from tfrtool.framing.crc import Masked, crc32c, header_is_sound, rotated, unmasked
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.encode import header
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.crc_math import first_end, starts
from tfrtool.framing.recovery.gap_scan import TOILED, Scout
from tfrtool.framing.recovery.lookahead import Ahead

Payload = tuple[int, int]

_SURE = 1 << 16
"""Offsets among which one checksum is believed by itself: chance gives one in 65,536 such searches."""

_NEAR = 1 << 13
"""Offsets among which one of a dozen checksums is believed so."""


def peel(ahead: Ahead, start: int, end: int) -> list[Payload]:
    """The payloads of records with lost headers in the gap `[start, end)`, of which `start` and `end` are boundaries
    at most `TOILED` bytes apart.

    From the front: the payload begins 12 bytes behind the boundary, and ends where its own checksum follows it. From
    the back: it ends 4 bytes before the boundary, and begins at the one place that gives the checksum found there,
    wherever what was its header got to. Where records so found fill the gap, with 12 bytes before each, they prove
    one another; else each has to be found among few offsets, or with a part of its header still before it.
    """
    if end - start < FRAMING:
        return []
    if not ahead.ledger.toil(2 * (end - start)):
        return []
    data = ahead.read(start, end)
    front, at = _from_front(data)
    if at == len(data):
        return _placed(front, start)
    back, to = _from_back(ahead, data, at)
    if to != at:
        front, back = _sure(front), [p for p in back if p[1] - at <= _SURE or _announced(data, p)]
    return _placed([*front, *back], start)


def behind(ahead: Ahead, begin: int, end: int) -> list[Payload]:
    """The payloads of records with lost headers that end one after another at the boundary `end`, from `begin` on."""
    begin = max(begin, end - TOILED)
    if end - begin <= FRAMING or not ahead.ledger.toil(end - begin):
        return []
    data = ahead.read(begin, end)
    found, _ = _from_back(ahead, data, 0)
    return _placed([p for p in found if p[1] <= _SURE or _announced(data, p)], begin)


def in_front(ahead: Ahead, start: int) -> list[Payload]:
    """The payloads at the front of a gap of at least `TOILED` bytes, each found among few offsets."""
    if not ahead.ledger.toil(TOILED):
        return []
    front, _ = _from_front(ahead.read(start, start + TOILED))
    found = _sure(front)
    ahead.ledger.rest(found[-1][1] if found else 0)
    return _placed(found, start)


def _from_front(data: bytes) -> tuple[list[Payload], int]:
    found: list[Payload] = []
    at = 0
    while True:
        stop = first_end(data, at + HEADER)
        if stop is None or _proves_nothing(data, at + HEADER, stop):
            return found, at
        found.append((at + HEADER, stop))
        at = stop + 4


def _from_back(ahead: Ahead, data: bytes, floor: int) -> tuple[list[Payload], int]:
    found: list[Payload] = []
    to = len(data)
    while to - floor > 4 and (not found or ahead.ledger.toil(to - floor)):
        stop, begin = to, _begin(data, floor, to)
        # Where bytes are missing from the header of the payload found last, the one before it ends nearer to that.
        if begin is None and found and to - floor <= _NEAR and ahead.ledger.toil(HEADER * (to - floor)):
            nearer = ((stop, _begin(data, floor, stop)) for stop in range(to + 1, found[0][0] + 1))
            stop, begin = next((one for one in nearer if one[1] is not None), (to, None))
        if begin is None:
            break
        if data[max(0, begin - HEADER) : begin] == header(stop - 4 - begin):
            break  # its header is not lost, so this is content of a record that was passed over
        found.insert(0, (begin, stop - 4))
        to = max(floor, begin - HEADER)
    return found, to


def _begin(data: bytes, floor: int, to: int) -> int | None:
    """Where, from `floor` on, the payload begins whose checksum stands before `to`."""
    begins = starts(data[floor : to - 4], unmasked(int.from_bytes(data[to - 4 : to], "little")))
    if not begins or _proves_nothing(data, floor + begins[0], to - 4):
        return None
    return floor + begins[0]


def _proves_nothing(data: bytes, begin: int, end: int) -> bool:
    """Whether a payload and its checksum may be something else: a sound header, which is 8 bytes and their checksum, or
    the checksum of no bytes, which is the same everywhere."""
    return begin == end or header_is_sound(data[end - 8 : end + 4])


def _sure(front: list[Payload]) -> list[Payload]:
    """The first payloads that were each found among few offsets; those behind one that was not hang in the air."""
    return list(takewhile(lambda payload: payload[1] - payload[0] <= _SURE, front))


def _announced(data: bytes, payload: Payload) -> bool:
    """Whether at least two bytes of the payload's header stand right before it."""
    begin, end = payload
    return data[max(0, begin - 2) : begin] == header(end - begin)[-2:]


def _placed(payloads: list[Payload], start: int) -> list[Payload]:
    return [(start + begin, start + end) for begin, end in payloads]


Explained = tuple[list[Damage], int]
"""Damage, and the offset behind it where the walk goes on."""

_HEADER = Struct("<QI")


def header_damage(start: int, end: int, number: int | None, head: bytes, message: str, rescue: Rescue | None) -> Damage:
    """A record whose header disagrees with its checksum; of a header that is not all there nothing can be computed."""
    want, got = None, None
    if len(head) == HEADER:
        want, got = Masked(rotated(crc32c(head[:8]))), Masked(_HEADER.unpack(head)[1])
    return Damage(start, end, "length-crc", number, want, got, message, rescue)


def data_damage(
    start: int, end: int, number: int, crcs: tuple[int, int] | None, message: str, rescue: Rescue | None
) -> Damage:
    """A record whose payload disagrees with its checksum; `crcs` are the computed and the stored one."""
    want, got = (Masked(crcs[0]), Masked(crcs[1])) if crcs else (None, None)
    return Damage(start, end, "data-crc", number, want, got, message, rescue)


def passed(ahead: Ahead, start: int, end: int) -> Damage:
    """The stretch `[start, end)` as bytes that belong to no record."""
    return Scout(ahead.near, start, at=start, keep=start).passed(end)


def apart(ahead: Ahead, start: int, end: int, number: int, payloads: list[tuple[int, int]]) -> list[Damage]:
    """The stretch `[start, end)` as the records of these payloads, whose headers are lost, and what lies between."""
    found: list[Damage] = []
    at = start
    for begin, stop in payloads:
        first = max(at, begin - HEADER)
        if first > at:
            found.append(passed(ahead, at, first))
        in_place = begin - first == HEADER
        message = words.lost_header(stop - begin) if in_place else words.late_start(begin, stop - begin)
        rescue = Rescue("lost-header" if in_place else "late-start", 1, ((begin, stop),))
        found.append(header_damage(first, stop + 4, number, ahead.head(first), message, rescue))
        number, at = number + 1, stop + 4
    if payloads and at < end:
        found.append(passed(ahead, at, end))
    return found
