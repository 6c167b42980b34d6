"""Whole processes, timed from their start to their end: what a user waits for."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]

PROGRAM = "import sys; from tfrtool.cli.main import main; sys.exit(main())"
"""What the installed `tfrtool` runs, for `python -c`."""

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
_LEFT_OUT = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPYCACHEPREFIX")
"""What would make Python compile all modules of ours at each start, as no installed program does."""


class Failed(Exception):
    """A command that was to be measured did not do its job."""


@dataclass(frozen=True, slots=True)
class Run:
    """Wall-clock seconds from start to end, and the most memory held, in MiB.

    Linux lets a child begin with the peak of its parent, so the least that can be seen is this process's own: 12 to 15.
    """

    seconds: float
    peak: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Medians of two commands that ran in turn; `ratio` is the median of how many times longer the second took."""

    first: Run
    second: Run
    ratio: float


def timed(command: Sequence[str], allowed: Sequence[int] = (0,)) -> Run:
    """Run a command with nothing to read and its output dropped; raises `Failed` where its exit code is not allowed."""
    environment = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    environment |= _QUIET | {"PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as errors:
        null = os.open(os.devnull, os.O_RDWR)
        streams = [(os.POSIX_SPAWN_DUP2, fd, to) for fd, to in ((null, 0), (null, 1), (errors.fileno(), 2))]
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, environment, file_actions=streams)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        os.close(null)
        code = os.waitstatus_to_exitcode(status)
        if code not in allowed:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace").strip()
            raise Failed(f"exit code {code} of {' '.join(command)}\n{said}")
    return Run(seconds, usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def alone(command: Sequence[str], runs: int) -> Run:
    """The medians of some runs, after one that warms the page cache."""
    timed(command)
    return _middle([timed(command) for _ in range(runs)])


def side_by_side(first: Sequence[str], second: Sequence[str], runs: int, allowed: Sequence[int] = (0,)) -> Pair:
    """Run two commands in turn, so that whatever else the machine does meets both; `allowed` is for the second."""
    timed(first)
    timed(second, allowed)
    both = [(timed(first), timed(second, allowed)) for _ in range(runs)]
    ratio = median(two.seconds / one.seconds for one, two in both)
    return Pair(_middle([one for one, _ in both]), _middle([two for _, two in both]), ratio)


def _middle(runs: Sequence[Run]) -> Run:
    """The median of each figure."""
    return Run(median(run.seconds for run in runs), median(run.peak for run in runs))


@cache
def has_module(python: str, module: str) -> bool:
    """Whether a Python can import a module."""
    try:
        timed([python, "-c", f"import {module}"])
    except (Failed, OSError):
        return False
    return True


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be; the first two are names, the others figures."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            text.ljust(width) if i < 2 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip(), flush=True)
