"""Records of a file of which a part went through a text mode: each is had back by itself, where its checksums prove it.

Where a whole file was converted, all of it is undone (`unmangle`), and that is one cause. Here damaged ranges are
looked at one by one: CR LF becomes LF in them, and the records that then stand at their beginning are sound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER
from tfrtool.framing.walk import Batch, walk
from tfrtool.framing.window import Held, Readable
from tfrtool.verbs.reading import UNDONE

LARGEST = 16 << 20
"""Most bytes of damaged ranges next to one another that are looked at: they are held in memory."""
_OF_TENSORFLOW = re.compile(r" \(TensorFlow [^()]*\)$")
_CRLF = b"\r\n"
MESSAGE = f"{UNDONE}; without that its checksums hold"


def undo_within(
    events: Iterator[Batch | Damage], data: Readable, wholly: Callable[[Damage], bool]
) -> Iterator[Batch | Damage]:
    """What a walk of `data` found, with the records told of that CR LF for LF alone keeps from being sound.

    `data` can be read at any byte. `wholly` tells by the first damage whether the file as a whole was converted, and is
    left alone here; it is asked once, where there is something to undo.
    """
    is_whole: list[bool] = []
    claimed = [0, data.size or 0]

    def undone(held: list[Damage], more: int) -> list[Damage]:
        raw = _bytes(data, held)
        if _CRLF in raw:
            if not is_whole:
                is_whole.append(wholly(held[0]))
            if not is_whole[0]:
                return list(_undone(held, raw, more, claimed))
        for damage in held:
            _claim(damage, raw[damage.begin - held[0].begin :][:HEADER], claimed)
        return [_numbered(damage, more) for damage in held]

    held: list[Damage] = []
    more = 0
    """How many records were found beyond those that the walk counted."""
    for event in events:
        if isinstance(event, Damage) and _may_be_converted(event, held):
            held.append(event)
            continue
        if held:
            found = undone(held, more)
            more += _records(found) - _records(held)
            yield from found
            held = []
        if isinstance(event, Batch):
            yield event.replaced(first=event.first + more) if more else event
        elif _may_be_converted(event, held):
            held.append(event)
        else:
            yield _numbered(event, more)
    if held:
        yield from undone(held, more)


def _bytes(data: Readable, held: list[Damage]) -> bytes:
    view = memoryview(bytearray(held[-1].end - held[0].begin))
    return bytes(view[: data.read_into(held[0].begin, view)])


def _may_be_converted(damage: Damage, held: list[Damage]) -> bool:
    begin = held[0].begin if held else damage.begin
    return damage.rescue is None and damage.fault != "codec" and damage.end - begin <= LARGEST


def _records(damages: list[Damage]) -> int:
    return sum(damage.record is not None for damage in damages)


def _numbered(damage: Damage, more: int) -> Damage:
    return damage if damage.record is None or not more else replace(damage, record=damage.record + more)


def _undone(held: list[Damage], raw: bytes, more: int, claimed: list[int]) -> Iterator[Damage]:
    """The same ranges; where records are had back at the beginning of one, those, and what is left behind them.

    `claimed` holds how far the length of a record leads that is damaged otherwise, and the size of the stream.
    """
    base = held[0].begin
    at, given = base, 0
    number = next((one.record for one in held if one.record is not None), None)
    for damage in held:
        if at >= damage.end and at > base:  # it was taken in by records before
            continue
        if at > damage.begin:
            message = f"{damage.end - at:,} bytes that belong to no sound record"
            yield Damage(at, damage.end, "stray", message=message)
            at = damage.end
            continue
        rest = raw[damage.begin - base :]
        records = [] if damage.begin < claimed[0] else _leading(rest)
        if not records:
            _claim(damage, rest[:HEADER], claimed)
            yield _numbered(damage, more + given)
            at = damage.end
            continue
        first = damage.record if damage.record is not None else number
        for offset, (begin, end, pieces) in enumerate(records):
            moved = tuple((damage.begin + left, damage.begin + right) for left, right in pieces)
            record = None if first is None else first + more + given + offset
            span = damage.begin + begin, damage.begin + end
            seen = _OF_TENSORFLOW.search(damage.message) if not offset else None
            message = MESSAGE + (seen[0] if seen else "")
            yield Damage(*span, "data-crc", record, message=message, rescue=Rescue("rejoined", 1, moved))
        at = damage.begin + records[-1][1]
        given += len(records) - (damage.record is not None)


def _claim(damage: Damage, head: bytes, claimed: list[int]) -> None:
    """Note how far a damaged record leads whose header is sound: what stands there may be its content."""
    end = damage.begin + FRAMING + int.from_bytes(head[:8], "little")
    if header_is_sound(head) and end <= claimed[1]:
        claimed[0] = max(claimed[0], end)


def _leading(raw: bytes) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """The records that lead from the first byte on once CR LF is LF: where they begin and end, and the pieces of their
    payloads, all in bytes of `raw`. A record in which there was nothing to undo is none of them.
    """
    first = raw.find(_CRLF)
    if first < 0:
        return []
    parts = raw.split(_CRLF)
    undone = b"\n".join(parts)
    breaks: list[int] = []  # where in the undone bytes a CR was left out
    at = 0
    for part in parts[:-1]:
        at += len(part)
        breaks.append(at)
        at += 1
    return list(_frames(undone, breaks))


def _frames(undone: bytes, breaks: list[int]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    passed = 0
    for event in walk(Held(undone), payloads=True):
        if not isinstance(event, Batch):
            return
        for begin, end in zip(event.begins, event.ends, strict=True):
            begin, end = event.base + begin, event.base + end
            before = passed
            while passed < len(breaks) and breaks[passed] < begin:
                passed += 1
            inside = passed
            while passed < len(breaks) and breaks[passed] < end:
                passed += 1
            cuts = [begin, *breaks[inside:passed], end]
            pieces = [(left + inside + i, right + inside + i) for i, (left, right) in enumerate(pairwise(cuts))]
            pieces = [piece for piece in pieces if piece[0] < piece[1]] or [(begin + inside, begin + inside)]
            while passed < len(breaks) and breaks[passed] < end + FOOTER:
                passed += 1
            yield begin - HEADER + before, end + FOOTER + passed, pieces
