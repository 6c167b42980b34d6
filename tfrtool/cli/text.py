"""Text for people and for pipes: what came from data is made harmless, rows are tab-separated.

Whom the output is for: decided once, before anything is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO


def wants_color(choice: str, terminal: bool, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: by `--color`, then NO_COLOR (unless empty), FORCE_COLOR (unless empty or 0), the terminal."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"


def on_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream, standard output unless named, is a terminal, and so read by a person."""
    return (stream or sys.stdout).isatty()


_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COLORS = {"red": 31, "green": 32}


def safe(text: str) -> str:
    r"""`text` without a character that a terminal or a reader of lines could take for a command.

    Control, format, bidirectional, private, unassigned and line-separating characters, spaces other than U+0020, lone
    surrogates and the backslash itself are escaped as Python does; a byte of a path that is not UTF-8 becomes `\xNN`.
    """
    return printable(text.replace("\\", "\\\\"))


def safe_name(name: bytes) -> str:
    r"""The name of a feature or a tag as safe text; a byte that is not UTF-8 becomes `\xNN`."""
    return safe(name.decode("utf-8", "surrogateescape"))


def printable(text: str) -> str:
    """The same for a sentence of ours, in which data may stand that was quoted already: backslashes are left alone."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps an undecodable byte of a path (PEP 383)
        code -= 0xDC00
    if char in _NAMED:
        return _NAMED[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def row(fields: Iterable[object]) -> str:
    """Fields as one tab-separated line without its end; None is an empty field, and every text passes `safe`."""
    return "\t".join("" if field is None else safe(str(field)) for field in fields)


def plural(count: int, noun: str) -> str:
    """`1 record`, `2 records`, `1,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def paint(text: str, color: str) -> str:
    """`text` between the control sequences that colour it (ECMA-48, SGR)."""
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m"
