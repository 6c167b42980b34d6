"""Putting what was found about a stretch into damage values."""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.crc import Masked, crc32c, rotated
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import HEADER
from tfrtool.framing.scout import Scout

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
