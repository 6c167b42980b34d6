"""Make text from data safe to print, format lines for pipes, and decide on color."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO


def wants_color(choice: str, terminal: bool, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether to use color: by `--color`, NO_COLOR unless empty, FORCE_COLOR unless empty or 0, the terminal."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"


def on_terminal(stream: TextIO | None = None) -> bool:
    """Return whether a stream, standard output by default, is a terminal."""
    return (stream or sys.stdout).isatty()


_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COLORS = {"red": 31, "green": 32}


def safe(text: str) -> str:
    r"""Return `text` with every character escaped that a terminal or a line-based reader could interpret.

    Control, format, bidirectional, private, unassigned and line-separating characters, spaces other than U+0020, lone
    surrogates and the backslash itself are escaped as Python does; a byte of a path that is not UTF-8 becomes `\xNN`.
    """
    return printable(text.replace("\\", "\\\\"))


def safe_name(name: bytes) -> str:
    r"""Return the name of a feature or a tag as safe text; a byte that is not UTF-8 becomes `\xNN`."""
    return safe(name.decode("utf-8", "surrogateescape"))


def printable(text: str) -> str:
    """Escape a message whose data is escaped already: as `safe`, but backslashes are left alone."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte of a path (PEP 383)
        code -= 0xDC00
    if char in _NAMED:
        return _NAMED[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def row(fields: Iterable[object]) -> str:
    """Return the fields as a tab-separated line without a line end; None is empty, and text is made `safe`."""
    return "\t".join("" if field is None else safe(str(field)) for field in fields)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 record`, `2 records`, `1,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def paint(text: str, color: str) -> str:
    """Return `text` between the control sequences for a color (ECMA-48, SGR)."""
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m"
