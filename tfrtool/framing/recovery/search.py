"""The search for where a file's records go on behind damage."""

from __future__ import annotations

from collections.abc import Callable

from tfrtool.framing.damage import Damage
from tfrtool.framing.recovery.budget import CHAIN
from tfrtool.framing.recovery.gap_scan import SEARCHED, GapScanner
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.recovery.nested import NestedRecords

Explained = tuple[list[Damage], int]
"""Damage, and the offset behind it where the walk goes on."""
Chain = tuple[int, int]
"""Where a chain of valid headers begins, and where it ends."""


class Search:
    """Looks behind the damage at `start` for the next record, and past it for what proves more.

    The next record is the first valid header whose record is intact, or ends at a boundary. It is `resume`, unless
    `prove` finds at a later boundary that a record around it is whole. That is asked at every boundary up to the end of
    the first chain of records that does not break off, or the limit of the budget.
    """

    def __init__(
        self, ahead: Lookahead, nested: NestedRecords, start: int, scanner: GapScanner, declared: int | None
    ) -> None:
        self.ahead = ahead
        self.nested = nested
        self.start = start
        self.scanner = scanner
        self.declared = declared
        self.keeps_start = scanner.keep is not None
        self.resume: int | None = None
        self.chains: list[Chain] = []
        self.has_content = False

    def run(
        self, prove: Callable[[int], Explained | None], at_resume: Callable[[int], Explained | None]
    ) -> Explained | None:
        """What `prove` makes of a boundary, or `at_resume` of the next record while nothing behind it was passed over.

        None where neither explains the damage, and `resume` tells where records go on.
        """
        scanner, budget = self.scanner, self.ahead.budget
        sight = budget.lookahead_limit()
        while True:
            header = scanner.next()
            boundary = scanner.at if header is None else header
            budget.advance(boundary)
            if header is None and scanner.gave_up:
                return None
            proved = prove(boundary)
            if proved or header is None:
                return proved
            if not self.ahead.try_confirm(header, scanner):
                continue
            end, ending = self.ahead.follow(header, sight)
            if len(self.chains) < _CHAINS:
                self.chains.append((header, end))
            if self.nested.are_content(self.ahead, self.start, self.declared, (header, end), ending):
                self.has_content = True
            elif self.resume is None:
                explained = at_resume(header)
                if explained:
                    return explained
                self.resume = header
                if not self.keeps_start:
                    scanner.keep = max(self.start, header - SEARCHED)
                scanner.until = max(scanner.until or 0, header + sight)
            budget.charge_lookahead(CHAIN)
            sight -= CHAIN
            if self.resume is not None and (ending != "dead" or sight < 0):
                return None
            scanner.at = max(end, scanner.at)


_CHAINS = 1 << 10
