"""Explain damage, and find where the file's records go on.

An intact record, whose two checksums match, is always found, in the order of the file, unless it stands inside a record
whose extent is confirmed: its data checksum matches or is proved to, or its header is valid, or corrected by at most
three bits, and a boundary stands at its end; or unless the file is known to hold record files in its records.
"""

from __future__ import annotations

from tfrtool.framing import messages
from tfrtool.framing.damage import Damage
from tfrtool.framing.layout import FRAMING, HEADER, LAYOUTS, LONGEST, Layout
from tfrtool.framing.recovery.bad_extent import BadExtent
from tfrtool.framing.recovery.bad_header import BadHeader, corrected_header, is_repairable_header, read_header
from tfrtool.framing.recovery.budget import CANDIDATE, WorkBudget
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.recovery.lost_headers import passed
from tfrtool.framing.recovery.nested import NestedRecords
from tfrtool.framing.recovery.search import Explained
from tfrtool.framing.recovery.wrong_writers import (
    LayoutLookahead,
    confined,
    early_writer,
    may_be_wrong,
    writer_at,
    wrong_writer,
)
from tfrtool.framing.stream import ByteStream


class Resync:
    """Explains the damage of one stream."""

    def __init__(self, data: ByteStream, budget: WorkBudget) -> None:
        self.ahead = Lookahead(data, budget)
        self.budget = budget
        self.nested = NestedRecords()
        self._passes: list[tuple[int, int]] = []

    def explain(self, start: int, number: int) -> Explained:
        """What stands from `start` on, where the header is invalid."""
        put_in = self._put_in(start)
        if put_in:
            return put_in
        head = self.ahead.head(start)
        if len(head) < HEADER:
            end = start + len(head)
            return [Damage(start, end, "torn", number, detail=messages.torn_header(len(head)))], end
        written = self._by_a_wrong_writer(start, number, head)
        if written:
            return written
        read = read_header(self.ahead, start, head)
        found = corrected_header(self.ahead, read, number)
        if found:
            return [found], found.end
        if not start and self._learn(early_writer(self.ahead)):
            return self.explain(start, number)
        return BadHeader(self.ahead, self.nested, read, number).explain()

    def _by_a_wrong_writer(self, start: int, number: int, head: bytes) -> Explained | None:
        """What a wrong writer's header stands for; its records are looked for from then on."""
        if not may_be_wrong(head):
            return None
        found = wrong_writer(self.ahead, start, number, head)
        if found:
            self._learn(LAYOUTS[found.recovery.layout] if found.recovery and found.restorable else None)
            return [found], found.end
        layout = writer_at(self.ahead, start, head)
        if layout is None:
            return None
        self._learn(layout)
        length = layout.length(head)
        end = start + FRAMING + length
        fits = length < LONGEST and self.ahead.in_stream(end)
        if fits and self.is_confined(start, end):
            return [confined(self.ahead, layout, start, end, number)], end
        return self.cut_short(start, number, length, fits, None)

    def _learn(self, layout: Layout | None) -> bool:
        """Look for the frames of this writer too; whether that is news."""
        known = self.ahead.layout if isinstance(self.ahead, LayoutLookahead) else None
        if layout is None or layout is known:
            return False
        self.ahead = LayoutLookahead(self.ahead, layout)
        return True

    def cut_short(self, start: int, number: int, length: int, fits: bool, crcs: tuple[int, int] | None) -> Explained:
        """What stands from `start` on, where the header is valid but the record does not end where it says.

        Bytes are missing from it or too many are in it, or (`fits` is false) it claims more than is left. `crcs` are
        the computed and the stored data checksum.
        """
        put_in = self._put_in(start)
        if put_in:
            return put_in
        record = BadExtent(self.ahead, self.nested, start, number, length, fits, crcs)
        explained = record.explain()
        self._passes = record.passes or self._passes
        return explained

    def _put_in(self, start: int) -> Explained | None:
        """What stands from `start` on, where an earlier record has told that it is a part of its payload."""
        self._passes = [(begin, end) for begin, end in self._passes if begin >= start]
        if not self._passes or start != self._passes[0][0]:
            return None
        end = self._passes[0][1]
        return ([passed(self.ahead, start, end)], end) if end > start else None

    def is_confined(self, start: int, end: int) -> bool:
        """Whether a damaged record with a valid header ends at `end`, as it declares: a boundary stands there.

        Not where an intact record within it goes on into its checksum or further, as no content does.
        """
        if not self.ahead.is_boundary(end):
            return False
        scanner = self.ahead.scanner(start, at=start + HEADER, keep=start)
        scanner.until = end
        while self.budget.try_spend(CANDIDATE) and (header := scanner.next()) is not None and header < end:
            stop = self.ahead.declared_end(header)
            crosses = stop > end - 4 and self.ahead.in_stream(stop) and self.budget.try_spend(stop - header)
            if crosses and self.ahead.data_matches(header + HEADER, stop - 4):
                return False
        return True

    # Detecting the format

    def record_at_start(self) -> bool:
        """Whether the first record is proved by its payload, though its header is invalid."""
        head = self.ahead.head(0)
        if len(head) < HEADER:
            return False
        if may_be_wrong(head) and (wrong_writer(self.ahead, 0, 0, head) or writer_at(self.ahead, 0, head)):
            return True
        return is_repairable_header(self.ahead, 0)

    def record_within(self, most: int) -> bool:
        """Whether a record that is intact, or followed by one, begins in the first `most` bytes."""
        scanner = self.ahead.scanner(0, at=0, keep=0)
        while scanner.at < most:
            header = scanner.next()
            if header is None:
                return False
            if self.ahead.is_confirmed(header):
                return True
        return False
