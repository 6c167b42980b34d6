#!/usr/bin/env python3
"""How long rows take, against the plainest way to have the same, in turn, medians.

    python tests/benchmarks/rows.py [--scale X] [--runs N]

In this process, jsonl is held against `json.dumps` of Examples that protobuf parsed, and the way back against
`json.loads` and protobuf; parquet against pyarrow's writer and reader alone, given the table that we make. Where the
PyPI package tfrecord is installed, `convert` of a whole file is then held against the script that one would write with
that, each as a process of its own. `ratio` is how many times longer we take.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from kit.messages import ordered  # noqa: E402
from kit.row_files import survey_payloads, write_jsonl, write_parquet  # noqa: E402
from processes import PROGRAM, has_module, print_table  # noqa: E402
from processes import side_by_side as run_side_by_side  # noqa: E402

from tfrtool.framing.encode import frame  # noqa: E402
from tfrtool.payload.wire.messages import message_class  # noqa: E402
from tfrtool.verbs.formats.jsonl import JsonlReader  # noqa: E402
from tfrtool.verbs.formats.parquet_reader import ParquetReader  # noqa: E402
from tfrtool.verbs.formats.parquet_writer import ParquetWriter, table_columns  # noqa: E402


def small(some: Random) -> dict[str, Any]:
    """A label, a text and four numbers."""
    box = [some.random() for _ in range(4)]
    return {"label": ("int64_list", [some.randrange(1000)]), "t": ("bytes_list", [b"a cat"]), "b": ("float_list", box)}


def tokens(some: Random) -> dict[str, Any]:
    """Three lists of 128 integers, as language models read them."""
    names = ("input_ids", "input_mask", "segment_ids")
    return {name: ("int64_list", [some.randrange(1, 30_000) for _ in range(128)]) for name in names}


def floats(some: Random) -> dict[str, Any]:
    """784 floats."""
    return {"pixels": ("float_list", [some.random() for _ in range(784)])}


def image(some: Random) -> dict[str, Any]:
    """110 KB of an image."""
    return {"image": ("bytes_list", [some.randbytes(110_000)]), "label": ("int64_list", [some.randrange(1000)])}


WORKLOADS = {small: 20_000, tokens: 2_000, floats: 500, image: 200}


def plain_lines(payloads: list[bytes]) -> Iterator[str]:
    """What a script of ten lines does."""
    example = message_class("tensorflow", "Example")
    for payload in payloads:
        found: dict[str, Any] = {}
        for name, feature in example.FromString(payload).features.feature.items():
            kind = feature.WhichOneof("kind")
            values = list(getattr(feature, kind).value)
            found[name] = [b64encode(value).decode() for value in values] if kind == "bytes_list" else values
        yield json.dumps(found)


def plain_examples(lines: list[str]) -> Iterator[bytes]:
    """The same on the way back; the kind is that of the first value."""
    example = message_class("tensorflow", "Example")
    kinds = {int: "int64_list", float: "float_list"}
    for line in lines:
        message = example()
        for name, value in json.loads(line).items():
            values = value if isinstance(value, list) else [value]
            if kind := kinds.get(type(values[0])):
                getattr(message.features.feature[name], kind).value.extend(values)
            else:
                texts = [str(one).encode() for one in values]
                message.features.feature[name].bytes_list.value.extend(texts)
        yield message.SerializeToString()


SCRIPT = """
import json, sys
from base64 import b64decode, b64encode
from tfrecord.reader import tfrecord_loader
from tfrecord.writer import TFRecordWriter

def plain(value):
    return b64encode(value).decode() if isinstance(value, bytes) else value.tolist()

def typed(value):
    if isinstance(value, (str, bytes)):
        return b64decode(value) if isinstance(value, str) else value, "byte"
    return value, "float" if isinstance(value[0], float) else "int"

def write(rows):
    writer = TFRecordWriter(out)
    for row in rows:
        writer.write({name: typed(value) for name, value in row.items()})
    writer.close()

job, path, out = sys.argv[1:]
if job == "to jsonl":
    with open(out, "w") as file:
        for record in tfrecord_loader(path, None):
            file.write(json.dumps({name: plain(value) for name, value in record.items()}) + "\\n")
