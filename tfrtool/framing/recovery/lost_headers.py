"""Taking records with lost headers off the two ends of a gap, by their data checksums alone.

Putting what was found about a stretch into damage values.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import messages
from tfrtool.framing.crc import Masked, crc32c, header_is_sound, rotated, unmasked
from tfrtool.framing.damage import Damage, Method, Recovery
from tfrtool.framing.encode import header
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.crc_math import first_end, starts
from tfrtool.framing.recovery.gap_scan import SEARCHED, GapScanner
from tfrtool.framing.recovery.lookahead import Lookahead

Payload = tuple[int, int]

_LEFT = 3
"""Bytes of its header that prove a payload: by chance they match once in 2**24, at each of up to 2**20 offsets whose
checksum matches once in 2**32."""
_NEAR = 1 << 13
"""Largest stretch in which several places are tried as the end of a payload, in bytes."""


def find_both_ends(ahead: Lookahead, start: int, end: int) -> list[Payload]:
    """Return the payloads of records with lost headers in the gap `[start, end)`, whose ends are boundaries at most
    `SEARCHED` bytes apart.

    From the front: the payload begins 12 bytes behind the boundary, and ends where its own checksum follows it. From
    the back: it ends 4 bytes before the boundary, and begins at the one place that gives the checksum found there,
    wherever what was its header got to. `split_by_payloads` says which of them are proved.
    """
    if end - start < FRAMING or not ahead.budget.try_spend_slow(2 * (end - start)):
        return []
    data = ahead.read(start, end)
    front, at = _from_front(data)
    back = [] if at == len(data) else _from_back(ahead, data, at)
    return _placed([*front, *back], start)


def find_forward(ahead: Lookahead, start: int) -> list[Payload]:
    """Return the payloads at the front of a gap of at least `SEARCHED` bytes, one behind the other."""
    if not ahead.budget.try_spend_slow(SEARCHED):
        return []
    found, at = _from_front(ahead.read(start, start + SEARCHED))
    ahead.budget.refund_slow(at)
    return _placed(found, start)


def find_backward(ahead: Lookahead, begin: int, end: int) -> list[Payload]:
    """The payloads of records with lost headers that end one after another at the boundary `end`, from `begin` on."""
    begin = max(begin, end - SEARCHED)
    if end - begin <= FRAMING or not ahead.budget.try_spend_slow(end - begin):
        return []
    data = ahead.read(begin, end)
    return _placed(_from_back(ahead, data, 0), begin)


def _from_front(data: bytes) -> tuple[list[Payload], int]:
    found: list[Payload] = []
    at = 0
    while True:
        stop = first_end(data, at + HEADER)
        if stop is None or _proves_nothing(data, at + HEADER, stop):
            return found, at
        found.append((at + HEADER, stop))
        at = stop + 4


def _from_back(ahead: Lookahead, data: bytes, floor: int) -> list[Payload]:
    found: list[Payload] = []
    to = len(data)
    while to - floor > 4 and (not found or ahead.budget.try_spend_slow(to - floor)):
        stop, begin = to, _begin(data, floor, to)
        # Where bytes are missing from the header of the payload found last, the one before it ends nearer to that.
        if begin is None and found and to - floor <= _NEAR and ahead.budget.try_spend_slow(HEADER * (to - floor)):
            nearer = ((stop, _begin(data, floor, stop)) for stop in range(to + 1, found[0][0] + 1))
            stop, begin = next((one for one in nearer if one[1] is not None), (to, None))
        if begin is None:
            break
        if data[max(0, begin - HEADER) : begin] == header(stop - 4 - begin):
            break  # its header is not lost, so this is content of a record that was passed over
        found.insert(0, (begin, stop - 4))
        to = max(floor, begin - HEADER)
    return found


def _begin(data: bytes, floor: int, to: int) -> int | None:
    """Where, from `floor` on, the payload begins whose checksum stands before `to`."""
    begins = starts(data[floor : to - 4], unmasked(int.from_bytes(data[to - 4 : to], "little")))
    # Where several places agree, as in constant payloads, none is proved.
    if len(begins) != 1 or _proves_nothing(data, floor + begins[0], to - 4):
        return None
    return floor + begins[0]


def _proves_nothing(data: bytes, begin: int, end: int) -> bool:
    """Whether a payload and its checksum may be something else: a sound header, which is 8 bytes and their checksum, or
    the checksum of no bytes, which is the same everywhere."""
    return begin == end or header_is_sound(data[end - 8 : end + 4])


def _placed(payloads: list[Payload], start: int) -> list[Payload]:
    return [(start + begin, start + end) for begin, end in payloads]


_HEADER = Struct("<QI")


def header_damage(
    start: int, end: int, number: int | None, head: bytes, message: str, recovery: Recovery | None
) -> Damage:
    """A record whose header disagrees with its checksum; of a header that is not all there nothing can be computed."""
    want, got = None, None
    if len(head) == HEADER:
        want, got = Masked(rotated(crc32c(head[:8]))), Masked(_HEADER.unpack(head)[1])
    return Damage(start, end, "length-crc", number, want, got, message, recovery)


def data_damage(
    start: int, end: int, number: int, crcs: tuple[int, int] | None, message: str, recovery: Recovery | None
) -> Damage:
    """A record whose payload disagrees with its checksum; `crcs` are the computed and the stored one."""
    want, got = (Masked(crcs[0]), Masked(crcs[1])) if crcs else (None, None)
    return Damage(start, end, "data-crc", number, want, got, message, recovery)


def passed(ahead: Lookahead, start: int, end: int) -> Damage:
    """The stretch `[start, end)` as bytes that belong to no record."""
    return GapScanner(ahead.near, start, at=start, keep=start).passed(end)


def split_by_payloads(
    ahead: Lookahead, start: int, end: int, number: int, payloads: list[Payload], declared: int | None = None
) -> list[Damage]:
    """The stretch `[start, end)` as the records of these payloads, whose headers are lost, and what lies between.

    A payload whose checksum was found among many offsets is proved where two are found one behind the other, where it
    fills the stretch, where some bytes of its header are left, or where it has the `declared` length of the damaged
    record before the stretch. Else it is unverified.
    """
    found: list[Damage] = []
    at = start
    for i, (begin, stop) in enumerate(payloads):
        first = max(at, begin - HEADER)
        if first > at:
            found.append(passed(ahead, at, first))
        follows = i + 1 < len(payloads) and payloads[i + 1][0] - HEADER <= stop + 4
        is_proved = (first == at and (i > 0 or stop + 4 == end)) or follows or stop - begin == declared
        in_place = begin - first == HEADER
        message = messages.lost_header(stop - begin) if in_place else messages.late_start(begin, stop - begin)
        method: Method = "lost-header" if in_place else "shifted-payload"
        if not is_proved and _header_left(ahead, at, begin, stop - begin) < _LEFT:
            method = "unverified"
        recovery = Recovery(method, 1, ((begin, stop),))
        found.append(header_damage(first, stop + 4, number, ahead.head(first), message, recovery))
        number, at = number + 1, stop + 4
    if payloads and at < end:
        found.append(passed(ahead, at, end))
    return found


def _header_left(ahead: Lookahead, start: int, begin: int, length: int) -> int:
    """How many bytes of the header are left: its last ones before the payload, and its first ones at `start`."""
    whole = header(length)
    before, front = ahead.peek(max(start, begin - HEADER), min(HEADER, begin - start)), ahead.head(start)
    behind = next((n for n in range(len(before)) if before[-1 - n] != whole[-1 - n]), len(before))
    return behind + next((n for n in range(len(front)) if front[n] != whole[n]), len(front))
