"""Records of a file of which a part went through a text mode: each is had back by itself, where its checksums prove it.

Where a whole file was converted, all of it is undone (`unmangle`), and that is one cause. Here damaged ranges are
looked at one by one: CR LF becomes LF in them, and the records that then stand at their beginning are sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tfrtool.framing import messages as words
from tfrtool.framing.crc import crc32c, header_is_sound, rotated
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER
from tfrtool.framing.stream import Readable
from tfrtool.framing.walk import Batch

LARGEST = 16 << 20
"""Most bytes of damaged ranges next to one another that are looked at: they are held in memory."""
_CRLF = b"\r\n"


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
            _claim(damage, raw, damage.begin - held[0].begin, claimed)
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
            detail = f"{damage.end - at:,} bytes that belong to no sound record"
            yield Damage(at, damage.end, "stray", detail=detail)
            at = damage.end
            continue
        records = [] if damage.begin < claimed[0] else list(_leading(raw, damage.begin - base))
        if not records:
            _claim(damage, raw, damage.begin - base, claimed)
            yield _numbered(damage, more + given)
            at = damage.end
            continue
        first = damage.record if damage.record is not None else number
        for offset, (begin, end, pieces) in enumerate(records):
            moved = tuple((base + left, base + right) for left, right in pieces)
            record = None if first is None else first + more + given + offset
            span = base + begin, base + end
            seen = "" if offset else damage.tensorflow
            rescue = Rescue("rejoined", 1, moved, line_feeds=True)
            yield Damage(*span, "data-crc", record, detail=words.undone(), rescue=rescue, tensorflow=seen)
        at = base + records[-1][1]
        given += len(records) - (damage.record is not None)


def _claim(damage: Damage, raw: bytes, at: int, claimed: list[int]) -> None:
    """Note how far a damaged record leads whose header is sound: what stands there may be its content.

    So no byte is looked at for two records that do not come back.
    """
    for head in (raw[at : at + HEADER], _joined(raw, _pieces(raw, at, HEADER))):
        if header_is_sound(head):
            end = damage.begin + FRAMING + int.from_bytes(head[:8], "little")
            if end <= claimed[1]:
                claimed[0] = max(claimed[0], end)


Pieces = list[tuple[int, int]]
"""Where bytes stand that belong together, with a CR between each and the next."""


def _leading(raw: bytes, at: int) -> Iterator[tuple[int, int, Pieces]]:
    """The records that lead on from `at` once CR LF is LF: where each begins and ends, and the pieces of its payload.

    Only as far as there is something to undo in them.
    """
    while True:
        header = _pieces(raw, at, HEADER)
        head = _joined(raw, header)
        if not header_is_sound(head):
            return
        payload = _pieces(raw, header[-1][1], int.from_bytes(head[:8], "little"))
        footer = _pieces(raw, payload[-1][1], FOOTER) if payload else []
        if not footer or len(header) + len(payload) + len(footer) == 3:
            return
        crc = 0
        for begin, end in payload:
            crc = crc32c(raw[begin:end], crc)
        if rotated(crc).to_bytes(FOOTER, "little") != _joined(raw, footer):
            return
        yield at, footer[-1][1], [one for one in payload if one[0] < one[1]] or payload[:1]
        at = footer[-1][1]


def _pieces(raw: bytes, at: int, size: int) -> Pieces:
    """The next `size` bytes from `at` on but for each CR before an LF; none where there are not as many."""
    found: Pieces = []
    while True:
        cr = raw.find(_CRLF, at, at + size + 1)
        if cr < 0 or cr - at >= size:
            found.append((at, at + size))
            return found if at + size <= len(raw) else []
        found.append((at, cr))
        size -= cr - at
        at = cr + 1


def _joined(raw: bytes, pieces: Pieces) -> bytes:
    return b"".join(raw[begin:end] for begin, end in pieces)
