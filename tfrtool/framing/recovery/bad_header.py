"""A gap: what stands where a header is unsound, up to where the file's records go on.

The strongest evidence comes first: the length that the damaged header still tells; the data checksum before a later
boundary, which proves one record with a lost header; records with lost headers one after another; and at last the first
place where sound records go on. There the search still looks past the chain of records for a boundary whose data
checksum proves a payload around it.

What a damaged header still says: the lengths it may have held, read from its own redundancy.
"""

from __future__ import annotations

from typing import NamedTuple

from tfrtool.framing import messages as words
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.encode import header
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST
from tfrtool.framing.recovery.crc_math import first_end
from tfrtool.framing.recovery.gap_scan import LOOK, TOILED, Scout
from tfrtool.framing.recovery.lookahead import Ahead, Ending
from tfrtool.framing.recovery.lost_headers import Explained, Payload, apart, behind, header_damage, in_front, peel
from tfrtool.framing.stream import CAPACITY


class Readings(NamedTuple):
    """The lengths that the damaged header `head` at `start` may have held, the likeliest first.

    `end` is where the record ends if one of them leads to a boundary; None if none does.
    """

    start: int
    head: bytes
    lengths: list[int]
    end: int | None


def readings(ahead: Ahead, start: int, head: bytes) -> Readings:
    """Read a damaged header: as it stands, and with a few bits turned over."""
    as_it_stands = ahead.told(head)
    lengths = [length for length in (*ahead.mends(head), as_it_stands) if length < LONGEST]
    ends = (start + FRAMING + length for length in reversed(lengths))
    leading = [end for end in ends if ahead.fits(end) and ahead.boundary(end)] if any(head) else []
    if leading and leading[0] == start + FRAMING + as_it_stands:
        lengths = [as_it_stands, *lengths[:-1]]
        return Readings(start, head, lengths, leading[0])
    return Readings(start, head, lengths, leading[-1] if leading else None)


def mended(ahead: Ahead, read: Readings, number: int | None) -> Damage | None:
    """The record with its header mended, where the payload's checksum then holds."""
    start = read.start
    for length in sorted(read.lengths):  # only one can agree with its checksum, and the short ones cost least
        end = start + FRAMING + length
        if not ahead.fits(end) or not ahead.ledger.spend(length):
            continue
        # A sound header is 8 bytes and their checksum too: it is the next record's, not a payload.
        is_header = length == HEADER - 4 and ahead.sound(ahead.head(start + HEADER))
        if not is_header and ahead.data_holds(start + HEADER, end - 4):
            ahead.ledger.regain(length)
            message = words.mended(length, (length ^ ahead.told(read.head)).bit_count())
            rescue = Rescue("mended-header", 1, ((start + HEADER, end - 4),))
            return header_damage(start, end, number, read.head, message, rescue)
    return None


def may_be_mended(ahead: Ahead, start: int) -> bool:
    """Whether a record with a damaged header stands at `start`."""
    head = ahead.head(start)
    return len(head) == HEADER and mended(ahead, readings(ahead, start, head), None) is not None


_SHORT = 1 << 12
"""How far behind a chain a record with a lost header is searched for, in bytes."""
_LEFT = 3
"""Bytes of a header that speak for a payload behind them."""


