"""A short piece of work that no signal cuts in two."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def unbroken() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP wait until the block is done, and then have the effect that they always have."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    heeded = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]  # as SIGHUP under nohup is
    before = [(number, signal.signal(number, note)) for number in heeded]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    if came:
        os.kill(os.getpid(), came[0])
