"""Explain damage that begins with a valid header whose record does not end where the header says.

Bytes are missing from the record or too many are in it, or it claims more than is left. The strongest evidence comes
first: the payload matches its checksum at a later boundary once bytes are taken out; records with lost headers behind
the record; and the next record, which may stand inside the extent that the header declares.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import messages
from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.gap_scan import SEARCHED
from tfrtool.framing.recovery.header_bits import may_be_left
from tfrtool.framing.recovery.lookahead import Lookahead
from tfrtool.framing.recovery.lost_headers import Payload, data_damage, find_backward, split_by_payloads
from tfrtool.framing.recovery.nested import NestedRecords
from tfrtool.framing.recovery.search import Chain, Explained, Search

_FOOTER = Struct("<I")
_LINE_ENDS = (b"\r", b"\n")
_SHORT = 1 << 13
"""Largest payload for which several places are tried as its end, in bytes: each try reads it once more."""


class BadExtent:
    """The record `number`, whose header declares `length` bytes of payload from `start + 12` on.

    Where it `fits` the stream, `crcs` are the computed and the stored data checksum. `passes` are, once it is
    explained, the stretches behind it that belong to it, between records that were written into it.
    """

    def __init__(
        self,
        ahead: Lookahead,
        nested: NestedRecords,
        start: int,
        number: int,
        length: int,
        fits: bool,
        crcs: tuple[int, int] | None,
    ) -> None:
        self.ahead = ahead
        self.start = start
        self.first = start + HEADER
        self.number = number
        self.length = length
        self.end = start + FRAMING + length
        self.fits = fits
        self.crcs = crcs
        self.passes: list[Chain] = []
        self.scanner = ahead.scanner(start, at=self.first, keep=start if fits else None, hold=SEARCHED)
        self.search = Search(ahead, nested, start, self.scanner, self.end)
        if fits:
            self.scanner.until = self.end + ahead.budget.lookahead_limit()

    def explain(self) -> Explained:
        """The damage, and the offset behind it where the walk goes on."""
        explained = self.search.run(self._bytes_removed, lambda header: None)
        if explained:
            return explained
        resume, at_end = self.search.resume, not self.scanner.gave_up
        if self.fits:
            self.ahead.budget.charge_lookahead(max(0, self.scanner.at - self.end))
        if resume is not None or (self.fits and at_end):
            lost = self._lost_behind(self.scanner.at if resume is None else resume)
            if lost:
                return lost
        return self._declared(resume) if self.fits else self._too_long(resume)

    # What proves more than the next record

    def _bytes_removed(self, boundary: int, what: bytes = b"") -> Explained | None:
        """The record that ends at `boundary`, if its payload is whole once some bytes within are taken out.

        Tries: the places of one payload, at a boundary; where several match, all give the same payload. Only these
        bytes, if it is told `what` they are.
        """
        if not self.fits or boundary <= self.end:
            return None
        places = self.ahead.find_insertions(self.first, self.length, boundary)
        if not places:
            return None
        extra, end = boundary - self.end, boundary
        cut = next((begin for begin, _ in self.search.chains if begin in places), places[0])
        if what and self.ahead.peek(cut, extra) != what:
            return None
        recovery = Recovery("bytes-removed", 1, ((self.first, cut), (cut + extra, end - 4)))
        # Records among the bytes that were put in are the file's own: the walk goes on with them.
        put_in = [(begin, stop) for begin, stop in self.search.chains if cut <= begin and stop <= cut + extra]
        lost: list[Payload] = []
        if put_in:
            begins = [*(begin for begin, _ in put_in), end]
            self.passes = [(stop, begin) for (_, stop), begin in zip(put_in, begins[1:], strict=True)]
            end = begins[0]
            lost = find_backward(self.ahead, cut, end)
        stop = max(cut, lost[0][0] - HEADER) if lost else end
        found, _ = self._damage(stop, messages.rejoined(self.length, extra, cut), recovery)
        return [*found, *split_by_payloads(self.ahead, stop, end, self.number + 1, lost)], end

    def _lost_behind(self, to: int) -> Explained | None:
        """The record cut, and records with lost headers behind it, up to `to`."""
        lost = find_backward(self.ahead, self.first, to)
        removed = self._removed_before(lost, to)
        if removed:
            return removed
        if not lost or (self.fits and lost[0][0] >= self.end + HEADER):
            return None
        first = max(self.first, lost[0][0] - HEADER)
        found, _ = self._damage(first, messages.cut(self.length, first - self.first), None)
        return [*found, *split_by_payloads(self.ahead, first, to, self.number + 1, lost, self.length)], to

    def _removed_before(self, lost: list[Payload], to: int) -> Explained | None:
        """The record with bytes taken out, where damage behind it hides its end, since no boundary stands there.

        Its end is looked for before the first payload that is `lost`, of whose header any part may stand there, and
        right behind the declared end, where a line end that was put into the payload moves it.
        """
        short = self.length <= _SHORT
        ends = range(lost[0][0] - HEADER, lost[0][0] + 1) if lost else range(0)
        for end in ends if short else ends[:1]:
            found = self._bytes_removed(end)
            if found:
                return found
        for what in _LINE_ENDS if short and to > self.end + HEADER else ():
            found = self._bytes_removed(self.end + len(what), what)
            if found:
                return found
        return None

    # What it comes to

    def _declared(self, resume: int | None) -> Explained:
        if resume is not None and resume < self.end:
            if resume >= self.end - 4:
                return self._lacking(resume)
            return self._damage(resume, messages.cut(self.length, resume - self.first), None)
        # No record stands inside: the record is damaged as a whole, and what follows it is damage of its own.
        held = self.search.has_content
        return self._damage(self.end, (messages.holds_records if held else messages.data_unsound)(self.length), None)

    def _lacking(self, end: int) -> Explained:
        """The record up to `end`, which lacks some of its last 4 bytes, or as many elsewhere."""
        first, last = self.first, self.end - 4
        whole: bool | None = None
        if end > last:
            paid = self.crcs or self.ahead.budget.try_spend(self.length)
            sums = [_FOOTER.pack(self.crcs[0])] if self.crcs else self.ahead.checksums(first, last) if paid else []
            whole = self._may_be_whole(sums, end)
        recovery = None if whole is False else Recovery("unverified", 1, ((first, last),))
        return self._damage(end, messages.lacking(self.length, self.end - end, whole), recovery)

    def _may_be_whole(self, sums: list[bytes], end: int) -> bool:
        """Whether what is left of the checksum, before `end`, may be of one of these."""
        last = self.end - 4
        left = self.ahead.peek(last, end - last)
        return any(may_be_left(one, left) for one in sums)

    def _too_long(self, resume: int | None) -> Explained:
        first, length = self.first, self.length
        if resume is None:
            end = self.scanner.at
            present = end - first
            whole = present >= length and self._may_be_whole(self.scanner.checksums(first + length), end)
            recovery = Recovery("unverified", 1, ((first, first + length),)) if whole else None
            message = messages.torn(length, present, whole)
            return [Damage(self.start, end, "torn", self.number, detail=message, recovery=recovery)], end
        if resume == first:
            return [Damage(self.start, first, "stray", detail=messages.stray_header(length))], first
        return self._damage(resume, messages.cut(length, resume - first), None)

    def _damage(self, end: int, message: str, recovery: Recovery | None) -> Explained:
        return [data_damage(self.start, end, self.number, self.crcs, message, recovery)], end
