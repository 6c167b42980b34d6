#!/usr/bin/env python3
"""What damage costs: to verify files that were made to be hard, and to search for the next record.

    python tests/benchmarks/resync.py --size 100

`verify` is a whole process, in turn with one that reads a sound file of the same size and records of 216 bytes: `ratio`
is how many times longer it takes. A search runs in this process, over bytes in memory that hold no header.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parent)]

from hostile import FILES, SEARCHED  # noqa: E402
from processes import PROGRAM, Failed, print_table, side_by_side  # noqa: E402

from tfrtool.framing.recovery.gap_scan import Scout  # noqa: E402
from tfrtool.framing.stream import Held, Window  # noqa: E402

TARGETS = {"random": 1.0, "text": 1.0, "zeros": 0.2}
"""Seconds a GB that a search may take."""


def main() -> None:
    options = _options()
    size = max(1, round(options.size * 1_000_000))
    with TemporaryDirectory(dir=options.data) as directory:
        # Made by another process, and before the searches: the memory that those take would show as everyone's peak.
        run([sys.executable, str(Path(__file__).with_name("hostile.py")), directory, str(size)], check=True)
        print_table(("verify", "", "s", "MiB", "s/GB", "ratio"), list(_verified(Path(directory), options)))
    print()
    print_table(("search in", "", "s/GB", "target"), list(_searches(size, options.runs)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=100.0, metavar="MB", help="of each of the files (100)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often each is done (5)")
    parser.add_argument("--data", metavar="DIR", help="where the files are put meanwhile (a temporary directory)")
    parser.add_argument("--python", default=sys.executable, help="runs tfrtool (this one)")
    return parser.parse_args()


def _searches(size: int, runs: int) -> Iterator[list[str]]:
    for name, make in SEARCHED.items():
        data = make(size)
        _searched(data)  # touches the memory
        seconds = median(_searched(data) for _ in range(runs)) / size * 1e9
        yield [name, "", f"{seconds:.2f}", f"<= {TARGETS[name]:g}" if name in TARGETS else ""]


def _searched(data: bytes) -> float:
    scout = Scout(Window(Held(data)), 0, at=1, keep=None)
    start = time.perf_counter()
    found = scout.next()
    seconds = time.perf_counter() - start
    if found is not None:
        raise Failed(f"there is a header at {found}, and should be none")
    return seconds


def _verified(directory: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    command = [options.python, "-c", PROGRAM, "verify", "--quiet"]
    for name in FILES:
        path = directory / name
        pair = side_by_side([*command, str(directory / "sound")], [*command, str(path)], options.runs, allowed=(0, 1))
        seconds = pair.second.seconds / path.stat().st_size * 1e9
        figures = (f"{pair.second.seconds:.2f}", f"{pair.second.peak:.0f}", f"{seconds:.2f}", f"{pair.ratio:.1f}")
        yield [name, "", *figures]


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
