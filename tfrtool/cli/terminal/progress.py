"""Show one progress bar for all inputs, in bytes, on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

DELAY = 0.5
"""Seconds before the bar appears: shorter jobs need none, and do not import tqdm."""


class Progress:
    """Counts bytes, and shows a bar after `DELAY` seconds; `passes` is how often all inputs are read."""

    def __init__(self, names: Iterable[str], passes: int = 1) -> None:
        total = _total(names)
        self._total = None if total is None else passes * total
        self._done = 0
        self._due = time.monotonic() + DELAY
        self._bar: Any = None
        self._shown = False

    def advance(self, count: int) -> None:
        """Count `count` more bytes of input."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif time.monotonic() >= self._due:
            self._bar = _bar(self._total, self._done)
        else:
            return
        self._shown = True

    def hide(self) -> None:
        """Hide the bar so that a line can be printed; the next bytes show it again."""
        if self._shown:
            self._bar.clear()
            self._shown = False

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _total(names: Iterable[str]) -> int | None:
    """Return the size of all inputs on disk; None if the size of one is not known."""
    total = 0
    for name in names:
        try:
            total += os.stat(name).st_size
        except (OSError, ValueError):
            return None
    return total


def _bar(total: int | None, done: int) -> Any:
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread of its own
    columns = 0
    with suppress(OSError):
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    return tqdm(
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        leave=False,
        file=sys.stderr,
        ncols=columns or 80,  # some terminals say 0
        ascii=None,
    )
