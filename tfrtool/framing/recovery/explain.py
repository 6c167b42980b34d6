"""Explaining damage, and finding the way again.

Where a header is unsound a gap begins (`gap`); where it is sound and the record is not, its claim is looked into
(`claim`). Content of a damaged record must never come out as records: a record can hold a whole record file. What
cannot be told is a record file inside a record whose length is lost and whose payload is damaged too: its records look
like the file's own.
"""

from __future__ import annotations

from tfrtool.framing import messages as words
from tfrtool.framing.crc import masked_crc, unmasked
from tfrtool.framing.damage import Damage
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER, LAYOUTS, LONGEST, Layout
from tfrtool.framing.recovery.bad_extent import Claim
from tfrtool.framing.recovery.bad_header import Gap, may_be_mended, mended, readings
from tfrtool.framing.recovery.crc_math import flipped_bit
from tfrtool.framing.recovery.gap_scan import CANDIDATE, Ledger, Scout
from tfrtool.framing.recovery.header_bits import one_bit_apart
from tfrtool.framing.recovery.lookahead import Ahead
from tfrtool.framing.recovery.lost_headers import Explained, passed
from tfrtool.framing.recovery.nested import held
from tfrtool.framing.recovery.wrong_writers import (
    VariantAhead,
    confined,
    early_writer,
    may_be_wrong,
    writer_at,
    wrong_writer,
)
from tfrtool.framing.stream import CAPACITY, Readable

_FLIPPED_MOST = 1 << 16
"""Largest payload that is searched for one flipped bit, in bytes."""


