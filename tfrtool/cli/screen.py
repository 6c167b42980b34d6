"""Whom the output is for: decided once, before anything is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
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
