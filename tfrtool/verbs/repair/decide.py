"""Decide what becomes of each damaged range, and which bytes of it are kept.

Nothing is guessed. A payload is recovered where a checksum in the file proves it, or on request, which is then
reported. Every other byte is dropped and can be kept in a quarantine file.

Valid frames in dropped bytes are counted: they are content of a damaged record, or cannot be told from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from struct import Struct

from tfrtool.framing.crc import Masked, crc32c, unmasked
from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER, LAYOUTS
from tfrtool.framing.recovery.crc_math import flipped_bit
from tfrtool.framing.recovery.header_bits import candidate_lengths
from tfrtool.framing.stream import ByteStream, Window
from tfrtool.payload.kinds import fits
from tfrtool.report import Outcome
from tfrtool.types import Action, Kind, Range

LARGEST = 16 << 20
"""Largest range that is searched, in bytes: it is held in memory."""
_WORK = 4
"""How often a range may be read again for valid headers without a valid payload."""
_LENGTH = Struct("<Q")


def count_valid_frames(data: ByteStream, span: Range) -> int:
    """Count the frames in a range of a stream whose checksums match, none inside another; 0 for too large a range.

    Work is linear in the range: the search ends where too many headers in it are valid and their payloads are not.
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
"""How a payload ends where zeros after it are more likely a hole in the file than a checksum left out."""


@dataclass(slots=True)
class Payload:
    """A payload to write: bytes in memory, or ranges of the stream to copy."""

    pieces: tuple[Range, ...] = ()
    data: bytes | None = None


class RecoveryPolicy:
    """Decides on the damage of one stream, in order.

    `unchecked` says that no payload of the stream matches its checksum though the headers match theirs: then these
    checksums are no evidence for a payload or against it.
    """

    def __init__(
        self,
        data: ByteStream,
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
        """Return what becomes of one damaged range, and the payloads to write for it."""
        self._used = [used for used in self._used if used[1] > damage.begin]
        recovery = damage.recovery
        if recovery and recovery.method != "unverified":
            return self._keep(damage, "restored", recovery.pieces, recovery.layout)
        if self.fix_bits:
            fixed = self._fixed(damage)
            if fixed is not None:
                data, evidence = fixed
                return Outcome(damage, "corrected", 1, (), evidence), iter([Payload(data=data)])
        confined = None if self.fix_bits else self._confined(damage)
        evidence = self._without_checksum(damage) if recovery is None else ""
        if evidence:
            recovery = Recovery("unverified", 1, ((damage.begin + HEADER, damage.end - 4),))
            damage = replace(damage, recovery=recovery)
        if self.keep_unverified and recovery and recovery.layout:
            kept = self._those_that_parse(damage, recovery)
            if kept is not None:
                return kept
        elif self.keep_unverified and recovery and self._is_message(recovery.pieces):
            outcome, payloads = self._keep(damage, "kept", recovery.pieces, recovery.layout)
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
            assert damage.recovery is not None
            return Outcome(damage, action, damage.recovery.records, ()), frames_of(self.data, pieces[0], layout)
        used = [(pieces[0][0] - HEADER, pieces[0][0]), *pieces, (pieces[-1][1], pieces[-1][1] + 4)]
        self._used.extend(used)
        dropped = _without((damage.begin, damage.end), used)
        return Outcome(damage, action, 1, dropped), iter([Payload(pieces)])

    def _without_checksum(self, damage: Damage) -> str:
        """Return why the checksum of a payload is no evidence, after a header with its length; else an empty string."""
        begin, end = damage.begin + HEADER, damage.end - 4
        if damage.fault not in ("data-crc", "length-crc") or damage.got is None or begin >= end:
            return ""
        head, stored = _read(self.data, damage.begin, begin), _read(self.data, end, damage.end)
        if int.from_bytes(head[:8], "little") != end - begin:
            return ""
        zeros = not any(stored) and (damage.fault == "data-crc" or not any(head[8:]))
        if self.unchecked and damage.fault == "data-crc":
            return "no payload of the file matches its checksum"
        hole = zeros and _read(self.data, max(begin, end - len(_HOLE)), end) == _HOLE
        return "zeros stand where its checksum should be" if zeros and not hole else ""

    def _confined(self, damage: Damage) -> tuple[bytes, int] | None:
        """Return the damaged payload and its stored checksum, where it is small and its extent is certain.

        A header with flipped bits counts where they can be corrected and the length is then that of the record.
        """
        size = damage.end - damage.begin - FRAMING
        if damage.recovery or damage.got is None or not 0 < size <= LARGEST_FIXED:
            return None
        if damage.fault not in ("data-crc", "length-crc"):
            return None
        raw = _read(self.data, damage.begin, damage.end)
        head, stored = raw[:HEADER], int.from_bytes(raw[-4:], "little")
        length = int.from_bytes(head[:8], "little")
        if damage.fault == "data-crc":
            return (raw[HEADER:-4], stored) if length == size and stored == damage.got else None
        is_explained = size in candidate_lengths(head) or (length == size and any(head))
        return (raw[HEADER:-4], stored) if is_explained else None

    def _fixed(self, damage: Damage) -> tuple[bytes, str] | None:
        """Return the payload with one bit flipped, if that gives its checksum; only where its extent is certain."""
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

    def _those_that_parse(self, damage: Damage, recovery: Recovery) -> tuple[Outcome, Iterator[Payload]] | None:
        """Keep, of consecutive frames that no checksum proves, those with messages of the file's kind; None if none."""
        span, layout = recovery.pieces[0], recovery.layout
        others = [p.pieces[0] for p in frames_of(self.data, span, layout) if not self._is_message(p.pieces)]
        if len(others) == recovery.records:
            return None
        left = set(others)
        kept = (payload for payload in frames_of(self.data, span, layout) if payload.pieces[0] not in left)
        dropped = tuple((begin - HEADER, end + FOOTER) for begin, end in others)
        return Outcome(damage, "kept", recovery.records - len(others), dropped), kept

    def _is_message(self, pieces: tuple[Range, ...]) -> bool:
        """Return whether a payload that no checksum proves is at least a message of the kind of the file."""
        payload = b"".join(_read(self.data, begin, end) for begin, end in pieces)
        kind = self.kind
        if kind in (None, "unknown"):
            from tfrtool.payload.kinds import kind_of

            kind = kind_of(payload)
        return kind not in (None, "unknown") and fits(memoryview(payload), kind) is None


def frames_of(data: ByteStream, span: Range, layout: str) -> Iterator[Payload]:
    """Yield the payloads of the frames that fill `span`, written in the layout of that name."""
    window, header = Window(data), LAYOUTS[layout].header
    at, end = span
    while at < end:
        index = window.load(at, HEADER)
        length: int = header.unpack_from(window.buffer, index)[0]
        yield Payload(((at + HEADER, at + HEADER + length),))
        at += FRAMING + length


def copied(data: ByteStream, pieces: tuple[Range, ...]) -> Iterator[memoryview]:
    """Yield the bytes of ranges of a stream. A view is valid until the next one is requested."""
    view = memoryview(bytearray(min(_STEP, max((end - begin for begin, end in pieces), default=0))))
    for begin, end in pieces:
        while begin < end:
            got = data.read_into(begin, view[: min(len(view), end - begin)])
            if not got:
                return
            yield view[:got]
            begin += got


def _read(data: ByteStream, begin: int, end: int) -> bytes:
    view = memoryview(bytearray(end - begin))
    return bytes(view[: data.read_into(begin, view)])


def _without(span: Range, covers: list[Range]) -> tuple[Range, ...]:
    """Return what is left of a range without others."""
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
