#!/usr/bin/env python3
"""How fast `tfrtool stat` is against `tfrtool count`, and against a reader that sorts all sizes: whole processes.

    python tests/benchmarks/stat.py --data DIR small image

`ratio` is how many times longer the other command takes, so below 1 where stat is the slower one. The plain reader
reads each record, checks nothing, keeps every size and sorts them. The files are made at the first run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

from processes import PROGRAM, Failed, print_table, side_by_side  # noqa: E402
from workloads import NAMES, directory  # noqa: E402

PLAIN_READER = """
import struct, sys
sizes = []
with open(sys.argv[1], "rb") as file:
    while header := file.read(12):
        size, = struct.unpack_from("<Q", header)
        file.read(size + 4)
        sizes.append(size)
sizes.sort()
n = len(sizes)
print(n, sum(sizes), sizes[0], [sizes[-(-n * p // 100) - 1] for p in (50, 95, 99)], sizes[-1])
"""
JOBS = (("stat",), ("stat", "--duplicates"))


def main() -> None:
    options = _options()
    names = options.workloads or [name for name in NAMES if not name.endswith(".gz")]
    ours = [sys.executable, "-c", PROGRAM]
    rows = []
    for name, path in zip(names, _prepared(names, options), strict=True):
        others = {"count": [*ours, "count", path], "verify": [*ours, "verify", path]}
        if not name.endswith(".gz"):
            others["a plain reader"] = [sys.executable, "-c", PLAIN_READER, path]
        for job in JOBS:
            for other, command in others.items():
                pair = side_by_side([*ours, *job, path], command, options.runs)
                figures = [f"{value:.3f}" for value in (pair.first.seconds, pair.second.seconds)]
                peaks = [f"{run.peak:.0f}" for run in (pair.first, pair.second)]
                rows.append(
                    [" ".join(job), name, figures[0], peaks[0], other, figures[1], peaks[1], f"{pair.ratio:.2f}"]
                )
    print_table(("job", "on", "s", "MiB", "against", "s", "MiB", "ratio"), rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--data", metavar="DIR", help="where the files are kept (a temporary directory)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often each command is run (5)")
    return parser.parse_args()


def _prepared(names: list[str], options: argparse.Namespace) -> list[str]:
    command = [sys.executable, str(Path(__file__).with_name("workloads.py")), *names]
    command += ["--data", str(directory(options.data)), "--scale", str(options.scale)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
