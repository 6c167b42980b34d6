"""The strip of a file on a terminal: a line of cells, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.strip import LOST, RESTORABLE, SOUND, Strip
from tfrtool.cli.table import beside
from tfrtool.cli.terminal import can_encode

if TYPE_CHECKING:
    from rich.text import Text

_COLORS = {SOUND: "green", RESTORABLE: "yellow", LOST: "red"}


class StripDrawn:
    """Draws strips with the characters that a stream takes; they differ in shape, for those who see no colour.

    `meanings` are the words for the states, in the order in which the legend tells them.
    """

    def __init__(self, meanings: Mapping[int, str], stream: TextIO | None = None) -> None:
        self._meanings = meanings
        self._glyphs = "█▒╳" if can_encode("█▒╳", stream) else "=+x"
        self._seen: set[int] = set()

    def mark(self, state: int) -> Text:
        """One cell of a state."""
        from rich.text import Text

        return Text(self._glyphs[state], _COLORS[state])

    def line(self, strip: Strip, total: int, width: int) -> Text:
        """A file of `total` bytes in `width` columns."""
        from rich.text import Text

        cells = strip.cells(total, max(width, 1))
        self._seen |= set(cells)
        line = Text(no_wrap=True)
        for state, run in groupby(cells):
            line.append(self._glyphs[state] * len(list(run)), _COLORS[state])
        return line

    def legend(self, width: int) -> Text:
        """What the states mean that were drawn since the last legend."""
        from rich.text import Text

        drawn = [(state, words) for state, words in self._meanings.items() if state in self._seen]
        self._seen.clear()
        return beside((Text.assemble(self.mark(state), f" {words}") for state, words in drawn), width, gap=3)
