"""Explain damage that begins with an invalid header.

The strongest evidence comes first: a length of up to three flipped bits whose payload matches its checksum; such a
length that leads to a boundary; the data checksum before a later boundary, which proves one record with a lost header;
records with lost headers before the next record; and the next record itself.
"""

from __future__ import annotations

from typing import NamedTuple

from tfrtool.framing import messages
from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST
from tfrtool.framing.recovery.gap_scan import SEARCHED
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.recovery.lost_headers import (
    find_backward,
    find_both_ends,
    find_forward,
    header_damage,
    split_by_payloads,
)
from tfrtool.framing.recovery.nested import NestedRecords
from tfrtool.framing.recovery.search import Explained, Search


class Reading(NamedTuple):
    """The damaged header `head` at `start`, and the lengths it may have held.

    `corrected_end` is where a record of a corrected length ends, if at a boundary; `stored_end` the same for the length
    as it stands.
    """

    start: int
    head: bytes
    lengths: list[int]
    corrected_end: int | None
    stored_end: int | None


def read_header(ahead: Lookahead, start: int, head: bytes) -> Reading:
    """Read a damaged header: as it stands, and with a few bits corrected."""
    corrected = [length for length in ahead.candidate_lengths(head) if length < LONGEST]
    stored = [length for length in (ahead.declared_length(head),) if length < LONGEST]

    def end_of(lengths: list[int]) -> int | None:
        ends = (start + FRAMING + length for length in lengths)
        return next((end for end in ends if ahead.in_stream(end) and ahead.is_boundary(end)), None)

    any_bits = any(head)
    return Reading(
        start, head, corrected + stored, end_of(corrected) if any_bits else None, end_of(stored) if any_bits else None
    )


def corrected_header(ahead: Lookahead, read: Reading, number: int | None) -> Damage | None:
    """The record with its header corrected, where its payload then matches its checksum.

    Tries: at most some lengths for each header, each of which the header's own checksum supports but for three bits.
    """
    start = read.start
    for length in sorted(read.lengths):  # only one can match its checksum, and the short ones cost least
        end = start + FRAMING + length
        if not ahead.in_stream(end) or not ahead.budget.try_spend(length):
            continue
        # A valid header is 8 bytes and their checksum too: it is the next record's, not a payload.
        is_header = length == HEADER - 4 and ahead.header_at(start + HEADER)
        if not is_header and ahead.data_matches(start + HEADER, end - 4):
            ahead.budget.refund(length)
            message = messages.mended(length, (length ^ ahead.declared_length(read.head)).bit_count())
            recovery = Recovery("mended-header", 1, ((start + HEADER, end - 4),))
            return header_damage(start, end, number, read.head, message, recovery)
    return None


def is_repairable_header(ahead: Lookahead, start: int) -> bool:
    """Whether a record with a damaged header stands at `start`."""
    head = ahead.head(start)
    return len(head) == HEADER and corrected_header(ahead, read_header(ahead, start, head), None) is not None


class BadHeader:
    """Damage that begins with an invalid header, as `read`, of record `number` if of any."""

    def __init__(self, ahead: Lookahead, nested: NestedRecords, read: Reading, number: int) -> None:
        self.ahead = ahead
        self.start = start = read.start
        self.read = read
        self.number = number
        self.scanner = ahead.scanner(start, at=start + 1, keep=None, hold=SEARCHED)
        self.search = Search(ahead, nested, start, self.scanner, None)
        self._passed: Damage | None = None
        self._front_tried = False

    def explain(self) -> Explained:
        """The damage, and the offset behind it where the walk goes on."""
        end = self.read.corrected_end
        if end is not None and not self._begins_within():
            return self._declared(end)
        self.scanner.until = self.start + SEARCHED
        explained = self.search.run(self._proved, self._at_resume)
        if explained is None and self.search.resume is None and self.scanner.gave_up:
            explained = self._front() or self.search.run(self._proved, self._at_resume)
        if explained:
            return explained
        stop = self.search.resume
        if stop is None:
            stop = self.scanner.at
            found = self._shifted(stop)
            if found:
                return found, stop
        declared = self.read.stored_end
        if declared is not None and declared <= stop and not self._begins_within():
            return self._declared(declared)
        found = self._lost_headers(stop) or [self._passed or self.scanner.passed(stop)]
        return found, stop

    def _front(self) -> Explained | None:
        """The records at the front of a large gap that prove one another, before its end is known."""
        self.scanner.until = None
        self._front_tried = True
        payloads = find_forward(self.ahead, self.start)
        if len(payloads) < 2:
            return None
        end = payloads[-1][1] + 4
        return split_by_payloads(self.ahead, self.start, end, self.number, payloads), end

    def _at_resume(self, header: int) -> Explained | None:
        found = self._shifted(header)
        if found:
            return found, header
        self._passed = self.scanner.passed(header)
        return None

    def _begins_within(self) -> bool:
        """Whether a record begins within the 12 bytes of the header: then these are stray bytes before it.

        Stray bytes and the length of the record behind them read as a length that leads to a boundary by chance, about
        once in as many files as a record has bytes.
        """
        early = range(self.start + 1, self.start + HEADER)
        return any(self.ahead.header_at(at) or is_repairable_header(self.ahead, at) for at in early)

    def _declared(self, end: int) -> Explained:
        message = messages.lost(end - self.start - FRAMING)
        return [header_damage(self.start, end, self.number, self.read.head, message, None)], end

    def _proved(self, boundary: int) -> Explained | None:
        """The record from `start` to `boundary`, if the data checksum before it is that of its payload.

        Tries: the boundaries behind one damage, each of which is a checksum too.
        """
        if not self.scanner.proves(boundary):
            found = self._shifted(boundary) if self.search.resume is not None else []
            return (found, boundary) if found else None
        message = messages.lost_header(boundary - self.start - FRAMING)
        recovery = Recovery("lost-header", 1, ((self.start + HEADER, boundary - 4),))
        return [header_damage(self.start, boundary, self.number, self.read.head, message, recovery)], boundary

    def _shifted(self, boundary: int) -> list[Damage]:
        """The same for a record that lacks bytes of its header: at most 12 tries, at one boundary."""
        begin = self.scanner.lost_bytes(boundary, self.ahead.budget)
        if begin is None:
            return []
        message = messages.late_start(begin, boundary - 4 - begin)
        recovery = Recovery("shifted-payload", 1, ((begin, boundary - 4),))
        return [header_damage(self.start, boundary, self.number, self.read.head, message, recovery)]

    def _lost_headers(self, end: int) -> list[Damage]:
        """The records with lost headers in the gap up to `end`, and what lies between them, if any is proved."""
        if end - self.start <= SEARCHED:
            payloads = find_both_ends(self.ahead, self.start, end)
        else:
            front = [] if self._front_tried else find_forward(self.ahead, self.start)
            at = front[-1][1] + 4 if front else self.start
            payloads = [*front, *find_backward(self.ahead, at, end)]
        return split_by_payloads(self.ahead, self.start, end, self.number, payloads)
