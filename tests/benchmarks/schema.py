#!/usr/bin/env python3
"""How fast `tfrtool schema` is against readers that parse Examples: whole processes, run in turn, medians.

    python tests/benchmarks/schema.py --tensorflow PYTHON --tfr-reader PYTHON --data DIR

Each reader goes through all records and notes names, kinds and the least and the most values of each feature; what
tfrtool says beyond that (checksums, ranges, contents, conflicts) they do not look at. `ratio` is how many times longer
the reader takes; that of the fastest one is followed by its target. `--tensorflow` is a Python that has TensorFlow and
the package `tfrecord`, `--tfr-reader` one that has the package `tfr-reader`. A reader that is not installed says so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

from processes import PROGRAM, Failed, Pair, alone, has_module, print_table, side_by_side  # noqa: E402
from workloads import directory  # noqa: E402

TARGETS = {"small": 1.8, "text": 1.8, "image": 1.3, "huge": 1.3}
"""At least that many times faster than the fastest reader, in pure Python."""

_NOTE = """
found = {}
def note(name, kind, count):
    seen = found.setdefault((name, kind), [0, count, count])
    seen[0] += 1
    seen[1] = min(seen[1], count)
    seen[2] = max(seen[2], count)
def note_all(example):
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        note(name, kind, len(getattr(feature, kind).value) if kind else 0)
"""
_TENSORFLOW = f"""
import sys, tensorflow as tf
{_NOTE}
for record in tf.compat.v1.io.tf_record_iterator(sys.argv[1]):
    note_all(tf.train.Example.FromString(record))
"""
_TFRECORD = f"""
import sys
from tfrecord import example_pb2
from tfrecord.reader import tfrecord_iterator
{_NOTE}
for record in tfrecord_iterator(sys.argv[1]):
    example = example_pb2.Example()
    example.ParseFromString(record)
    note_all(example)
"""
_TFR_READER = f"""
import os, sys
from struct import unpack
from tfr_reader.cython.decoder import example_from_bytes
{_NOTE}
with open(sys.argv[1], "rb") as file:
    while header := file.read(12):
        note_all(example_from_bytes(file.read(unpack("<Q", header[:8])[0])))
        file.seek(4, os.SEEK_CUR)
"""
"""`tfr-reader` without its index, which would read the file once more: its decoder alone."""


def main() -> None:
    options = _options()
    readers = (
        ("TensorFlow, v1 iterator", options.tensorflow, "tensorflow", _TENSORFLOW),
        ("tfrecord", options.tensorflow, "tfrecord", _TFRECORD),
        ("tfr-reader", options.tfr_reader, "tfr_reader", _TFR_READER),
    )
    rows = []
    for name in options.workloads or TARGETS:
        path = _prepared(name, options)
        ours = [options.python, "-c", PROGRAM, "schema", path]
        pairs: dict[str, Pair | None] = {}
        for reader, python, module, script in readers:
            if has_module(python, module):
                pairs[reader] = side_by_side(ours, [python, "-c", script, path], options.runs)
            else:
                pairs[reader] = None
        run = [pair for pair in pairs.values() if pair]
        fastest = min(run, key=lambda pair: pair.ratio, default=None)
        for reader, pair in pairs.items():
            first = pair.first if pair else alone(ours, options.runs)
            shown = [f"{first.seconds:.3f}", f"{first.peak:.0f}", reader]
            if pair is None:
                rows.append([name, "schema", *shown, "not installed", "", "", ""])
            else:
                target = f">= {TARGETS[name]:g}" if pair is fastest else ""
                figures = [f"{pair.second.seconds:.3f}", f"{pair.second.peak:.0f}", f"{pair.ratio:.2f}"]
                rows.append([name, "schema", *shown, *figures, target])
    print_table(("on", "job", "s", "MiB", "against", "s", "MiB", "ratio", "target"), rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"any of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--data", metavar="DIR", help="where the files are kept (a temporary directory)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often each command is run (5)")
    parser.add_argument("--python", default=sys.executable, help="runs tfrtool (this one)")
    parser.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON", help="has TensorFlow and tfrecord")
    parser.add_argument("--tfr-reader", default=sys.executable, metavar="PYTHON", help="has tfr-reader")
    options = parser.parse_args()
    unknown = set(options.workloads) - set(TARGETS)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    return options


def _prepared(name: str, options: argparse.Namespace) -> str:
    """The file, made by another process: the memory that making it takes would show as the peak of all others."""
    command = [sys.executable, str(Path(__file__).with_name("workloads.py")), name]
    command += ["--data", str(directory(options.data)), "--scale", str(options.scale)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
