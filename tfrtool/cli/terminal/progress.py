"""One progress bar for the whole job, in bytes of input, on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

DELAY = 0.5
"""Seconds before the bar appears: a job that is done by then needs none, and does not wait for tqdm to be imported."""


class Progress:
    """Counts bytes from the start, and shows them once the job has lasted `DELAY` seconds. For terminals alone.

    `passes`: how often all inputs are read.
    """

    def __init__(self, names: Iterable[str], passes: int = 1) -> None:
        total = _total(names)
        self._total = None if total is None else passes * total
        self._done = 0
        self._due = time.monotonic() + DELAY
        self._bar: Any = None
        self._shown = False

    def advance(self, count: int) -> None:
        """`count` more bytes of input were read."""
        self._done += count
        if self._bar is not None:
            self._bar.update(count)
        elif time.monotonic() >= self._due:
            self._bar = _bar(self._total, self._done)
        else:
            return
        self._shown = True

    def hide(self) -> None:
        """Take the bar off the screen, so that a line can be printed; it comes back with the next bytes."""
        if self._shown:
            self._bar.clear()
            self._shown = False

    def close(self) -> None:
        """Take the bar off the screen for good."""
        if self._bar is not None:
            self._bar.close()


def _total(names: Iterable[str]) -> int | None:
    """The bytes of all the inputs on disk; None where one of them is no file, since nobody knows its size."""
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