class Gap:
    """The gap that begins with an unsound header, as it is `read`, which is that of record `number` if of any."""

    def __init__(self, ahead: Ahead, read: Readings, number: int) -> None:
        self.ahead = ahead
        self.ledger = ahead.ledger
        self.start = start = read.start
        self.head = read.head
        self.known_end = read.end
        self.number = number
        self.scout = ahead.scout(start, at=start + 1, keep=None, hold=TOILED)
        self.sight = ahead.ledger.sight()
        self._front: list[Payload] = []
        self._doubtful: int | None = None
        self._passed: Damage | None = None
        self._records_go_on = False
        self._died: int | None = None  # where the chain ended at which the file goes on, if it did

    def explained(self) -> Explained:
        """The damage, and the offset behind it where the walk goes on."""
        end = self.known_end
        found = [] if end is None or self._begins_within() else self._of_known_end(end)
        found = found or self._searched()
        return found, found[-1].end

    def _begins_within(self) -> bool:
        """Whether a record begins within the 12 bytes of the header: then these are none, but stray bytes before it.

        A length that leads to a boundary is no proof against it: stray bytes and the length of the record behind them
        read as one that does so by chance, about once in as many files as a record has bytes.
        """
        early = range(self.start + 1, self.start + HEADER)
        return any(self.ahead.sound(self.ahead.head(at)) or may_be_mended(self.ahead, at) for at in early)

    def _of_known_end(self, end: int) -> list[Damage]:
        """The record that ends at the boundary `end`: what is in it is its content, whatever it looks like.

        Nothing if a record in it shows that it does not end there.
        """
        self.scout.keep = self.start
        at = self.start
        while at < end:
            header = self.scout.next()
            at = end if header is None else min(header, end)
            self.ledger.reach(at)
            proved = self._proved(at)
            if proved:
                return proved
            if at < end and self._crosses(at, end) and self.ledger.spend(end - self.start):
                self.scout = self.ahead.scout(self.start, at=self.start + 1, keep=None, hold=TOILED)
                return []
        message = words.lost(end - self.start - FRAMING)
        return [header_damage(self.start, end, self.number, self.head, message, None)]

    def _crosses(self, header: int, end: int) -> bool:
        """Whether the record at this sound header takes in what would be the checksum before `end`: no content does."""
        stop = self.ahead.reach(header)
        if stop <= end - 4 or not self.ahead.fits(stop):
            return False
        if stop <= end:
            return True
        return self.ledger.spend(stop - header) and self.ahead.data_holds(header + HEADER, stop - 4)

    def _searched(self) -> list[Damage]:
        scout = self.scout
        scout.until = self.start + TOILED
        found: list[Damage] | None = None
        while found is None:
            header = scout.next()
            boundary = scout.at if header is None else header
            self.ledger.reach(boundary)
            if header is None and scout.gave_up:
                found = self._told() if self._passed else self._early()
                continue
            found = self._proved(boundary) or self._proved_around(boundary) or None
            if found is None:
                found = self._at_the_end(boundary) if header is None else self._tried(header)
        return found

    def _at_the_end(self, end: int) -> list[Damage]:
        if self._passed:
            return self._told()
        found = self._late(self.scout, end) or self._taken_apart(end)
        before = self._doubtful
        if found or not before or not self._affords(before, end):
            return found or [self.scout.passed(end)]
        scout = self.ahead.scout(self.start, at=self.start, keep=self.start)
        return self._late(scout, before) or self._taken_apart(before) or [scout.passed(before)]

    def _affords(self, before: int, end: int) -> bool:
        """Whether the stretch from `before` on may be searched once more."""
        return before - self.start <= TOILED and self.ledger.toil(CAPACITY // 2 + end - before)

    def _tried(self, header: int) -> list[Damage] | None:
        """What the gap is if the file goes on at this sound header; None if the search has to go on."""
        if not self.ahead.tries(header, self.scout):
            self._doubt(header)
            return None
        end, how = self.ahead.follow(header, self.sight)
        if how == "dead" and self._is_content(header, end):
            self._doubtful = None
        else:
            peeled = self._way_on(header, end, how) if self._passed is None else []
            if peeled:
                return peeled
            # The file goes on here, unless a record around the chain is proved behind it.
            self.ledger.look(LOOK)
            self.sight -= LOOK
            if how != "dead" or self.sight < 0:
                return self._told()
        self.scout.at = max(end, self.scout.at)
        return None

    def _is_content(self, header: int, end: int) -> bool:
        """Whether the chain `[header, end)` is content of a record whose header is lost."""
        return self.ahead.announced(self.start, header, end) or self.ahead.a_checksum_apart(end)

    def _doubt(self, header: int) -> None:
        """Keep in mind the first sound header of a record that is not: it may be the file's all the same."""
        if self._doubtful is None or (self._passed is None and header - self._doubtful > TOILED):
            self._doubtful = header

    def _way_on(self, header: int, end: int, how: Ending) -> list[Damage]:
        """The gap up to where the file goes on, if that is already told; else it is kept in mind."""
        way, scout = header, self.scout
        before = self._doubtful
        if before and header - self.start <= TOILED and self._affords(before, end):
            way, scout = before, self.ahead.scout(self.start, at=self.start, keep=self.start)
        peeled = self._late(scout, way) or (self._taken_apart(way) if how != "dead" else [])
        if not peeled:
            # A chain that ends at a damaged record is the file's; one that ends at anything else may be content.
            self._records_go_on = how == "dead" and self.ahead.reach(end) > end
            self._died = end if how == "dead" else None
            self._passed = scout.passed(way)
            self.scout.keep = max(self.start, header - TOILED)
            self.scout.mark(header)
            self.scout.until = header + self.sight
        return peeled

    def _lost_at(self, end: int) -> bool:
        """Whether a short record stands at `end` whose header is damaged, but whose payload is not."""
        if not self.ledger.toil(_SHORT):
            return False
        return first_end(self.ahead.read(end, end + HEADER + _SHORT), HEADER) is not None

    def _told(self) -> list[Damage]:
        """The gap up to where the file goes on, around which nothing was proved."""
        assert self._passed is not None
        self.ledger.look(self.scout.at - self._passed.end)
        end = self._passed.end
        found = [] if self._died is None else self._lost_before(end)
        # They may be content of a record whose header is lost as well, unless records go on behind the chain for good.
        if self._died is not None and found and not self._records_go_on and not self._lost_at(self._died):
            found = [payload for payload in found if self._has_header(payload)]
        return apart(self.ahead, self.start, end, self.number, found) or [self._passed]

    # One record whose header is lost

    def _proved(self, boundary: int) -> list[Damage]:
        """The record from `start` to `boundary`, if its data checksum proves its payload."""
        if not self.scout.proves(boundary):
            return []
        message = words.lost_header(boundary - self.start - FRAMING)
        rescue = Rescue("lost-header", 1, ((self.start + HEADER, boundary - 4),))
        return [header_damage(self.start, boundary, self.number, self.head, message, rescue)]

    def _late(self, scout: Scout, boundary: int) -> list[Damage]:
        """The same for a record that lacks bytes of its header."""
        begin = scout.lost_bytes(boundary, self.ledger)
        if begin is None:
            return []
        message = words.late_start(begin, boundary - 4 - begin)
        rescue = Rescue("late-start", 1, ((begin, boundary - 4),))
        return [header_damage(self.start, boundary, self.number, self.head, message, rescue)]

    def _proved_around(self, boundary: int) -> list[Damage]:
        """The record that begins before the way on, and whose data checksum proves that it ends at `boundary`."""
        begin = self.scout.begins(boundary, self.ledger) if self._passed else None
        return [] if begin is None else apart(self.ahead, self.start, boundary, self.number, [(begin, boundary - 4)])

    # Several

    def _early(self) -> list[Damage] | None:
        """The records at the front of a large gap that prove one another: they are told before its end is known."""
        self.scout.until = None
        self._front = in_front(self.ahead, self.start)
        if len(self._front) < 2:
            return None
        return apart(self.ahead, self.start, self._front[-1][1] + 4, self.number, self._front)

    def _taken_apart(self, end: int) -> list[Damage]:
        """The records with lost headers in the gap up to `end`, and what lies between them, if any is proved.

        This is for gaps behind which records go on for good.
        """
        return apart(self.ahead, self.start, end, self.number, self._lost_before(end))

    def _lost_before(self, end: int) -> list[Payload]:
        """The payloads of records with lost headers in the gap up to `end`."""
        if end - self.start > TOILED and self.scout.until == self.start + TOILED:
            self._front = in_front(self.ahead, self.start)
        at = self._front[-1][1] + 4 if self._front else self.start
        rest = peel(self.ahead, at, end) if end - at <= TOILED else behind(self.ahead, at, end)
        return [*self._front, *rest]

    def _has_header(self, payload: Payload) -> bool:
        """Whether the last bytes of the payload's header stand before it."""
        begin, end = payload
        return begin >= self.start + _LEFT and self.ahead.peek(begin - _LEFT, _LEFT) == header(end - begin)[-_LEFT:]
