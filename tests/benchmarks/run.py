#!/usr/bin/env python3
"""How fast tfrtool is against what else reads record files: whole processes, run in turn, medians.

    python tests/benchmarks/run.py --tensorflow PYTHON --data DIR

`ratio` is how many times longer the yardstick takes, except for `start`, where it is how many times longer we take:
each is followed by its target. No job of ours may take 60 MiB. A yardstick that is not installed says so. The files are
made at the first run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import which

sys.path[:0] = [str(Path(__file__).parent)]

from processes import PROGRAM, Failed, Run, alone, has_module, print_table, side_by_side  # noqa: E402

try:
    from workloads import NAMES, directory
except ModuleNotFoundError as error:
    sys.exit(f"{sys.executable} lacks {error.name}, which tfrtool needs: run this by the Python that tfrtool is in")

TF_VERIFY = """
import sys, tensorflow as tf
path = sys.argv[1]
how = tf.io.TFRecordOptions("GZIP" if path.endswith("gz") else "")
print(sum(1 for _ in tf.compat.v1.io.tf_record_iterator(path, how)))
"""
PYPI_COUNT = """
import sys
from tfrecord.reader import tfrecord_iterator
path = sys.argv[1]
print(sum(1 for _ in tfrecord_iterator(path, compression_type="gzip" if path.endswith("gz") else None)))
"""
PYPI_HEAD = """
import sys
from itertools import islice
from tfrecord.reader import example_loader, tfrecord_iterator
for record in islice(tfrecord_iterator(sys.argv[1]), 10):
    print(len(record))
"""
"""`tfrecord` checks no checksum, and here parses no record; TensorFlow checks all."""
CLICK = "import click"


@dataclass(frozen=True, slots=True)
class Job:
    """One comparison: our arguments, the yardstick and the module it needs, and the target for each workload.

    Where there is no module, the yardstick is a program.
    """

    name: str
    ours: tuple[str, ...]
    against: str
    module: str
    theirs: Callable[[str, str], list[str]]
    targets: dict[str, float]


def _script(text: str) -> Callable[[str, str], list[str]]:
    return lambda python, path: [python, "-c", text, path]


JOBS = (
    Job(
        "verify",
        ("verify",),
        "TensorFlow, v1 iterator",
        "tensorflow",
        _script(TF_VERIFY),
        {"small": 6, "text": 8, "image": 15, "huge": 10, "events": 3.5},
    ),
    Job(
        "count",
        ("count",),
        "tfrecord",
        "tfrecord",
        _script(PYPI_COUNT),
        {"small": 4, "text": 3, "image": 3, "huge": 5, "events": 5},
    ),
    Job(
        "head",
        ("head", "-n", "10"),
        "tfrecord",
        "tfrecord",
        _script(PYPI_HEAD),
        {"small": 3, "text": 3, "image": 3, "huge": 3, "events": 3},
    ),
    Job(
        "verify",
        ("verify",),
        "gzip -dc",
        "",
        lambda python, path: ["gzip", "-dc", path],
        {"small.gz": 1, "text.gz": 1},
    ),
)
STARTS = {"--version": 1.3, "--help": 1.3}
"""At most that many times what importing Click takes."""


def main() -> None:
    options = _options()
    ours = [options.python, "-c", PROGRAM]
    names = options.workloads or NAMES
    rows = list(_starts(ours, options))
    paths = _prepared(names, options)
    rows += (_row(job, name, paths[name], ours, options) for job in JOBS for name in job.targets if name in paths)
    print_table(("job", "on", "s", "MiB", "against", "s", "MiB", "ratio", "target"), rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"any of {', '.join(NAMES)}; all by default")
    parser.add_argument("--data", metavar="DIR", help="where the files are kept (a temporary directory)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="how often each command is run (7)")
    parser.add_argument("--python", default=sys.executable, help="runs tfrtool (this one)")
    parser.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON", help="has the yardsticks (this one)")
    return parser.parse_args()


def _prepared(names: Iterable[str], options: argparse.Namespace) -> dict[str, str]:
    """The files, made by another process: the memory that making them takes would show as the peak of all others."""
    command = [sys.executable, str(Path(__file__).with_name("workloads.py")), *names]
    command += ["--data", str(directory(options.data)), "--scale", str(options.scale)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(zip(names, made.stdout.splitlines(), strict=True))


def _starts(ours: list[str], options: argparse.Namespace) -> Iterable[list[str]]:
    for argument, target in STARTS.items():
        pair = side_by_side([*ours, argument], [options.python, "-c", CLICK], 3 * options.runs)
        figures = (*_figures(pair.first), CLICK, *_figures(pair.second))
        yield [argument, "start", *figures, f"{1 / pair.ratio:.2f}", f"<= {target:g}"]


def _row(job: Job, name: str, path: str, ours: list[str], options: argparse.Namespace) -> list[str]:
    command = [*ours, *job.ours, path]
    theirs = job.theirs(options.tensorflow, path)
    if not (has_module(options.tensorflow, job.module) if job.module else which(theirs[0])):
        run = alone(command, options.runs)
        return [job.name, name, *_figures(run), job.against, "not installed", "", "", f">= {job.targets[name]:g}"]
    pair = side_by_side(command, theirs, options.runs)
    figures = (*_figures(pair.first), job.against, *_figures(pair.second))
    return [job.name, name, *figures, f"{pair.ratio:.1f}", f">= {job.targets[name]:g}"]


def _figures(run: Run) -> tuple[str, str]:
    return f"{run.seconds:.3f}", f"{run.peak:.0f}"


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
