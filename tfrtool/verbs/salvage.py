"""What becomes of each stretch of a damaged file: the decisions of repair, and the bytes that they keep.

Nothing here invents. A payload comes back where a checksum that stands in the file proves it, or where the user asked
for more and it is said so. Every other byte is dropped, and can be had apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfrtool.framing.algebra import flipped_bit
from tfrtool.framing.crc import crc32c, unmasked
from tfrtool.framing.damage import Damage
from tfrtool.framing.layout import FRAMING, HEADER, LAYOUTS
from tfrtool.framing.window import Readable, Window
from tfrtool.payload.kinds import fits
from tfrtool.report import Action, Kind, Outcome, Range

LARGEST_FIXED = 64 << 10
"""Largest payload whose bits are corrected, in bytes: chance makes one of 8,000 such look correctable."""

_STEP = 1 << 20


@dataclass(slots=True)
class Payload:
    """A payload to be written: bytes at hand, or ranges of the stream to be copied."""

    pieces: tuple[Range, ...] = ()
    data: bytes | None = None


class Salvage:
    """Decides over the damage of one stream, in its order."""

    def __init__(self, data: Readable, kind: Kind | None, *, fix_bits: bool, keep_unverified: bool) -> None:
        self.data = data
        self.kind = kind
        self.fix_bits = fix_bits
        self.keep_unverified = keep_unverified
        self._used: list[Range] = []

    def decide(self, damage: Damage) -> tuple[Outcome, Iterator[Payload]]:
        """What becomes of one damaged range, and the payloads to write for it."""
        self._used = [used for used in self._used if used[1] > damage.begin]
        rescue = damage.rescue
        if rescue and rescue.how != "unproved":
            return self._keep(damage, "restored", rescue.pieces, rescue.layout)
        if self.fix_bits:
            fixed = self._fixed(damage)
            if fixed is not None:
                data, evidence = fixed
                return Outcome(damage, "corrected", 1, (), evidence), iter([Payload(data=data)])
        if self.keep_unverified and rescue and self._parses(rescue.pieces, rescue.layout):
            return self._keep(damage, "kept", rescue.pieces, rescue.layout)
        dropped = _without((damage.begin, damage.end), self._used)
        action: Action = "dropped" if dropped or damage.begin == damage.end else "restored"
        fixable = bool(dropped) and not self.fix_bits and self._confined(damage) is not None
        return Outcome(damage, action, 0, dropped, fixable=fixable), iter(())

    def _keep(
        self, damage: Damage, action: Action, pieces: tuple[Range, ...], layout: str
    ) -> tuple[Outcome, Iterator[Payload]]:
        if layout:
            assert damage.rescue is not None
            return Outcome(damage, action, damage.rescue.records, ()), frames_of(self.data, pieces[0], layout)
        used = [(pieces[0][0] - HEADER, pieces[0][0]), *pieces, (pieces[-1][1], pieces[-1][1] + 4)]
        self._used.extend(used)
        dropped = _without((damage.begin, damage.end), used)
        return Outcome(damage, action, 1, dropped), iter([Payload(pieces)])

    def _confined(self, damage: Damage) -> bytes | None:
        """The damaged payload, where it is small and lies between a sound header and its own checksum."""
        size = damage.end - damage.begin - FRAMING
        if damage.fault != "data-crc" or damage.rescue or damage.got is None or not 0 < size <= LARGEST_FIXED:
            return None
        raw = _read(self.data, damage.begin, damage.end)
        if int.from_bytes(raw[:8], "little") != size or int.from_bytes(raw[-4:], "little") != damage.got:
            return None
        return raw[HEADER:-4]

    def _fixed(self, damage: Damage) -> tuple[bytes, str] | None:
        """The payload with one bit turned over, if that gives its checksum; only where the record is confined."""
        payload = bytearray(self._confined(damage) or b"")
        bit = flipped_bit(payload, unmasked(damage.got)) if payload and damage.got is not None else None
        if bit is None or damage.got is None:
            return None
        payload[bit // 8] ^= 1 << bit % 8
        if crc32c(payload) != unmasked(damage.got) or (self.kind not in (None, "unknown") and self._misfits(payload)):
            return None
        chance = 8 * len(payload) / 2**32
        place = f"bit {bit % 8} of byte {bit // 8} of the payload turned over; other damage would look so once in"
        return bytes(payload), f"{place} {round(1 / chance):,} cases"

    def _misfits(self, payload: bytes | bytearray) -> bool:
        return self.kind is not None and fits(memoryview(payload), self.kind) is not None

    def _parses(self, pieces: tuple[Range, ...], layout: str) -> bool:
        """Whether payloads that nothing proves are at least messages of the kind of the file."""
        if layout:
            return all(self._is_message(payload.pieces) for payload in frames_of(self.data, pieces[0], layout))
        return self._is_message(pieces)

    def _is_message(self, pieces: tuple[Range, ...]) -> bool:
        payload = b"".join(_read(self.data, begin, end) for begin, end in pieces)
        kind = self.kind
        if kind in (None, "unknown"):
            from tfrtool.payload.kinds import kind_of

            kind = kind_of(payload)
        return kind not in (None, "unknown") and fits(memoryview(payload), kind) is None


def frames_of(data: Readable, span: Range, layout: str) -> Iterator[Payload]:
    """The payloads of the frames that fill `span`, written in the layout of that name."""
    window, header = Window(data), LAYOUTS[layout].header
    at, end = span
    while at < end:
        index = window.load(at, HEADER)
        length: int = header.unpack_from(window.buffer, index)[0]
        yield Payload(((at + HEADER, at + HEADER + length),))
        at += FRAMING + length


def copied(data: Readable, pieces: tuple[Range, ...]) -> Iterator[memoryview]:
    """The bytes of ranges of a stream, in views that are good until the next is asked for."""
    view = memoryview(bytearray(min(_STEP, max((end - begin for begin, end in pieces), default=0))))
    for begin, end in pieces:
        while begin < end:
            got = data.read_into(begin, view[: min(len(view), end - begin)])
            if not got:
                return
            yield view[:got]
            begin += got


def _read(data: Readable, begin: int, end: int) -> bytes:
    view = memoryview(bytearray(end - begin))
    return bytes(view[: data.read_into(begin, view)])


def _without(span: Range, covers: list[Range]) -> tuple[Range, ...]:
    """What is left of a range once others are taken away."""
    at, end = span
    left = []
    for begin, stop in sorted(covers):
        if stop <= at or begin >= end:
            continue
        if begin > at:
            left.append((at, begin))
        at = max(at, stop)
    if at < end:
        left.append((at, end))
    return tuple(left)
