"""Explaining a gap, and finding the way again.

A gap begins where no sound record does. It is explained by the strongest evidence first: the header mended from its own
redundancy; one record whose header is lost, proved by its data checksum; one record whose length is known and whose
content therefore is not records, whatever it looks like; and at last the first place where sound records go on.

Content of a damaged record must never come out as records: a record can hold a whole record file. What tells the two
apart is where a chain of sound headers ends. A chain that stays inside the extent which a sound header claims, and
ends there, is that record's content; so is one that the bytes before it announce as a value of a message. A chain
that runs through the claimed end, or to the end of the stream, is the file's. Where the way goes on, the search still
looks past the chain for the boundary at which a data checksum proves a payload around it. What cannot be told is a
record file inside a record whose length is lost and whose payload is damaged too: its records look like the file's
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from tfrtool.framing import words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.crc import Masked, crc32c, rotated
from tfrtool.framing.damage import Damage, Rescue
from tfrtool.framing.layout import FRAMING, HEADER, LONGEST
from tfrtool.framing.mend import mends
from tfrtool.framing.peel import behind as peel_behind
from tfrtool.framing.peel import peel
from tfrtool.framing.scout import TOILED, Ledger, Scout
from tfrtool.framing.window import CAPACITY, Readable
from tfrtool.framing.writers import wrong_writer

_UNHEARD_OF = 1 << 31
"""Lengths that no writer of messages makes: protocol buffers end at 2 GiB."""
_FOOTER_APART = 1 << 20
_STEP = 1 << 16
_CHAINS = 1 << 10
_HEADER = Struct("<QI")

Explained = tuple[list[Damage], int]
"""Damage, and the offset behind it where the walk goes on."""


class Resync:
    """Explains the gaps of one stream."""

    def __init__(self, data: Readable, ledger: Ledger) -> None:
        self.ahead = Ahead(data, ledger)
        self.ledger = ledger
        self._ways: list[int] = []

    def confined(self, end: int) -> bool:
        """Whether a record really ends at `end`: the next one stands there, with a sound or a mended header."""
        return self.ahead.boundary(end) or self._mended(end, None) is not None

    def crossed(self, start: int, end: int) -> bool:
        """Whether a sound record within the payload of the record `[start, end)` goes on into its checksum or further.

        No content does. So the record does not end at `end`, though a sound header stands there by chance.
        """
        if not self.ledger.spend(end - start):
            return False
        scout = Scout(self.ahead.near, start, at=start + HEADER, keep=start)
        scout.until = end
        while (header := scout.next()) is not None and header < end:
            if self._stands(header, scout):
                stop = header + FRAMING + int(_HEADER.unpack(self.ahead.head(header))[0])
                crosses = stop > end - 4 and self.ledger.spend(stop - header)
                if crosses and self.ahead.data_holds(header + HEADER, stop - 4):
                    return True
        return False

    # Where the header is unsound

    def _put_in(self, start: int) -> Explained | None:
        """What stands between records among bytes that were put into a record, and up to the end of that record."""
        self._ways = [way for way in self._ways if way > start]
        if not self._ways:
            return None
        return [Scout(self.ahead.near, start, at=start, keep=start).passed(self._ways[0])], self._ways[0]

    def explain(self, start: int, number: int) -> Explained:
        """What stands from `start` on, where the header is unsound."""
        put_in = self._put_in(start)
        if put_in:
            return put_in
        head = self.ahead.head(start)
        if len(head) < HEADER:
            end = start + len(head)
            return [Damage(start, end, "torn", number, message=words.torn_header(len(head)))], end
        found = wrong_writer(self.ahead, start, number) or self._mended(start, number)
        if found:
            return [found], found.end
        return self._lost_header(start, number, head)

    def _stands(self, header: int, scout: Scout) -> bool:
        if self.ledger.broke:
            scout.skip()
            return False
        return self.ahead.stands(header)

    def _holder(self, doubtful: int | None, header: int, end: int, how: str) -> int:
        """Where the file goes on if a chain `[header, end)` is its own, or the content of the record at `doubtful`.

        That one has a sound header alone; what it says of its payload speaks for it.
        """
        if doubtful is not None and how == "dead":
            length: int = _HEADER.unpack(self.ahead.head(doubtful))[0]
            if self.ahead.value(doubtful, length, header) >= end - header:
                return doubtful
        return header

    def _mended(self, start: int, number: int | None) -> Damage | None:
        """The header mended, where the payload's checksum then holds."""
        head = self.ahead.head(start)
        if len(head) < HEADER:
            return None
        as_it_stands: int = _HEADER.unpack(head)[0]
        for length in self._lengths(start, head):
            end = start + FRAMING + length
            if not self.ahead.fits(end) or not self.ledger.spend(length):
                continue
            if self.ahead.data_holds(start + HEADER, end - 4):
                message = words.mended(length, (length ^ as_it_stands).bit_count())
                rescue = Rescue("mended-header", 1, ((start + HEADER, end - 4),))
                return _header_damage(start, end, number, head, message, rescue)
        return None

    def _lengths(self, start: int, head: bytes) -> Iterator[int]:
        """The lengths that a damaged header may have held, the likeliest first."""
        as_it_stands: int = _HEADER.unpack(head)[0]
        if self._leads_on(start, as_it_stands):
            yield as_it_stands
        for length in mends(head):
            if length < LONGEST:
                yield length
        if as_it_stands < LONGEST:
            yield as_it_stands

    def _leads_on(self, start: int, length: int) -> bool:
        end = start + FRAMING + length
        return length < LONGEST and self.ahead.fits(end) and self.ahead.boundary(end)

    def _known_end(self, start: int, head: bytes) -> int | None:
        """Where the record ends if its damaged header, mended or as it stands, still points at a boundary."""
        if not any(head):
            return None
        for length in self._lengths(start, head):
            if self._leads_on(start, length):
                return start + FRAMING + length
        return None

    def _lost_header(self, start: int, number: int, head: bytes) -> Explained:
        known_end = self._known_end(start, head)
        scout = Scout(
            self.ahead.near, start, at=start + 1, keep=start if known_end is not None else None, remember=TOILED
        )
        sight = self.ledger.sight()
        gap: Damage | None = None
        peeled: list[Damage] = []
        first: int | None = None
        records_go_on = False
        while True:
            header = scout.next()
            boundary = scout.at if header is None else header
            self.ledger.reach(boundary)
            if header is None and scout.gave_up:
                break
            if known_end is not None and boundary >= known_end:
                header = None
                boundary = known_end
            proved = self._proved(scout, start, boundary, number, head)
            if proved:
                return [proved], boundary
            if gap is not None:
                begin = scout.begins(boundary, self.ledger)
                if begin is not None:
                    return self._apart(start, boundary, number, [(begin, boundary - 4)]), boundary
            if header is None:
                if known_end is None and gap is None:
                    peeled = self._peeled(scout, start, boundary, number, head)
                break
            if known_end is not None:
                continue
            if not self._stands(header, scout):
                first = first or header
                continue
            end, how = self.ahead.follow(header, sight)
            if how == "dead" and (self.ahead.announced(start, header, end) or self.ahead.a_checksum_apart(end)):
                scout.at = max(end, scout.at)
                first = None
                continue
            if gap is None:
                # The stretch behind it will be searched once more.
                header = first if first is not None and self.ledger.toil(CAPACITY // 2 + end - first) else header
                peeled = self._peeled(scout, start, header, number, head, at_will=how != "dead")
                if peeled:
                    break
            # The file goes on here, unless a record around the chain is proved behind it.
            if gap is None:
                scout.keep = max(start, header - TOILED)
                # A chain that ends at a damaged record is the file's; one that ends at anything else may be content.
                records_go_on = how != "dead" or self.ahead.reach(end) > end
                gap = scout.passed(header)
                scout.mark(header)
                scout.until = header + sight
            self.ledger.look(_STEP)
            sight -= _STEP
            if how != "dead" or sight < 0:
                break
            scout.at = max(end, scout.at)
        if gap is not None:
            self.ledger.look(scout.at - gap.end)
            if records_go_on:
                peeled = peeled or self._peeled(None, start, gap.end, number, head)
        if peeled:
            return peeled, peeled[-1].end
        if known_end is not None:
            message = words.lost(known_end - start - FRAMING)
            return [_header_damage(start, known_end, number, head, message, None)], known_end
        gap = gap or scout.passed(scout.at)
        return [gap], gap.end

    def _proved(self, scout: Scout, start: int, boundary: int, number: int, head: bytes) -> Damage | None:
        """The record that ends at `boundary` and fills the gap, if its data checksum proves its payload."""
        if scout.proves(boundary):
            message = words.lost_header(boundary - start - FRAMING)
            rescue = Rescue("lost-header", 1, ((start + HEADER, boundary - 4),))
            return _header_damage(start, boundary, number, head, message, rescue)
        return None

    def _peeled(
        self, scout: Scout | None, start: int, end: int, number: int, head: bytes, *, at_will: bool = True
    ) -> list[Damage]:
        """The gap `[start, end)` as records with lost headers and what lies between them, if any is proved.

        The last one may lack bytes of its header. What else is found may also be content of a record whose header is
        lost as well, so the caller asks for that (`at_will`) only where records go on for good behind the gap.
        """
        begin = scout.lost_bytes(end, self.ledger) if scout else None
        if begin is not None:
            rescue = Rescue("late-start", 1, ((begin, end - 4),))
            message = words.late_start(begin, end - 4 - begin)
            return [_header_damage(start, end, number, head, message, rescue)]
        return self._apart(start, end, number, peel(self.ahead, start, end) if at_will else [])

    def _apart(self, start: int, end: int, number: int, payloads: list[tuple[int, int]]) -> list[Damage]:
        """The gap `[start, end)` as the records of these payloads, and what lies between them."""
        found: list[Damage] = []
        at = start
        for begin, stop in payloads:
            first = max(at, begin - HEADER)
            if first > at:
                found.append(Scout(self.ahead.near, at, at=at, keep=at).passed(first))
            in_place = begin - first == HEADER
            message = words.lost_header(stop - begin) if in_place else words.late_start(begin, stop - begin)
            rescue = Rescue("lost-header" if in_place else "late-start", 1, ((begin, stop),))
            found.append(_header_damage(first, stop + 4, number, self.ahead.head(first), message, rescue))
            number, at = number + 1, stop + 4
        if payloads and at < end:
            found.append(Scout(self.ahead.near, at, at=at, keep=at).passed(end))
        return found

    # Where the header is sound and the record is not

    def cut_short(self, start: int, number: int, length: int, fits: bool, crcs: tuple[int, int] | None) -> Explained:
        """What stands from `start` on, where the header is sound but the record does not end where it claims to.

        Bytes are missing from it or too many are in it, or (`fits` is false) it claims more than is left. `crcs` are
        the computed and the stored data checksum.
        """
        put_in = self._put_in(start)
        if put_in:
            return put_in
        claimed = start + FRAMING + length
        scout = Scout(self.ahead.near, start, at=start + HEADER, keep=start if fits else None)
        sight = self.ledger.sight()
        chains: list[tuple[int, int]] = []
        resume: int | None = None
        over = False
        held = tail = 0
        doubtful: int | None = None
        if fits:
            scout.until = claimed + sight
        while True:
            header = scout.next()
            boundary = scout.at if header is None else header
            self.ledger.reach(boundary)
            if header is None and scout.gave_up:
                break
            if fits and boundary > claimed:
                behind = self.ahead.rejoined(start + HEADER, length, boundary)
                if behind is not None:
                    return self._rejoined(start, number, length, boundary, behind, crcs, chains)
            if header is None:
                break
            if not self._stands(header, scout):
                doubtful = header
                continue
            if resume is None and not fits:
                scout.keep = header
            end, how = self.ahead.follow(header, sight)
            if len(chains) < _CHAINS:
                chains.append((header, end))
            if how == "dead" and not held and length < _UNHEARD_OF:
                held, tail = self.ahead.holds_file(start, length, header)
            inside = held and how == "dead" and end - header <= held
            if inside or self._is_content(start, length, fits, header, end, how):
                held = max(0, held - (end - header))
                scout.keep = start if fits else resume
                over = over or end > claimed
                if inside and resume is None and self.ahead.boundary(end + tail + 4) and fits:
                    # What follows the value is as long as it has to be: here the record ends.
                    resume = end + tail + 4
                    behind = self.ahead.rejoined(start + HEADER, length, resume) if resume > claimed else None
                    if behind is not None:
                        return self._rejoined(start, number, length, resume, behind, crcs, chains)
                    break
            elif resume is None:
                resume = self._holder(doubtful, header, end, how)
            self.ledger.look(_STEP)
            sight -= _STEP
            if resume is not None and (how != "dead" or not fits or sight < 0):
                break
            scout.at = max(end, scout.at)
        self.ledger.look(max(0, scout.at - claimed) if fits else 0)
        if resume is not None or (header is None and not over and not scout.gave_up):
            to = scout.at if resume is None else resume
            lost = peel_behind(self.ahead, start + HEADER, to) if fits or resume is not None else []
            if lost and (lost[0][0] < claimed + HEADER or over):
                first = max(start + HEADER, lost[0][0] - HEADER)
                cut = _data_damage(start, first, number, crcs, words.cut(length, first - start - HEADER), None)
                return [cut, *self._apart(first, to, number + 1, lost)], to
        if fits:
            return self._claimed(start, number, length, crcs, resume, scout.at if over else None)
        return self._too_long(start, number, length, resume, scout.at)

    def _is_content(self, start: int, length: int, fits: bool, header: int, end: int, how: str) -> bool:
        """Whether the chain `[header, end)` is content of the record that claims `length` bytes from `start` on."""
        claimed = start + FRAMING + length
        if length >= _UNHEARD_OF:
            return False
        if how == "dead":
            if self.ahead.announced(start, header, end):
                return True
            if (not fits or end <= claimed) and self.ahead.reach(end) == end:
                return True
            # A record file that is the whole payload ends right before the payload's checksum, also where bytes were
            # put in.
            return fits and end <= claimed + _FOOTER_APART and self.ahead.a_checksum_apart(end)
        if fits or how != "end":
            return False
        # The chain fills the stream to its end, and the stream may have been cut between two records of the content.
        return header == start + HEADER or self.ahead.announced_past(start, header, end, claimed - 4)

    def _rejoined(
        self,
        start: int,
        number: int,
        length: int,
        end: int,
        behind: int,
        crcs: tuple[int, int] | None,
        chains: list[tuple[int, int]],
    ) -> Explained:
        extra = end - start - FRAMING - length
        rescue = Rescue("rejoined", 1, ((start + HEADER, behind), (behind + extra, end - 4)))
        # Records among the bytes that were put in are another writer's, and the file's own: the walk goes on with them.
        put_in = [header for header, stop in chains if behind <= header and stop <= behind + extra]
        if put_in:
            self._ways = [*put_in[1:], end]
            end = put_in[0]
        return [_data_damage(start, end, number, crcs, words.rejoined(length, extra, behind), rescue)], end

    def _claimed(
        self, start: int, number: int, length: int, crcs: tuple[int, int] | None, resume: int | None, over: int | None
    ) -> Explained:
        claimed = start + FRAMING + length
        end = over if resume is None else resume
        if end is not None and (end < claimed or over is not None):
            rescue = None
            if claimed - 4 <= end < claimed:
                rescue = Rescue("unproved", 1, ((start + HEADER, claimed - 4),))
            return [_data_damage(start, end, number, crcs, words.cut(length, end - start - HEADER), rescue)], end
        # Nothing goes on inside: the record is damaged as a whole, and what follows it is a gap of its own.
        return [_data_damage(start, claimed, number, crcs, words.data_unsound(length), None)], claimed

    def _too_long(self, start: int, number: int, length: int, resume: int | None, end: int) -> Explained:
        if resume is None:
            present = end - start - HEADER
            rescue = Rescue("unproved", 1, ((start + HEADER, start + HEADER + length),)) if present >= length else None
            return [Damage(start, end, "torn", number, message=words.torn(length, present), rescue=rescue)], end
        if resume == start + HEADER:
            return [Damage(start, resume, "stray", message=words.stray_header(length))], resume
        return [_data_damage(start, resume, number, None, words.cut(length, resume - start - HEADER), None)], resume

    # Telling the format

    def record_at_start(self) -> bool:
        """Whether the first record is proved by its payload, though its header is unsound."""
        if len(self.ahead.head(0)) < HEADER:
            return False
        return wrong_writer(self.ahead, 0, 0) is not None or self._mended(0, 0) is not None

    def record_within(self, most: int) -> bool:
        """Whether a record that is sound, or followed by one, begins in the first `most` bytes."""
        scout = Scout(self.ahead.near, 0, at=0, keep=0)
        while scout.at < most:
            header = scout.next()
            if header is None:
                return False
            if self.ahead.stands(header):
                return True
        return False


def _header_damage(
    start: int, end: int, number: int | None, head: bytes, message: str, rescue: Rescue | None
) -> Damage:
    want, got = Masked(rotated(crc32c(head[:8]))), Masked(_HEADER.unpack(head)[1])
    return Damage(start, end, "length-crc", number, want, got, message, rescue)


def _data_damage(
    start: int, end: int, number: int, crcs: tuple[int, int] | None, message: str, rescue: Rescue | None
) -> Damage:
    want, got = (Masked(crcs[0]), Masked(crcs[1])) if crcs else (None, None)
    return Damage(start, end, "data-crc", number, want, got, message, rescue)
