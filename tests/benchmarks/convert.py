#!/usr/bin/env python3
"""How fast `convert` is against what it cannot do without: whole processes, run in turn, medians.

    python tests/benchmarks/convert.py --data DIR

Large records: against `cp` of the input and one pass of CRC-32C over it, `ratio` is how many times longer these take.
Small records: against a bare walk over the same input that checks all that can be checked, `ratio` is how many times
longer we take. Each is followed by its target. The last rows convert one file and four times as much: `MiB` is the
most memory held, which must be the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from processes import PROGRAM, Failed, alone, print_table, side_by_side  # noqa: E402
from workloads import directory, prepare  # noqa: E402

CRC = """
import sys
from crc32c import crc32c
with open(sys.argv[1], "rb") as file:
    crc = 0
    while piece := file.read(1 << 20):
        crc = crc32c(piece, crc)
"""
WALK = """
import sys
from tfrtool.framing.ofrecord import walk_ofrecord
from tfrtool.framing.walk import walk
from tfrtool.payload.kinds import plausible_ofrecord
from tfrtool.sources.source import open_source
with open_source(sys.argv[1]) as source:
    frames = walk_ofrecord(source.data, plausible_ofrecord) if sys.argv[2] == "of" else walk(source.data, payloads=True)
    print(sum(batch.count for batch in frames))
"""
ROUTES = (("of", "tfrecord"), ("tf", "ofrecord"), ("tf", "tfrecord"))
"""From which framing to which format."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="where the files are kept (a temporary directory)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often each command is run (5)")
    options = parser.parse_args()
    where = directory(options.data)
    rows = [*_large(where, options), *_small(where, options), *_memory(where, options)]
    print_table(("job", "on", "s", "MiB", "against", "s", "MiB", "ratio", "target"), rows)


def _ours(path: Path, to: str, out: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "convert", str(path), "-o", str(out), "--to", to, "--force", "--quiet"]


def _input(name: str, framing: str, where: Path, scale: float) -> Path:
    """A workload in that framing."""
    path = prepare(name, where, scale)
    if framing == "tf":
        return path
    other = path.with_suffix(".ofrecord")
    if not other.exists():
        alone(_ours(path, "ofrecord", other), 1)
    return other


def _large(where: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    for framing, to in ROUTES:
        path = _input("image", framing, where, options.scale)
        copy = where / "copy"
        theirs = ["sh", "-c", 'cp "$1" "$2" && "$3" -c "$4" "$1"', "sh", str(path), str(copy), sys.executable, CRC]
        pair = side_by_side(_ours(path, to, where / "out"), theirs, options.runs)
        first, second = pair.first, pair.second
        figures = (f"{first.seconds:.3f}", f"{first.peak:.0f}", "cp, crc32c", f"{second.seconds:.3f}")
        yield [f"{framing} to {to}", "image", *figures, f"{second.peak:.0f}", f"{pair.ratio:.2f}", ">= 0.5"]


def _small(where: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    for framing, to in ROUTES:
        path = _input("small", framing, where, 0.3 * options.scale)
        theirs = [sys.executable, "-c", WALK, str(path), framing]
        pair = side_by_side(_ours(path, to, where / "out"), theirs, options.runs)
        first, second = pair.first, pair.second
        figures = (f"{first.seconds:.3f}", f"{first.peak:.0f}", "a bare walk", f"{second.seconds:.3f}")
        yield [f"{framing} to {to}", "small", *figures, f"{second.peak:.0f}", f"{1 / pair.ratio:.2f}", "<= 6"]


def _memory(where: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    for times in (1, 4):
        path = _input("small", "of", where, 0.1 * times * options.scale)
        run = alone(_ours(path, "tfrecord", where / "out"), 1)
        yield [
            "of to tfrecord",
            f"small x{times}",
            f"{run.seconds:.3f}",
            f"{run.peak:.0f}",
            "",
            "",
            "",
            "",
            "the same MiB",
        ]


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