class Resync:
    """Explains the damage of one stream."""

    def __init__(self, data: Readable, ledger: Ledger) -> None:
        self.ahead = Ahead(data, ledger)
        self.ledger = ledger
        self._passes: list[tuple[int, int]] = []

    def explain(self, start: int, number: int) -> Explained:
        """What stands from `start` on, where the header is unsound."""
        put_in = self._put_in(start)
        if put_in:
            return put_in
        head = self.ahead.head(start)
        if len(head) < HEADER:
            end = start + len(head)
            return [Damage(start, end, "torn", number, detail=words.torn_header(len(head)))], end
        written = self._by_a_wrong_writer(start, number, head)
        if written:
            return written
        read = readings(self.ahead, start, head)
        found = mended(self.ahead, read, number)
        if found:
            return [found], found.end
        if not start and self._learn(early_writer(self.ahead)):
            return self.explain(start, number)
        return Gap(self.ahead, read, number).explained()

    def _by_a_wrong_writer(self, start: int, number: int, head: bytes) -> Explained | None:
        """What a wrong writer's header stands for; its records are looked for from then on."""
        if not may_be_wrong(head):
            return None
        found = wrong_writer(self.ahead, start, number, head)
        if found:
            self._learn(LAYOUTS[found.rescue.layout] if found.rescue and found.restorable else None)
            return [found], found.end
        layout = writer_at(self.ahead, start, head)
        if layout is None:
            return None
        self._learn(layout)
        length = layout.length(head)
        end = start + FRAMING + length
        fits = length < LONGEST and self.ahead.fits(end)
        if fits and self.confined(start, end):
            return [confined(self.ahead, layout, start, end, number)], end
        return self.cut_short(start, number, length, fits, None)

    def _learn(self, layout: Layout | None) -> bool:
        """Look for the frames of this writer too; whether that is news."""
        known = self.ahead.layout if isinstance(self.ahead, VariantAhead) else None
        if layout is None or layout is known:
            return False
        self.ahead = VariantAhead(self.ahead, layout)
        return True

    def cut_short(self, start: int, number: int, length: int, fits: bool, crcs: tuple[int, int] | None) -> Explained:
        """What stands from `start` on, where the header is sound but the record does not end where it claims to.

        Bytes are missing from it or too many are in it, or (`fits` is false) it claims more than is left. `crcs` are
        the computed and the stored data checksum.
        """
        put_in = None if self._passes and self._holds_file(start, start + FRAMING + length) else self._put_in(start)
        if put_in:
            return put_in
        claim = Claim(self.ahead, start, number, length, fits, crcs)
        explained = claim.explained()
        self._passes = claim.passes or self._passes
        return explained

    def _put_in(self, start: int) -> Explained | None:
        """What stands from `start` on, where an earlier claim has told that it is to be passed over."""
        self._passes = [(begin, end) for begin, end in self._passes if begin >= start]
        if not self._passes or start != self._passes[0][0]:
            return None
        end = self._passes[0][1]
        return ([passed(self.ahead, start, end)], end) if end > start else None

    # Where a record really ends

    def confined(self, start: int, end: int) -> bool:
        """Whether the damaged record `[start, end)` really ends there.

        The next one stands there, with a sound or a mended header. And no sound record within the payload goes on
        into its checksum or further: no content does, so then the header stands there by chance.
        """
        there = self.ahead.boundary(end) or may_be_mended(self.ahead, end)
        return there and not self._crossed(start, end) and not self._led_astray(start, end)

    def _led_astray(self, start: int, end: int) -> bool:
        """Whether the header at `end` is one of a record file that the record holds, put there by bytes too many."""
        ahead, length = self.ahead, end - start - FRAMING
        if not ahead.sound(ahead.head(end)):
            return False
        stop = ahead.dies_within(end, length)
        if stop is None:
            return False
        value = held(ahead, start, length)
        closing = stop + (value.tail if value else 0) + 4
        if not ahead.fits(closing) or not ahead.boundary(closing):
            return False
        return value is not None or ahead.rejoined(start + HEADER, length, closing) is not None

    def _crossed(self, start: int, end: int) -> bool:
        if not self.ledger.spend(end - start):
            return False
        window = self.ahead.near
        if end - start <= CAPACITY and not isinstance(self.ahead, VariantAhead):
            # Nearly always there is no header within, so that is found out without more ado.
            index = window.load(start, end - start)
            found, stop = kernel.scan(window.buffer, index + HEADER, index + end - start)
            if not found and stop >= index + end - start - HEADER + 1:
                return False
        scout = self.ahead.scout(start, at=start + HEADER, keep=start)
        scout.until = end
        heads = []
        while (header := scout.next()) is not None and header < end:
            stop = self.ahead.reach(header)
            if stop > end and not self._holds_file(start, end):
                return True
            if self.ahead.tries(header, scout):
                heads.append(header)
                crosses = stop > end - 4 and self.ledger.spend(stop - header)
                if crosses and self.ahead.data_holds(header + HEADER, stop - 4):
                    return True
        return bool(heads) and self._misplaced(start, end, heads)

    def _holds_file(self, start: int, end: int) -> bool:
        value = held(self.ahead, start, end - start - FRAMING)
        return value is not None and value.seen == "file"

    def _misplaced(self, start: int, end: int, heads: list[int]) -> bool:
        """Whether the records at `heads` within the record are a block from another place of the file.

        Such a block breaks off within a record, while a record file in the payload ends with a whole one. A payload
        that begins as a record file, or cannot be read up to the value that may be one, keeps what is in it.
        """
        ahead, at = self.ahead, start
        value = held(ahead, start, end - start - FRAMING)
        if value is not None and value.seen != "else":
            return False
        for head in heads:
            if head < at:
                continue
            if not self.ledger.spend(CANDIDATE):
                return False
            at, how = ahead.follow(head, self.ledger.sight())
            if how == "dead" and (ahead.announced(start, head, at) or not self._broken(at, end)):
                return False
        return True

    def _broken(self, header: int, end: int) -> bool:
        """Whether the record at this header, where a chain died, breaks off: it goes on behind `end`, or is more than
        its one flipped bit from being sound."""
        stop = self.ahead.reach(header)
        size = stop - header - FRAMING
        if stop == header or stop > end - 4:
            return stop > header
        if size > _FLIPPED_MOST or not self.ledger.toil(size):
            return False
        data = self.ahead.read(header + HEADER, stop)
        stored = int.from_bytes(data[size:], "little")
        if one_bit_apart(masked_crc(data[:size]), stored):
            return False
        return flipped_bit(data[:size], unmasked(stored)) is None

    # Telling the format

    def record_at_start(self) -> bool:
        """Whether the first record is proved by its payload, though its header is unsound."""
        head = self.ahead.head(0)
        if len(head) < HEADER:
            return False
        if may_be_wrong(head) and (wrong_writer(self.ahead, 0, 0, head) or writer_at(self.ahead, 0, head)):
            return True
        return may_be_mended(self.ahead, 0)

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
