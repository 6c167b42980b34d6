"""What stands at an offset ahead of the walk: boundaries, records, chains of records, and proofs of payloads."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Literal

from tfrtool.framing.crc import Bytes, header_is_sound, rotated, unmasked
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.crc_math import splits
from tfrtool.framing.recovery.gap_scan import CANDIDATE, TOILED, Ledger, Scout
from tfrtool.framing.recovery.header_bits import few_bits_apart, mends
from tfrtool.framing.stream import Readable, Window

_HEADER = Struct("<QI")
_FOOTER = Struct("<I")

Ending = Literal["end", "dead", "far"]
"""How a chain of sound headers ends: at the end of the stream, where no record goes on, or out of sight."""


class Ahead:
    """Looks ahead in one stream, through windows of its own, so that the walk's stays where it is."""

    def __init__(self, data: Readable, ledger: Ledger) -> None:
        self.near = Window(data)
        self.far = Window(data)
        self.ledger = ledger
        self.sound: Callable[[Bytes], bool] = header_is_sound
        """Whether 12 bytes are a header of a writer of the file."""
        self._known: kernel.Known = {}

    def peek(self, offset: int, n: int) -> bytes:
        """Up to `n` bytes at `offset`, without moving a window."""
        far = self.far
        index = offset - far.base
        if 0 <= index <= far.fill - n:
            return bytes(far.view[index : index + n])
        return bytes(self.near.peek(offset, n))

    def head(self, offset: int) -> bytes:
        """The 12 bytes at `offset`, fewer at the end of the stream."""
        return self.peek(offset, HEADER)

    def told(self, head: bytes) -> int:
        """The length that a header tells, be it sound or not."""
        length: int = _HEADER.unpack(head)[0]
        return length

    def mends(self, head: bytes) -> tuple[int, ...]:
        """The lengths that a damaged header may have held."""
        return mends(head)

    def resembles(self, head: bytes) -> bool:
        """Whether 12 bytes are a header, or one of which at most three bits are flipped."""
        return self.sound(head) or bool(self.mends(head)) or few_bits_apart(head)

    def scout(self, start: int, at: int, keep: int | None, hold: int = 0) -> Scout:
        """Goes ahead over the gap from `start` on."""
        return Scout(self.near, start, at, keep, hold)

    def fits(self, end: int) -> bool:
        """Whether the stream reaches to `end`."""
        return self.near.holds(end)

    def boundary(self, offset: int) -> bool:
        """Whether a sound header, or the end of the stream, stands at `offset`, which the stream reaches."""
        return self.sound(self.head(offset)) or self.near.ends_at(offset)

    def data_holds(self, begin: int, end: int) -> bool:
        """Whether the checksum stored at `end` is that of `[begin, end)`."""
        stored = self.peek(end, 4)
        return len(stored) == 4 and rotated(self.far.crc(begin, end)) == _FOOTER.unpack(stored)[0]

    def checksums(self, begin: int, end: int) -> list[bytes]:
        """What may be stored behind `[begin, end)` as its checksum: one for each writer of the file."""
        return [_FOOTER.pack(rotated(self.far.crc(begin, end)))]

    def stands(self, header: int) -> bool:
        """Whether the record at this sound header is sound, or is followed by one or by the end.

        To find a sound one costs nothing, so that all of them are found. To believe one for what follows it is paid,
        and so is what was read of one in vain.
        """
        ledger = self.ledger
        length = self.told(self.head(header))
        end = header + FRAMING + length
        if not self.fits(end):
            ledger.owe(CANDIDATE)
            return False
        if self.boundary(end) and ledger.spend(CANDIDATE):
            return True
        if not ledger.broke and self.data_holds(header + HEADER, end - 4):
            return True
        ledger.owe(CANDIDATE + length)
        return False

    def tries(self, header: int, scout: Scout) -> bool:
        """The same for a header that `scout` found, which passes over a stretch where too many of them were of none."""
        if self.ledger.broke:
            scout.skip()
            return False
        return self.stands(header)

    def reach(self, last: int) -> int:
        """The claimed end of the record at the sound header where a chain died; `last` itself where none stands."""
        head = self.head(last)
        return last + FRAMING + self.told(head) if self.sound(head) else last

    def follow(self, header: int, sight: int) -> tuple[int, Ending]:
        """Where the chain of sound headers from `header` on ends, and how; `far` when it goes on for `sight` bytes.

        A chain that ends at no boundary has led astray in its last record, unless that one is sound.
        """
        window, at, last = self.far, header, header
        while True:
            index = window.load(at, HEADER)
            if window.fill == index:
                return at, "end"
            count, stop, final = self._hop(window.buffer, index, window.fill)
            if not count:
                if window.fill - index < HEADER or at == header or self._sound_until(last, at):
                    return at, "dead"
                return last, "dead"
            to, last = window.base + stop, window.base + final
            if stop > window.fill and not window.holds(to):
                return last, "dead"
            self.ledger.look(to - at)
            if to - header > sight:
                return to, "far"
            at = to
            self.ledger.reach(at)

    def dies_within(self, header: int, most: int) -> int | None:
        """Where the chain from `header` on dies, if it does so within `most` bytes; as `follow`, a record at a time."""
        at, last = header, header
        while at - header <= most:
            to = self.reach(at)
            if to == at:
                return at if at == header or self._sound_until(last, at) else last
            if not self.fits(to) or not self.ledger.toil(1):
                return None
            at, last = to, at
        return None

    def _hop(self, buffer: bytearray, index: int, fill: int) -> tuple[int, int, int]:
        return kernel.hop(buffer, index, fill, self._known)

    def _sound_until(self, last: int, end: int) -> bool:
        return self.sound(self.head(end)) or (self.ledger.spend(end - last) and self.data_holds(last + HEADER, end - 4))

    def a_checksum_apart(self, end: int) -> bool:
        """Whether a record stands 4 bytes behind `end`, where a chain has ended.

        So few bytes are no damaged record. They are the checksum of a record whose payload is a record file, unless
        they are zeros, which nearly no payload has.
        """
        return any(self.peek(end, 4)) and self.sound(self.peek(end + 4, HEADER)) and self.stands(end + 4)

    def announced(self, start: int, begin: int, end: int) -> bool:
        """Whether the bytes from `start` to `begin` say that a value of a message goes from there to `end`.

        A message puts a tag and the length, as a varint, before each bytes value. A whole record file that is such a
        value is therefore announced with its size, which no file is by its neighbours.
        """
        return self._announced(start, begin) == end - begin

    def value(self, start: int, length: int, begin: int) -> int:
        """How many bytes from `begin` on are one value of the payload of `length` bytes of the record at `start`, or 0.

        Only where the bytes before say so: the payload begins there, or a message announces a value that fits it. One
        that does not, since bytes were put in before it, is believed where a message around it says the same.
        """
        if begin == start + HEADER:
            return length
        size = self._announced(start + HEADER, begin)
        if size is None or size >= length:
            return 0
        prefix = 1 + max(1, (size.bit_length() + 6) // 7)
        fits = begin + size <= start + HEADER + length
        return size if fits or self._announced(start + HEADER, begin - prefix) == prefix + size else 0

    def holds_file(self, start: int, length: int, header: int) -> int:
        """The size of the value of the payload that begins, up to `header`, with what may be a damaged header, or 0."""
        first = start + HEADER
        stop = min(header + HEADER, first + (1 << 16))
        if not self.ledger.toil(stop - first):
            return 0
        data = self.read(first, stop)
        at = 0
        while True:
            zeros = data.find(bytes(5), at)
            if zeros < 0:
                return 0
            for begin in range(max(0, zeros - 3), zeros + 1):
                inner = int.from_bytes(data[begin : begin + 8], "little")
                if 0 < inner < 1 << 32 and first + begin <= header:
                    size = self.value(start, length, first + begin)
                    # What begins the payload nothing announces: any small number would be such a header.
                    if inner + FRAMING <= size and (begin or self.resembles(data[:HEADER])):
                        return size
            at = zeros + 1

    def announced_past(self, start: int, begin: int, end: int, most: int) -> bool:
        """The same for a value that goes beyond `end`, where the stream was cut, and at most to `most`."""
        size = self._announced(start, begin)
        return size is not None and end - begin <= size <= most - begin

    def _announced(self, start: int, begin: int) -> int | None:
        first = max(start, begin - 6)
        before = self.peek(first, begin - first)
        if len(before) < 2 or before[-1] & 0x80:
            return None
        size, width = before[-1], 1
        while width < len(before) and before[-1 - width] & 0x80:
            size = size << 7 | before[-1 - width] & 0x7F
            width += 1
        # The bytes of a varint before the last have their high bit set; what stands before them is the tag, of type 2.
        return size if width < len(before) and before[-1 - width] & 7 == 2 else None

    def rejoined(self, begin: int, length: int, boundary: int) -> int | None:
        """Where bytes were put into the payload of `length` bytes from `begin` on: the offset behind its first part.

        Only if its checksum stands at `boundary - 4`, and holds once those bytes are taken out.
        """
        end = boundary - 4
        if end - begin <= length or end - begin > TOILED or not self.ledger.toil(2 * (end - begin)):
            return None
        stored = self.peek(end, 4)
        data = self.read(begin, end)
        found = splits(data, length, self._bare(stored))
        if not found:
            return None
        extra = end - begin - length
        if found[0] == 0 and (extra >= FRAMING + length or self.sound(data[max(0, extra - HEADER) : extra])):
            # All of it stands behind what was put in: it is the payload of a later record of the same length.
            return None
        return begin + found[0]

    def _bare(self, stored: bytes) -> int:
        return unmasked(_FOOTER.unpack(stored)[0])

    def read(self, begin: int, end: int) -> bytes:
        """The bytes of a short stretch."""
        view = memoryview(bytearray(end - begin))
        return bytes(view[: self.far.data.read_into(begin, view)])