elif job == "from jsonl":
    with open(path) as file:
        write(map(json.loads, file))
else:
    import pyarrow as pa, pyarrow.parquet as pq
    if job == "to parquet":
        pq.write_table(pa.Table.from_pylist(list(tfrecord_loader(path, None))), out)
    else:
        write(pq.read_table(path).to_pylist())
"""
"""A file converted by the package tfrecord, as a script of a user does it."""


def programs(payloads: list[bytes], directory: Path, runs: int) -> Iterator[tuple[str, str, float, float]]:
    """Each conversion of a file, what it is held against, the seconds that it takes, and how many times longer."""
    if not has_module(sys.executable, "tfrecord"):
        return
    records = directory / "records"
    records.write_bytes(b"".join(map(frame, payloads)))
    for rows in ("jsonl", "parquet") if find_spec("pyarrow") else ("jsonl",):
        theirs = directory / f"theirs.{rows}"
        for job, source, target in (("to", records, theirs), ("from", theirs, directory / "back")):
            name = f"{job} {rows}"
            kind = rows if job == "to" else "tfrecord"
            ours = ["convert", str(source), "-o", str(directory / "ours"), "--to", kind, "--force", "--quiet"]
            script = [sys.executable, "-c", SCRIPT, name, str(source), str(target)]
            pair = run_side_by_side([sys.executable, "-c", PROGRAM, *ours], script, runs, (0,))
            yield f"convert {name}", "tfrecord", pair.first.seconds, 1 / pair.ratio


def side_by_side(ours: Callable[[], object], theirs: Callable[[], object], runs: int) -> tuple[float, float]:
    """Seconds of each, the median of runs in turn."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for taken, job in zip(seconds, (ours, theirs), strict=True):
            begin = perf_counter()
            job()
            taken.append(perf_counter() - begin)
    return median(seconds[0]), median(seconds[1])


def jobs(
    payloads: list[bytes], directory: Path
) -> Iterator[tuple[str, str, Callable[[], object], Callable[[], object]]]:
    """Each job, what it is held against, and both."""
    lines, table = directory / "a.jsonl", directory / "a.parquet"
    plain = directory / "b"

    def written() -> object:
        return write_jsonl(payloads, str(lines), "example", force=True)

    written()
    texts = lines.read_text().splitlines()
    yield "to jsonl", "json.dumps", written, lambda: plain.write_text("\n".join(plain_lines(payloads)))
    yield "from jsonl", "json.loads", lambda: list(JsonlReader(str(lines))), lambda: list(plain_examples(texts))
    if find_spec("pyarrow") is None:
        return
    import pyarrow.parquet as pq

    schema = table_columns(survey_payloads(payloads, "example"))
    write_parquet(payloads, str(table), schema, force=True)
    made = pq.read_table(table)

    def packed() -> object:
        writer = ParquetWriter(io.BytesIO(), schema)
        for payload in payloads:
            writer.write(payload)
        return writer.finish()

    yield "survey", "pyarrow", lambda: survey_payloads(payloads, "example"), lambda: pq.write_table(made, plain)
    yield "to parquet", "pyarrow", packed, lambda: pq.write_table(made, io.BytesIO())
    yield "from parquet", "pyarrow", lambda: list(ParquetReader(str(table))), lambda: pq.read_table(table).to_pylist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often each job is run (5)")
    options = parser.parse_args()
    rows = []
    with TemporaryDirectory() as directory:
        for make, count in WORKLOADS.items():
            some = Random(1)
            payloads = [ordered(make(some)) for _ in range(max(1, int(count * options.scale)))]
            for name, against, ours, theirs in jobs(payloads, Path(directory)):
                first, second = side_by_side(ours, theirs, options.runs)
                micros = f"{first / len(payloads) * 1e6:.1f}"
                rows.append([name, make.__name__, micros, against, f"{first / second:.2f}"])
            for name, against, taken, ratio in programs(payloads, Path(directory), options.runs):
                rows.append([name, make.__name__, f"{taken / len(payloads) * 1e6:.1f}", against, f"{ratio:.2f}"])
    print_table(("job", "on", "us/record", "against", "ratio"), rows)


if __name__ == "__main__":
    main()
