"""Plain advice on how record files are made, each with the figures it rests on.

TensorFlow's guide to the performance of input pipelines asks for files of 100 MB or more (10 MB at the least), and for
more files than there are readers; 100 to 200 MB is what follows for large data sets. OneFlow's reader ends the program
at a part file without a record.
"""

from __future__ import annotations

from typing import NamedTuple

from tfrtool.verbs.dataset import DataSet

_MB = 10**6
GOOD = 150 * _MB
"""A good size for a shard, in bytes: the middle of 100 to 200 MB."""
_SMALL, _LARGE = 50 * _MB, 400 * _MB
"""Beyond these a shard is far from 100 to 200 MB: less than half, more than twice."""
_UNEVEN = 2
"""How many times the middle one of the shards makes one much larger than the others."""
_NOTICEABLE = 0.05
"""The part of a file that framing takes before it is worth a word."""
_IDLE, _WORTH_A_LOOK = 1.05, _MB
"""A compression that saves less than 5 % does nothing, if there is at least a megabyte of it."""


class Advice(NamedTuple):
    """`kind` is a short id for scripts, `message` one sentence for people."""

    kind: str
    message: str


def advice(data: DataSet) -> list[Advice]:
    """What could be better about these files; empty where nothing comes to mind."""
    found = [_small(data), _large(data), _uneven(data), _empty(data), _framing(data), _compression(data)]
    return [Advice(*one) for one in found if one]


Found = tuple[str, str] | None


def _small(data: DataSet) -> Found:
    count, total = data.files.count, data.files.total
    if count < 2 or not data.payloads.count or total >= _SMALL * count:
        return None
    wanted = max(1, min(round(total / GOOD), data.payloads.count))
    into = f"about {wanted:,} would do" if wanted > 1 else "all of it fits into one"
    mean = megabytes(total // count)
    return "small-shards", f"these {count:,} files have {mean} on average: shards of 100 to 200 MB read faster, {into}"


def _large(data: DataSet) -> Found:
    if data.largest is None or data.largest[0] <= _LARGE:
        return None
    size, path, records = data.largest
    parts = min(round(size / GOOD), records)
    if parts < 2:  # nobody can divide a record
        return None
    return (
        "large-shards",
        f"'{path}' has {megabytes(size)}: about {parts:,} shards of 100 to 200 MB can be shuffled and read in parallel",
    )


def _uneven(data: DataSet) -> Found:
    times = data.evenness
    if times is None or times <= _UNEVEN or data.largest is None:
        return None
    size, path, records = data.largest
    if not records:
        return None
    other = "the other" if data.files.count == 2 else f"the middle one of these {data.files.count:,} files"
    return (
        "uneven-shards",
        f"'{path}' has {megabytes(size)}, {times:,.1f} times what {other} has: whoever reads it finishes last",
    )


def _empty(data: DataSet) -> Found:
    if data.hollow is None or not data.formats["ofrecord"]:
        return None
    count, path = data.hollow
    which = f"'{path}' holds no record" if count == 1 else f"{count:,} parts hold no record, '{path}' the first"
    return "empty-part", f"{which}: OneFlow ends with an error at such a part; number the others anew without it"


def _framing(data: DataSet) -> Found:
    part, n = data.overhead, data.payloads.count
    # The writer of events and of OFRecords has no choice; in a handful of records nothing is to be gained.
    if part is None or part < _NOTICEABLE or data.kinds["event"] or n < 1000:
        return None
    mean = data.payloads.total / n
    return (
        "framing",
        f"framing is {100 * part:.1f} % of the bytes, since a payload has {megabytes(round(mean))} on average: "
        "several to a record (lists of values) would take less room and read faster",
    )


def _compression(data: DataSet) -> Found:
    ratio = data.ratio
    if ratio is None or ratio >= _IDLE or data.packed < _WORTH_A_LOOK:
        return None
    saved = max(0.0, 100 * (1 - data.packed / data.unpacked)) if data.unpacked else 0.0
    return (
        "compression",
        f"compression saves {saved:.1f} %: without it a reader is spared the unpacking, and can go to any record",
    )


def megabytes(size: int) -> str:
    """A size in the units in which shards are spoken of: `150 MB`, `9.2 MB`, `45 kB`."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}" if size < 10 * unit else f"{size / unit:,.0f} {name}"
    return f"{size} byte{'' if size == 1 else 's'}"
