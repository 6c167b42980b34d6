"""Draw a map of a file: intact, recoverable and damaged parts."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from tfrtool.cli.terminal.coverage_bar import LOST, RESTORABLE, SOUND, CoverageBar

CELLS = 240
"""Parts of a file; a single one is still visible on a phone."""

_STATES = {
    SOUND: ("sound", "intact", 0.35),
    RESTORABLE: ("saved", "recoverable", 0.7),
    LOST: ("lost", "damaged", 1.0),
}
"""The class, the meaning and the height of each state; the height shows it without color."""


def damage_map(bar: CoverageBar, total: int) -> Iterator[str]:
    """Yield the map of a file of `total` bytes with a legend; each part has a title with its bytes."""
    cells = bar.cells(total, CELLS)
    yield f'<svg class="map" viewBox="0 0 {CELLS} 1" preserveAspectRatio="none" shape-rendering="crispEdges" role="img"'
    yield ' aria-label="map of the damage">'
    at = 0
    for state, run in groupby(cells):
        width = len(list(run))
        kind, meaning, height = _STATES[state]
        begin, end = at * total // CELLS, (at + width) * total // CELLS
        yield f'<rect class="{kind}" x="{at}" y="{1 - height:g}" width="{width}" height="{height:g}">'
        yield f"<title>{escape(meaning)}: about bytes {begin:,} to {end:,}</title></rect>"
        at += width
    yield '</svg>\n<p class="legend">'
    for state, (kind, meaning, height) in _STATES.items():
        if state in cells:
            mark = f'<rect class="{kind}" y="{1 - height:g}" width="1" height="{height:g}"/>'
            yield f'<span><svg viewBox="0 0 1 1" aria-hidden="true">{mark}</svg>{escape(meaning)}</span>'
    yield "</p>\n"
