"""A picture of a terminal as SVG, drawn from what the program writes to a real one.

It needs no font but a fixed-width one, fetches nothing, and is the same bytes wherever it is drawn: characters are
stretched to their columns, and blocks are drawn as rectangles, as terminals do.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from html import escape
from pathlib import Path

from kit.program import on_terminal

COLUMNS = 80
_WIDTH, _HEIGHT, _MARGIN = 8, 18, 14
_COLORS = {"31": "#ff7b72", "32": "#3fb950", "33": "#d29922", "36": "#56d4dd"}
_PIECE = re.compile(r"\x1b\[([\d;]*)m|([^\x1b█▒]+|█+|▒+)")
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">
<style>
rect {{ shape-rendering: crispEdges }}
text {{ font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre }}
.b {{ font-weight: bold }}
{colors}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
"""


def picture(command: str, cwd: Path) -> str:
    """An SVG of `tfrtool COMMAND`, run in `cwd`, and of what a terminal of `COLUMNS` shows of it, in colour."""
    shown = on_terminal(*shlex.split(command), cwd=cwd, columns=COLUMNS).strip("\n").split("\n")
    lines = [f"\x1b[1m$ tfrtool {command}\x1b[0m", *shown]
    width, height = COLUMNS * _WIDTH + 2 * _MARGIN, len(lines) * _HEIGHT + 2 * _MARGIN
    colors = "\n".join(f".c{code} {{ fill: {color} }}" for code, color in _COLORS.items())
    head = _HEAD.format(width=width, height=height, label=escape(f"tfrtool {command}"), colors=colors)
    return head + "".join(_line(text, number) for number, text in enumerate(lines)) + "</svg>\n"


def _line(text: str, number: int) -> str:
    top = _MARGIN + number * _HEIGHT
    return "".join(f"{element}\n" for element in _elements(text.rstrip(), top))


def _elements(text: str, top: int) -> Iterator[str]:
    column, style = 0, ""
    for codes, piece in _PIECE.findall(text):
        if not piece:
            style = " ".join("b" if code == "1" else f"c{code}" for code in codes.split(";") if code not in ("", "0"))
            continue
        x, width = _MARGIN + column * _WIDTH, len(piece) * _WIDTH
        column += len(piece)
        style_of = f' class="{style}"' if style else ""
        if piece[0] in "█▒":
            weak = ' opacity="0.7"' if piece[0] == "▒" else ""
            yield f'<rect x="{x}" y="{top}" width="{width}" height="{_HEIGHT}"{style_of}{weak}/>'
        elif piece.strip():
            how = f'textLength="{width}" lengthAdjust="spacingAndGlyphs"'
            yield f'<text x="{x}" y="{top + 13}" {how}{style_of}>{escape(piece, quote=False)}</text>'
