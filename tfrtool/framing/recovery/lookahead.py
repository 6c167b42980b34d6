"""What stands at an offset ahead of the walk: boundaries, records, chains of records, and proofs of payloads."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Literal

from tfrtool.framing.crc import Bytes, header_is_sound, rotated, unmasked
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.budget import CANDIDATE, WorkBudget
from tfrtool.framing.recovery.crc_math import splits
from tfrtool.framing.recovery.gap_scan import SEARCHED, GapScanner
from tfrtool.framing.recovery.header_bits import candidate_lengths
from tfrtool.framing.stream import ByteStream, Window

_HEADER = Struct("<QI")
_FOOTER = Struct("<I")

Ending = Literal["end", "dead", "far"]
"""How a chain of valid headers ends: at the end of the stream, where no record follows, or beyond the limit."""


class Lookahead:
    """Looks ahead in one stream, through windows of its own, so that the walk's stays where it is."""

    def __init__(self, data: ByteStream, budget: WorkBudget) -> None:
        self.near = Window(data)
        self.far = Window(data)
        self.budget = budget
        self.is_header: Callable[[Bytes], bool] = header_is_sound
        """Whether 12 bytes are a valid header of a writer of the file."""
        self._known: kernel.Known = {}

    def peek(self, offset: int, n: int) -> bytes:
        """Up to `n` bytes at `offset`, without moving a window."""
        far = self.far
        index = offset - far.base
        if 0 <= index <= far.fill - n:
            return bytes(far.view[index : index + n])
        return bytes(self.near.peek(offset, n))

    def read(self, begin: int, end: int) -> bytes:
        """The bytes of a short stretch."""
        view = memoryview(bytearray(end - begin))
        return bytes(view[: self.far.data.read_into(begin, view)])

    def head(self, offset: int) -> bytes:
        """The 12 bytes at `offset`, fewer at the end of the stream."""
        return self.peek(offset, HEADER)

    def declared_length(self, head: bytes) -> int:
        """The length in a header, valid or not."""
        length: int = _HEADER.unpack(head)[0]
        return length

    def candidate_lengths(self, head: bytes) -> tuple[int, ...]:
        """The lengths that a damaged header may have held."""
        return candidate_lengths(head)

    def scanner(self, start: int, at: int, keep: int | None, hold: int = 0) -> GapScanner:
        """Goes ahead over the gap from `start` on."""
        return GapScanner(self.near, start, at, keep, hold)

    def in_stream(self, end: int) -> bool:
        """Whether the stream reaches to `end`."""
        return self.near.holds(end)

    def header_at(self, offset: int) -> bool:
        """Whether a valid header stands at `offset`."""
        return self.is_header(self.head(offset))

    def is_boundary(self, offset: int) -> bool:
        """Whether a valid header, or the end of the stream, stands at `offset`, which the stream reaches."""
        return self.header_at(offset) or self.near.ends_at(offset)

    def declared_end(self, header: int) -> int:
        """Where the record at a valid header ends; `header` itself where none stands."""
        head = self.head(header)
        return header + FRAMING + self.declared_length(head) if self.is_header(head) else header

    def data_matches(self, begin: int, end: int) -> bool:
        """Whether the checksum stored at `end` is that of `[begin, end)`."""
        stored = self.peek(end, 4)
        return len(stored) == 4 and rotated(self.far.crc(begin, end)) == _FOOTER.unpack(stored)[0]

    def checksums(self, begin: int, end: int) -> list[bytes]:
        """What may be stored behind `[begin, end)` as its checksum: one for each writer of the file."""
        return [_FOOTER.pack(rotated(self.far.crc(begin, end)))]

    def is_confirmed(self, header: int) -> bool:
        """Whether the record at this valid header is intact, or a boundary stands at its end.

        An intact one costs nothing, so that all of them are found; what was read of others is charged.
        """
        budget = self.budget
        length = self.declared_length(self.head(header))
        end = header + FRAMING + length
        if not self.in_stream(end):
            budget.charge(CANDIDATE)
            return False
        if self.is_boundary(end) and budget.try_spend(CANDIDATE):
            return True
        if not budget.exhausted and self.data_matches(header + HEADER, end - 4):
            return True
        budget.charge(CANDIDATE + length)
        return False

    def try_confirm(self, header: int, scanner: GapScanner) -> bool:
        """The same for a header that `scanner` found, which skips a stretch once too many were read in vain."""
        if self.budget.exhausted:
            scanner.skip()
            return False
        return self.is_confirmed(header)

    def follow(self, header: int, limit: int) -> tuple[int, Ending]:
        """Where the chain of valid headers from `header` on ends, and how; `far` when it goes on for `limit` bytes.

        A chain that ends at no boundary has led astray in its last record, unless that one is intact.
        """
        window, at, last = self.far, header, header
        while True:
            index = window.load(at, HEADER)
            if window.fill == index:
                return at, "end"
            count, stop, final = self._hop(window.buffer, index, window.fill)
            if not count:
                if window.fill - index < HEADER or at == header or self._is_intact(last, at):
                    return at, "dead"
                return last, "dead"
            to, last = window.base + stop, window.base + final
            if stop > window.fill and not window.holds(to):
                return last, "dead"
            self.budget.charge_lookahead(to - at)
            if to - header > limit:
                return to, "far"
            at = to
            self.budget.advance(at)

    def _hop(self, buffer: bytearray, index: int, fill: int) -> tuple[int, int, int]:
        return kernel.hop(buffer, index, fill, self._known)

    def _is_intact(self, begin: int, end: int) -> bool:
        return self.budget.try_spend(end - begin) and self.data_matches(begin + HEADER, end - 4)

    def find_insertions(self, begin: int, length: int, boundary: int) -> list[int]:
        """Where bytes were put into the payload of `length` bytes from `begin` on: offsets behind its first part.

        Only if its checksum stands at `boundary - 4`, and matches once those bytes are taken out. Where they repeat
        what stands beside them, several places give the same payload.
        """
        end = boundary - 4
        if end - begin <= length or end - begin > SEARCHED or not self.budget.try_spend_slow(2 * (end - begin)):
            return []
        stored = self.peek(end, 4)
        data = self.read(begin, end)
        found = splits(data, length, self._bare(stored))
        extra = end - begin - length
        if found[:1] == [0] and (extra >= FRAMING + length or self.is_header(data[max(0, extra - HEADER) : extra])):
            # All of it stands behind what was put in: it is the payload of a later record of the same length.
            return []
        return [begin + place for place in found]

    def _bare(self, stored: bytes) -> int:
        return unmasked(_FOOTER.unpack(stored)[0])
