"""What becomes of each stretch of a damaged file: the decisions of repair, and the bytes that they keep.

Nothing here invents. A payload comes back where a checksum that stands in the file proves it, or where the user asked
for more and it is said so. Every other byte is dropped, and can be had apart.

Sound frames in bytes that are dropped: content of a damaged record, or records that nothing tells from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from struct import Struct

from tfrtool.framing.crc import Masked, crc32c, unmasked
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER, LAYOUTS
from tfrtool.framing.recovery.crc_math import flipped_bit
from tfrtool.framing.recovery.header_bits import mends
from tfrtool.framing.stream import Readable, Window
from tfrtool.payload.kinds import fits
from tfrtool.report import Outcome
from tfrtool.types import Action, Kind, Range

LARGEST = 16 << 20
"""Largest range that is looked through, in bytes: it is held in memory."""
_WORK = 4
"""How often a range may be read over for headers that lead to nothing."""
_LENGTH = Struct("<Q")


def count_valid_frames(data: Readable, span: Range) -> int:
    """How many frames whose checksums hold, none in another, stand in a range of a stream; 0 for one that is too large.

    Work is linear in the range: the search ends where too many headers in it are sound and their payloads are not.
    """
    begin, end = span
    if not FRAMING <= end - begin <= LARGEST:
        return 0
    buffer = bytearray(end - begin)
    with memoryview(buffer) as view:
        size = data.read_into(begin, view)
        return _count(buffer, view, size)


def _count(buffer: bytearray, view: memoryview, size: int) -> int:
    count, at, last_end, left = 0, 0, 0, _WORK * size
    known: kernel.Known = {}
    while at + FRAMING <= size and left >= 0:
        headers, at = kernel.scan(buffer, at, size)
        for header in headers:
            length = _LENGTH.unpack_from(buffer, header)[0]
            stop = header + FRAMING + length
            if header < last_end or stop > size or left < 0:
                continue
            if kernel.walk(buffer, view, header, stop, known)[0]:
                count, last_end = count + 1, stop
            else:
                left -= FRAMING + length
        at = max(at, last_end)
    return count


LARGEST_FIXED = 64 << 10
"""Largest payload whose bits are corrected, in bytes: chance makes one of 8,000 such look correctable."""

_STEP = 1 << 20

_HOLE = bytes(8)
"""How a payload ends where zeros behind it are more likely those of a hole in the file than a checksum left out."""


@dataclass(slots=True)
class Payload:
    """A payload to be written: bytes at hand, or ranges of the stream to be copied."""

    pieces: tuple[Range, ...] = ()
    data: bytes | None = None


class RecoveryPolicy:
    """Decides over the damage of one stream, in its order.

    `unchecked` says that no payload of the stream agrees with its checksum though the headers do: then these checksums
    speak neither for a payload nor against it.
    """

    def __init__(
        self,
        data: Readable,
        kind: Kind | None,
        *,
        fix_bits: bool,
        keep_unverified: bool,
        unchecked: bool = False,
    ) -> None:
        self.data = data
        self.kind = kind
        self.unchecked = unchecked
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
        confined = None if self.fix_bits else self._confined(damage)
        evidence = self._without_checksum(damage) if rescue is None else ""
        if evidence:
            rescue = Rescue("unproved", 1, ((damage.begin + HEADER, damage.end - 4),))
            damage = replace(damage, rescue=rescue)
        if self.keep_unverified and rescue and rescue.layout:
            kept = self._those_that_parse(damage, rescue)
            if kept is not None:
                return kept
        elif self.keep_unverified and rescue and self._is_message(rescue.pieces):
            outcome, payloads = self._keep(damage, "kept", rescue.pieces, rescue.layout)
            return replace(outcome, evidence=evidence), payloads
        dropped = _without((damage.begin, damage.end), self._used)
        action: Action = "dropped" if dropped or damage.begin == damage.end else "restored"
        within = sum(count_valid_frames(self.data, span) for span in dropped)
        evidence = f"in it stand{'s' * (within == 1)} {within:,} whole frame{'s' * (within != 1)}" if within else ""
        fixable = bool(dropped) and confined is not None
        return Outcome(damage, action, 0, dropped, evidence, fixable=fixable, within=within), iter(())

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

    def _without_checksum(self, damage: Damage) -> str:
        """Why the checksum of a payload, behind a header that tells its length, says nothing of it; else no text."""
        begin, end = damage.begin + HEADER, damage.end - 4
        if damage.fault not in ("data-crc", "length-crc") or damage.got is None or begin >= end:
            return ""
        head, stored = _read(self.data, damage.begin, begin), _read(self.data, end, damage.end)
        if int.from_bytes(head[:8], "little") != end - begin:
            return ""
        zeros = not any(stored) and (damage.fault == "data-crc" or not any(head[8:]))
        if self.unchecked and damage.fault == "data-crc":
            return "no payload of the file agrees with its checksum"
        hole = zeros and _read(self.data, max(begin, end - len(_HOLE)), end) == _HOLE
        return "zeros stand where its checksum should be" if zeros and not hole else ""

    def _confined(self, damage: Damage) -> tuple[bytes, int] | None:
        """The damaged payload and its stored checksum, where it is small and lies between these and its header.

        A header with flipped bits counts where they are told and the length is then that of the record.
        """
        size = damage.end - damage.begin - FRAMING
        if damage.rescue or damage.got is None or not 0 < size <= LARGEST_FIXED:
            return None
        if damage.fault not in ("data-crc", "length-crc"):
            return None
        raw = _read(self.data, damage.begin, damage.end)
        head, stored = raw[:HEADER], int.from_bytes(raw[-4:], "little")
        length = int.from_bytes(head[:8], "little")
        if damage.fault == "data-crc":
            return (raw[HEADER:-4], stored) if length == size and stored == damage.got else None
        is_explained = size in mends(head) or (length == size and any(head))
        return (raw[HEADER:-4], stored) if is_explained else None

    def _fixed(self, damage: Damage) -> tuple[bytes, str] | None:
        """The payload with one bit turned over, if that gives its checksum; only where the record is confined."""
        confined = self._confined(damage)
        if confined is None:
            return None
        payload, wanted = bytearray(confined[0]), unmasked(Masked(confined[1]))
        bit = flipped_bit(payload, wanted)
        if bit is None:
            return None
        payload[bit // 8] ^= 1 << bit % 8
        if crc32c(payload) != wanted or (self.kind not in (None, "unknown") and self._misfits(payload)):
            return None
        chance = 8 * len(payload) / 2**32
        place = f"bit {bit % 8} of byte {bit // 8} of the payload turned over; other damage would look so once in"
        return bytes(payload), f"{place} {round(1 / chance):,} cases"

    def _misfits(self, payload: bytes | bytearray) -> bool:
        return self.kind is not None and fits(memoryview(payload), self.kind) is not None

    def _those_that_parse(self, damage: Damage, rescue: Rescue) -> tuple[Outcome, Iterator[Payload]] | None:
        """Frames one after another that nothing proves: those with messages of the kind of the file; None for none."""
        span, layout = rescue.pieces[0], rescue.layout
        others = [p.pieces[0] for p in frames_of(self.data, span, layout) if not self._is_message(p.pieces)]
        if len(others) == rescue.records:
            return None
        left = set(others)
        kept = (payload for payload in frames_of(self.data, span, layout) if payload.pieces[0] not in left)
        dropped = tuple((begin - HEADER, end + FOOTER) for begin, end in others)
        return Outcome(damage, "kept", rescue.records - len(others), dropped), kept

    def _is_message(self, pieces: tuple[Range, ...]) -> bool:
        """Whether a payload that nothing proves is at least a message of the kind of the file."""
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
