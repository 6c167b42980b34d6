"""Show a file as one line of cells: intact, recoverable or lost.

Memory is constant: ranges are marked in a fixed number of bins, which double in width as the file grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.terminal.console import can_encode
from tfrtool.cli.terminal.table import beside

if TYPE_CHECKING:
    from rich.text import Text


SOUND, RESTORABLE, LOST = 0, 1, 2
BINS = 2048


class CoverageBar:
    """Collects damaged ranges, and divides the file into cells once its length is known."""

    def __init__(self) -> None:
        self._shift = 0  # a bin is 1 << _shift bytes wide
        self._marks = {RESTORABLE: bytearray(BINS), LOST: bytearray(BINS)}

    def add(self, begin: int, end: int, restorable: bool) -> None:
        """Mark the bytes `[begin, end)`; an empty range marks the byte at `begin`."""
        end = max(end, begin + 1)
        while end > BINS << self._shift:
            self._widen()
        first, behind = begin >> self._shift, ((end - 1) >> self._shift) + 1
        self._marks[RESTORABLE if restorable else LOST][first:behind] = b"\1" * (behind - first)

    def cells(self, total: int, width: int) -> bytes:
        """Return `width` cells over `total` bytes, each SOUND, RESTORABLE or LOST by the worst range in it."""
        total = max(total, 1)
        cells = bytearray(width)
        for state, marks in self._marks.items():  # LOST comes last, and overwrites
            for number in range(BINS):
                if marks[number]:
                    first = min((number << self._shift) * width // total, width - 1)
                    behind = min(-(-((number + 1) << self._shift) * width // total), width)
                    cells[first:behind] = bytes([state]) * (behind - first)
        return bytes(cells)

    def _widen(self) -> None:
        self._shift += 1
        for marks in self._marks.values():
            marks[:] = bytes(a | b for a, b in zip(marks[::2], marks[1::2], strict=True)) + bytes(BINS // 2)


_COLORS = {SOUND: "green", RESTORABLE: "yellow", LOST: "red"}


class CoverageBarView:
    """Draws bars with characters that the stream can encode, and that differ without color.

    `meanings` are the texts of the states, in the order of the legend.
    """

    def __init__(self, meanings: Mapping[int, str], stream: TextIO | None = None) -> None:
        self._meanings = meanings
        self._glyphs = "█▒╳" if can_encode("█▒╳", stream) else "=+x"
        self._seen: set[int] = set()

    def mark(self, state: int) -> Text:
        """Return one cell of a state."""
        from rich.text import Text

        return Text(self._glyphs[state], _COLORS[state])

    def line(self, bar: CoverageBar, total: int, width: int) -> Text:
        """Return the bar of a file of `total` bytes in `width` columns."""
        from rich.text import Text

        cells = bar.cells(total, max(width, 1))
        self._seen |= set(cells)
        line = Text(no_wrap=True)
        for state, run in groupby(cells):
            line.append(self._glyphs[state] * len(list(run)), _COLORS[state])
        return line

    def legend(self, width: int) -> Text:
        """Return the meaning of the states drawn since the last legend."""
        from rich.text import Text

        drawn = [(state, words) for state, words in self._meanings.items() if state in self._seen]
        self._seen.clear()
        return beside((Text.assemble(self.mark(state), f" {words}") for state, words in drawn), width, gap=3)
