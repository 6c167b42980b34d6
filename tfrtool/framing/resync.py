"""Explaining damage, and finding the way again.

Where a header is unsound a gap begins (`gap`); where it is sound and the record is not, its claim is looked into
(`claim`). Content of a damaged record must never come out as records: a record can hold a whole record file. What
cannot be told is a record file inside a record whose length is lost and whose payload is damaged too: its records look
like the file's own.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import kernel, words
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.claim import Claim
from tfrtool.framing.damage import Damage
from tfrtool.framing.gap import Gap
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.mended import may_be_mended, mended, readings
from tfrtool.framing.scout import Ledger, Scout
from tfrtool.framing.told import Explained, passed
from tfrtool.framing.window import CAPACITY, Readable
from tfrtool.framing.writers import wrong_writer

_HEADER = Struct("<QI")


class Resync:
    """Explains the damage of one stream."""

    def __init__(self, data: Readable, ledger: Ledger) -> None:
        self.ahead = Ahead(data, ledger)
        self.ledger = ledger
        self._ways: list[int] = []

    def explain(self, start: int, number: int) -> Explained:
        """What stands from `start` on, where the header is unsound."""
        put_in = self._put_in(start)
        if put_in:
            return put_in
        head = self.ahead.head(start)
        if len(head) < HEADER:
            end = start + len(head)
            return [Damage(start, end, "torn", number, message=words.torn_header(len(head)))], end
        found = wrong_writer(self.ahead, start, number, head)
        if found:
            return [found], found.end
        read = readings(self.ahead, start, head)
        found = mended(self.ahead, read, number)
        return ([found], found.end) if found else Gap(self.ahead, read, number).explained()

    def cut_short(self, start: int, number: int, length: int, fits: bool, crcs: tuple[int, int] | None) -> Explained:
        """What stands from `start` on, where the header is sound but the record does not end where it claims to.

        Bytes are missing from it or too many are in it, or (`fits` is false) it claims more than is left. `crcs` are
        the computed and the stored data checksum.
        """
        put_in = self._put_in(start)
        if put_in:
            return put_in
        claim = Claim(self.ahead, start, number, length, fits, crcs)
        explained = claim.explained()
        self._ways = claim.ways or self._ways
        return explained

    def _put_in(self, start: int) -> Explained | None:
        """What stands between records among bytes that were put into a record, and up to the end of that record."""
        self._ways = [way for way in self._ways if way > start]
        return ([passed(self.ahead, start, self._ways[0])], self._ways[0]) if self._ways else None

    # Where a record really ends

    def confined(self, start: int, end: int) -> bool:
        """Whether the damaged record `[start, end)` really ends there.

        The next one stands there, with a sound or a mended header. And no sound record within the payload goes on
        into its checksum or further: no content does, so then the header stands there by chance.
        """
        there = self.ahead.boundary(end) or may_be_mended(self.ahead, end)
        return there and not self._crossed(start, end)

    def _crossed(self, start: int, end: int) -> bool:
        if not self.ledger.spend(end - start):
            return False
        window = self.ahead.near
        if end - start <= CAPACITY:
            # Nearly always there is no header within, so that is found out without more ado.
            index = window.load(start, end - start)
            found, stop = kernel.scan(window.buffer, index + HEADER, index + end - start)
            if not found and stop >= index + end - start - HEADER + 1:
                return False
        scout = Scout(window, start, at=start + HEADER, keep=start)
        scout.until = end
        while (header := scout.next()) is not None and header < end:
            if self.ahead.tries(header, scout):
                stop = header + FRAMING + int(_HEADER.unpack(self.ahead.head(header))[0])
                crosses = stop > end - 4 and self.ledger.spend(stop - header)
                if crosses and self.ahead.data_holds(header + HEADER, stop - 4):
                    return True
        return False

    # Telling the format

    def record_at_start(self) -> bool:
        """Whether the first record is proved by its payload, though its header is unsound."""
        head = self.ahead.head(0)
        if len(head) < HEADER:
            return False
        return wrong_writer(self.ahead, 0, 0, head) is not None or may_be_mended(self.ahead, 0)

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
