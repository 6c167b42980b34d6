"""Describing payloads in tests: as the program does, in pieces, and by a slow reader that is plainly right."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from kit.messages import entry, example, raw_example, sized, tag
from tfrtool.cli.printers.schema import lines, sentences
from tfrtool.framing.encode import frame
from tfrtool.payload.features.read import read_features
from tfrtool.payload.kinds import fits
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.summarize import summarise
from tfrtool.payload.schema.table import Table
from tfrtool.payload.wire.example import HeaderCache
from tfrtool.payload.wire.reader import WireError
from tfrtool.types import Kind
from tfrtool.verbs.schema.emit.as_json import schema_fields
from tfrtool.verbs.schema.job import schema as schema_of

PATH = "a"
HOSTILE = '\'); import os; os.abort() #\n"""\\\u202e'
"""A name that would be code, were it not quoted."""
PIECES = raw_example(entry(b"a", sized(3, sized(1, b"\1"), tag(1, 0), b"\2")))
"""Packed numbers in two pieces, the second a number of its own."""


def batch(
    payloads: Sequence[bytes], first: int = 0, family: str = "example", known: HeaderCache | None = None
) -> Table:
    """The table of payloads that lie in one buffer as records do, with other bytes between them."""
    return summed(payloads, first, family, known)[0]


def summed(
    payloads: Sequence[bytes], first: int = 0, family: str = "example", known: HeaderCache | None = None
) -> tuple[Table, list[tuple[int, WireError]]]:
    """The same, and which of them do not parse."""
    begins, ends, data = [], [], b""
    for payload in payloads:
        data += b"\x0a\x05head"
        begins.append(len(data))
        data += payload
        ends.append(len(data))
    view = memoryview(data + b"\x0a\x05tail")
    return summarise(view, begins, ends, first, PATH, known or HeaderCache(family))  # type: ignore[arg-type]


def pieces(payloads: Sequence[bytes], cuts: Sequence[int], family: str = "example") -> list[Table]:
    """The tables of a stream cut at some numbers of records."""
    at = sorted({0, len(payloads), *(cut % (len(payloads) + 1) for cut in cuts)})
    return [batch(payloads[begin:end], begin, family) for begin, end in pairwise(at)]


def merged(tables: Sequence[Table]) -> Table:
    total = Table()
    for table in tables:
        total.merge(table)
    total.cut()
    return total


def shown(found: Table | Schema) -> str:
    """What is told of features, as text: two that are equal may still differ in the order of what they have."""
    schema = found if isinstance(found, Schema) else Schema(examples=found)
    rows = [str(line) for line in lines(schema)]
    return "\n".join([*rows, *sentences(schema), json.dumps(schema_fields(schema), indent=1)])


@dataclass
class Plain:
    """What is known of one feature: a line of facts."""

    present: int = 0
    missing: int | None = None
    kinds: dict[str | None, list[int]] = field(default_factory=dict)
    values: list[object] = field(default_factory=list)


def plainly(payloads: Sequence[bytes], kind: str) -> dict[bytes, Plain]:
    """Each feature, read record by record; those that do not parse, or only as another kind, are passed over."""
    found: dict[bytes, Plain] = {}
    seen = -1
    for number, payload in enumerate(payloads):
        try:
            read = read_features(payload, kind)  # type: ignore[arg-type]
        except WireError:
            continue
        views = {view.name: view for view in read.features}
        kinds: tuple[Kind, ...] = ("ofrecord",) if kind == "ofrecord" else ("example", "sequence_example")
        if payload and not views and not read.feature_lists and all(fits(payload, one) for one in kinds):
            continue  # no features, but something else
        first, seen = seen < 0, seen if seen >= 0 else number
        for name in views.keys() - found.keys():
            found[name] = Plain(missing=None if first else seen)
        for name, plain in found.items():
            if name in views:
                plain.present += 1
                plain.kinds.setdefault(views[name].kind, []).append(views[name].count)
                plain.values += views[name].values()
            elif plain.missing is None:
                plain.missing = number
    return found


def peak(job: Callable[[], object]) -> int:
    """The most bytes that Python held at once while it did a job, above those that it held before."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def described(tmp_path: Path, *files: Sequence[bytes], n: int | None = None) -> Schema:
    """The schema of some files, each of these payloads."""
    paths = []
    for number, payloads in enumerate(files):
        paths.append(tmp_path / f"shard-{number}")
        paths[-1].write_bytes(b"".join(map(frame, payloads)))
    return schema_of(*paths, n=n)


def mixed() -> list[bytes]:
    """Six Examples: a scalar of each kind, lists of fixed and of varying length, an optional and an unset feature."""
    made = []
    for n in range(6):
        lists: dict[str, Any] = {
            "id": ("bytes_list", [b"number %d" % n]),
            "label": ("int64_list", [n % 2]),
            "score": ("float_list", [n / 4]),
            "box": ("float_list", [0.0, 1.0, 2.0, n]),
            "tags": ("bytes_list", [b"t"] * n),
            HOSTILE: ("int64_list", [1 << 40]),
            "nothing": None,
        }
        if n % 2:
            lists["rare"] = ("int64_list", [n])
        made.append(example(lists))
    return made
