"""A claim: what stands where a header is sound, but the record does not end where that header says.

Bytes are missing from the record or too many are in it, or it claims more than is left. Content of the record must
never come out as records: it can hold a whole record file. What tells the two apart is where a chain of sound headers
ends. A chain that stays inside the extent which the header claims, and ends there, is content; so is one that the bytes
before it announce as a value of a message, and in doubt one that may be a part of a record file in the payload. A chain
that runs through the claimed end, or to the end of the stream, is the file's; so is one that ends at a damaged record.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import messages as words
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.gap_scan import CANDIDATE, LOOK, TOILED
from tfrtool.framing.recovery.header_bits import may_be_left
from tfrtool.framing.recovery.lookahead import Ahead, Ending
from tfrtool.framing.recovery.lost_headers import Explained, Payload, apart, behind, data_damage
from tfrtool.framing.recovery.nested import Chain, Content

_FOOTER = Struct("<I")
_LINE_ENDS = (b"\r", b"\n")
_SHORT = 1 << 13
"""Largest payload for which several places are tried as its end, in bytes: each try reads it once more."""
_AGAIN = 16
"""What searching a byte once more costs: a search may find a header every 12 bytes, and try each."""


class Claim:
    """The record `number`, which claims `length` bytes of payload from `start + 12` on.

    Where it `fits`, `crcs` are the computed and the stored data checksum. `passes` are, once it is explained, the
    stretches behind it that the walk has to pass over where it meets damage in them: what is content of the record, and
    what stands between the records among bytes that were put into it.
    """

    def __init__(
        self, ahead: Ahead, start: int, number: int, length: int, fits: bool, crcs: tuple[int, int] | None
    ) -> None:
        self.ahead = ahead
        self.ledger = ahead.ledger
        self.start = start
        self.number = number
        self.length = length
        self.end = start + FRAMING + length
        self.fits = fits
        self.crcs = crcs
        self.passes: list[tuple[int, int]] = []
        self.scout = ahead.scout(start, at=start + HEADER, keep=start if fits else None, hold=TOILED)
        self.sight = ahead.ledger.sight()
        self.content = Content(ahead, start, length, fits)
        self._resume: int | None = None
        self._own = start  # where the last chain ended that is the file's
        self._shut = False  # whether a chain behind it is content all the same
        self._over = False  # whether a chain that is content goes beyond the claimed end
        self._doubtful: int | None = None
        if fits:
            self.scout.until = self.end + self.sight

    def explained(self) -> Explained:
        """The damage, and the offset behind it where the walk goes on."""
        scout = self.scout
        over: Explained | None = None
        while over is None:
            header = scout.next()
            boundary = scout.at if header is None else header
            self.ledger.reach(boundary)
            if header is None and scout.gave_up:
                return self._told(to_the_end=False)
            over = self._rejoined(boundary)
            if over is None:
                over = self._told(to_the_end=True) if header is None else self._tried(header)
        return over

    def _tried(self, header: int) -> Explained | None:
        """What the record is if the file goes on at this sound header; None if the search has to go on."""
        if not self.ahead.tries(header, self.scout):
            self._doubtful = header
            self.content.opens(header)
            return None
        if self._resume is None and not self.fits:
            self.scout.keep = header
        end, how = self.ahead.follow(header, self.sight)
        self.content.found(header, end, how)
        closed = (self._around(header, end) or self._closed(header, end)) if how == "dead" else None
        if closed:
            return closed
        if self._resume is None:
            through = self.content.led_through(header)
            if through is not None:
                return self._rejoined(through) or self._damage(through, words.holds_records(self.length), None)
        inside = how == "dead" and self.content.may_hold(header, end)
        if inside:
            self._shut = self._resume is not None
        else:
            if self._shut:
                self.passes.append((self._own, header))
            self._own, self._shut = end, False
        if inside or self.content.holds(header, end, how):
            self.scout.keep = self.start if self.fits else self._resume
            self._over = self._over or end > self.end
        elif self._resume is None:
            self._resume = self._holder(header, end, how)
            if self.content.unlikely is not None and header < self.end:
                self._resume = self.content.unlikely
        self.ledger.look(LOOK)
        self.sight -= LOOK
        if self._resume is not None and (how != "dead" or not self.fits or self.sight < 0):
            return self._told(to_the_end=False)
        self.scout.at = max(end, self.scout.at)
        return None

    def _passed(self, put_in: list[Chain], end: int) -> int:
        """Where the walk goes on, if it is to read these chains and then go on at `end`."""
        begins = [*(header for header, _ in put_in), end]
        self.passes = [(stop, begin) for (_, stop), begin in zip(put_in, begins[1:], strict=True)]
        return begins[0]

    def _around(self, header: int, end: int) -> Explained | None:
        """The record cut, and one with a lost header behind it, if the chain `[header, end)` is proved its payload."""
        if not self.ahead.a_checksum_apart(end) or not self.ledger.spend(end - header):
            return None
        if not self.ahead.data_holds(header, end):
            return None
        rejoined = self._rejoined(end + 4)
        if rejoined:
            return rejoined
        if self._resume is not None or (self.fits and header - HEADER >= self.end):
            return self._told(to_the_end=False)  # that one comes later
        stop = max(self.start + HEADER, header - HEADER)
        found, _ = self._damage(stop, words.cut(self.length, stop - self.start - HEADER), None)
        return [*found, *apart(self.ahead, stop, end + 4, self.number + 1, [(header, end)])], end + 4

    def _closed(self, header: int, end: int) -> Explained | None:
        """The record up to its end, if the chain `[header, end)` is what is left of a record file that it holds."""
        closing = self.content.closing(header, end, self.sight)
        if closing is None:
            return None
        if closing.start != self.start:  # that of a later record: the file goes on there
            self._resume = min(self._resume or closing.start, closing.start)
            return self._told(to_the_end=False)
        rejoined = self._rejoined(closing.end)
        return rejoined or self._damage(
            self._passed(closing.put_in, closing.end), words.holds_records(self.length), None
        )

    def _holder(self, header: int, end: int, how: Ending) -> int:
        """Where the file goes on if the chain `[header, end)` is its own, or content of the record before it.

        That one has a sound header alone; what it says of its payload speaks for it.
        """
        before = self._doubtful
        if before is not None and how == "dead":
            length = self.ahead.told(self.ahead.head(before))
            if self.ahead.value(before, length, header) >= end - header:
                return before
        return header

    # What it comes to

    def _rejoined(self, end: int, what: bytes = b"") -> Explained | None:
        """The record that ends at the boundary `end`, if its payload is whole once some bytes within are taken out.

        Only these, if it is told `what` they are.
        """
        if not self.fits or end <= self.end:
            return None
        first = self.ahead.rejoined(self.start + HEADER, self.length, end)
        extra = end - self.end
        if first is None or (what and self.ahead.peek(first, extra) != what):
            return None
        rescue = Rescue("rejoined", 1, ((self.start + HEADER, first), (first + extra, end - 4)))
        # Records among the bytes that were put in are another writer's, and the file's own: the walk goes on with them.
        put_in = [(header, stop) for header, stop in self.content.chains if first <= header and stop <= first + extra]
        lost = []
        if put_in:
            end = self._passed(put_in, end)
            lost = behind(self.ahead, first, end)
        stop = max(first, lost[0][0] - HEADER) if lost else end
        found, _ = self._damage(stop, words.rejoined(self.length, extra, first), rescue)
        return [*found, *apart(self.ahead, stop, end, self.number + 1, lost)], end

    def _rejoined_before(self, lost: list[Payload], to: int) -> Explained | None:
        """The same where damage behind the record hides its end, since no boundary stands there up to `to`.

        That end is looked for before the first payload that is `lost` and its header. If the record is short, also
        nearer to that payload, of whose header any part may stand there, and right behind the claimed end, where a line
        end that was put into the payload moves it.
        """
        if self.ledger.tired:
            return None
        short = self.length <= _SHORT
        ends = range(lost[0][0] - HEADER, lost[0][0] + 1) if lost else range(0)
        for end in ends if short else ends[:1]:
            found = self._rejoined(end)
            if found:
                return found
        for what in _LINE_ENDS if short and to > self.end + HEADER else ():
            found = self._rejoined(self.end + len(what), what)
            if found:
                return found
        return None

    def _told(self, *, to_the_end: bool) -> Explained:
        """What the search has come to; `to_the_end` if it went to the end of the stream."""
        if self.fits:
            self.ledger.look(max(0, self.scout.at - self.end))
        lost = (
            self._lost_behind() if self._resume is not None or (to_the_end and self.fits and not self._over) else None
        )
        return lost or (self._claimed() if self.fits else self._too_long())

    def _lost_behind(self) -> Explained | None:
        """The record cut, and records with lost headers behind it, up to where the file goes on."""
        to = self.scout.at if self._resume is None else self._resume
        lost = behind(self.ahead, self.start + HEADER, to)
        rejoined = self._rejoined_before(lost, to)
        if rejoined:
            return rejoined
        if not lost or (lost[0][0] >= self.end + HEADER and not self._over):
            return None
        first = max(self.start + HEADER, lost[0][0] - HEADER)
        found, _ = self._damage(first, words.cut(self.length, first - self.start - HEADER), None)
        return [*found, *apart(self.ahead, first, to, self.number + 1, lost)], to

    def _claimed(self) -> Explained:
        end = self._resume
        if (end is None or end >= self.end) and not self._over:
            crossing = self.content.crossing(self.end)
            # What is behind that header is searched once more.
            if crossing and self.ledger.spend(_AGAIN * (self.scout.at - crossing + CANDIDATE)):
                end = crossing
        if end is None and self._over:
            end = self.scout.at
        if end is not None and (end < self.end or self._over):
            if self.end - 4 <= end < self.end:
                return self._lacking(end)
            return self._damage(end, words.cut(self.length, end - self.start - HEADER), None)
        # Nothing goes on inside: the record is damaged as a whole, and what follows it is a gap of its own.
        return self._damage(self.end, words.data_unsound(self.length), None)

    def _lacking(self, end: int) -> Explained:
        """The record up to `end`, which lacks some of its last 4 bytes, or as many elsewhere."""
        first, last = self.start + HEADER, self.end - 4
        if end == last:
            whole: bool | None = None
        elif self.crcs or self.ledger.spend(self.length):
            sums = [_FOOTER.pack(self.crcs[0])] if self.crcs else self.ahead.checksums(first, last)
            whole = self._may_be_whole(sums, end)
        else:
            whole = False
        rescue = None if whole is False else Rescue("unproved", 1, ((first, last),))
        return self._damage(end, words.lacking(self.length, self.end - end, whole), rescue)

    def _may_be_whole(self, sums: list[bytes], end: int) -> bool:
        """Whether what is left of the checksum, before `end`, may be of one of these."""
        last = self.end - 4
        left = self.ahead.peek(last, end - last)
        return any(may_be_left(one, left) for one in sums)

    def _too_long(self) -> Explained:
        first, length = self.start + HEADER, self.length
        if self._resume is None:
            end = self.scout.at
            present = end - first
            whole = present >= length and self._may_be_whole(self.scout.checksums(first + length), end)
            rescue = Rescue("unproved", 1, ((first, first + length),)) if whole else None
            message = words.torn(length, present, whole)
            return [Damage(self.start, end, "torn", self.number, detail=message, rescue=rescue)], end
        if self._resume == first:
            return [Damage(self.start, first, "stray", detail=words.stray_header(length))], first
        return self._damage(self._resume, words.cut(length, self._resume - first), None)

    def _damage(self, end: int, message: str, rescue: Rescue | None) -> Explained:
        return [data_damage(self.start, end, self.number, self.crcs, message, rescue)], end
