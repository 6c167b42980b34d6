"""Looking ahead in the file of a wrong writer: its frames count as records beside sound ones, by the same rules.

What runs CRC-32C backwards serves writers of that checksum alone. So with plain CRC-32, payloads into which bytes were
put are not put together again, and of several records in a row whose headers are lost none is found.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import kernel
from tfrtool.framing.ahead import Ahead
from tfrtool.framing.crc import Bytes, crc32c, header_is_sound, rotated
from tfrtool.framing.finding import BLOCK, headers
from tfrtool.framing.layout import FRAMING, HEADER, Layout
from tfrtool.framing.mend import mends
from tfrtool.framing.scout import Scout
from tfrtool.framing.window import Window

_FOOTER = Struct("<I")


class VariantAhead(Ahead):
    """Looks ahead as `ahead` does, whose windows and ledger it shares, for frames of `layout` too."""

    def __init__(self, ahead: Ahead, layout: Layout) -> None:
        self.near, self.far, self.ledger, self._known = ahead.near, ahead.far, ahead.ledger, ahead._known
        self.layout = layout
        self.sound = self._sound

    def _sound(self, head: Bytes) -> bool:
        return self.layout.sound(head) or header_is_sound(head)

    def told(self, head: bytes) -> int:
        """The length that a header tells: to the right writer if it is sound, else to the wrong one."""
        return super().told(head) if header_is_sound(head) else self.layout.length(head)

    def mends(self, head: bytes) -> tuple[int, ...]:
        """The lengths that a damaged header may have held, those of the wrong writer first."""
        return *mends(head, self.layout), *mends(head)

    def scout(self, start: int, at: int, keep: int | None, hold: int = 0) -> Scout:
        """Goes ahead over the gap from `start` on."""
        return VariantScout(self.near, self.layout, start, at, keep, hold)

    def data_holds(self, begin: int, end: int) -> bool:
        """Whether the checksum stored at `end` is that of `[begin, end)`, as either writer takes it.

        Zeros, which without the mask are the checksum of no bytes, prove nothing.
        """
        layout, stored = self.layout, self.peek(end, 4)
        if len(stored) < 4:
            return False
        crc = self.far.crc(begin, end, layout.crc)
        if layout.stored(crc) == layout.footer.unpack(stored)[0] and (crc or any(stored)):
            return True
        right = crc if layout.crc is crc32c else self.far.crc(begin, end)
        return bool(rotated(right) == _FOOTER.unpack(stored)[0])

    def checksums(self, begin: int, end: int) -> list[bytes]:
        """What may be stored behind `[begin, end)` as its checksum, as either writer takes it."""
        layout = self.layout
        by_layout = layout.footer.pack(layout.stored(self.far.crc(begin, end, layout.crc)))
        return [by_layout, *super().checksums(begin, end)]

    def rejoined(self, begin: int, length: int, boundary: int) -> int | None:
        """See `Ahead`; for writers of CRC-32C alone."""
        return super().rejoined(begin, length, boundary) if self.layout.crc is crc32c else None

    def _bare(self, stored: bytes) -> int:
        return self.layout.bare(self.layout.footer.unpack(stored)[0])

    def _hop(self, buffer: bytearray, index: int, fill: int) -> tuple[int, int, int]:
        count, last = 0, index
        while index + HEADER <= fill and self._sound(head := bytes(buffer[index : index + HEADER])):
            last = index
            index += FRAMING + self.told(head)
            count += 1
        return count, index, last


class VariantScout(Scout):
    """Goes ahead over a gap in the file of a wrong writer."""

    def __init__(self, window: Window, layout: Layout, start: int, at: int, keep: int | None, hold: int) -> None:
        super().__init__(window, start, at, keep, hold)
        self._layout = layout
        self._other = 0

    def _scan(self, buffer: bytearray, at: int, end: int) -> tuple[list[int], int]:
        last = max(end - HEADER + 1, at)
        while at < last:
            stop = min(at + BLOCK, last)
            right, to = kernel.scan(buffer, at, stop + HEADER - 1)
            found = sorted({*headers(self._layout, buffer, at, stop), *right})
            if found:
                return found, stop
            at = max(stop, min(to, last))
        return [], last

    def _sum(self, view: memoryview) -> None:
        super()._sum(view)
        if self._layout.crc is not crc32c:
            self._other = self._layout.crc(view, self._other)

    def checksums(self, end: int) -> list[bytes]:
        """What may be stored at `end` as the checksum of the payload up to there."""
        right = super().checksums(end)
        layout = self._layout
        return [layout.footer.pack(layout.stored(self._crc if layout.crc is crc32c else self._other)), *right]

    def _agrees(self, boundary: int) -> bool:
        if super()._agrees(boundary):
            return True
        layout, stored = self._layout, self._stored(boundary)
        crc = self._crc if layout.crc is crc32c else self._other
        return bool(stored) and layout.footer.pack(layout.stored(crc)) == _FOOTER.pack(stored or 0)

    def _is_header(self, begin: int, boundary: int) -> bool:
        head = bytes(self.window.peek(begin, HEADER)) if boundary - begin == HEADER else b""
        return self._layout.sound(head) or header_is_sound(head)
