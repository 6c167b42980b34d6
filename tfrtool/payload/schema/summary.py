"""A batch of payloads as a table: the pure twin of `kernel.summarise`.

The walk gives the entries of all records in one row. Where every record has the same features in the same order, which
is how most writers write, each feature is every n-th of them, and its values are taken together; else they are sorted
by feature first. Records of an unusual form are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfrtool.payload.schema.batch import Batch
from tfrtool.payload.schema.numbers import Broken
from tfrtool.payload.schema.single import Misfit, one_by_one
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.walker import Known, gather

NAME = "pure"
LARGE = 1 << 16
"""Bytes of a record from which on it is read by itself, and nothing of it is copied that need not be."""


def summarise(
    view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str, known: Known
) -> tuple[Table, list[Misfit]]:
    """The table of the payloads `view[begins[i]:ends[i]]`, which are records `first`, `first + 1` … of the file.

    Those that protobuf would refuse are not in the table, but in the list.
    """
    total = Table()
    misfits: list[Misfit] = []
    at, count = 0, len(begins)
    while at < count:
        stop = at + 1
        if ends[at] - begins[at] < LARGE:
            while stop < count and ends[stop] - begins[stop] < LARGE and ends[stop] - begins[at] < 4 * LARGE:
                stop += 1
            table, bad = _small(view, begins[at:stop], ends[at:stop], first + at, path, known)
        else:
            table, bad = one_by_one(
                view[begins[at] : ends[at]], [0], [ends[at] - begins[at]], first + at, path, known.family
            )
        total.merge(table)
        misfits += ((at + number, error) for number, error in bad)
        at = stop
    total.cut()
    return total, misfits


def _small(
    view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str, known: Known
) -> tuple[Table, list[Misfit]]:
    base = begins[0]
    p = bytes(view[base : ends[-1]])
    begins, ends = [begin - base for begin in begins], [end - base for end in ends]
    headers, offsets, marks, odd = gather(p, begins, ends, known)
    if odd or not headers:
        return one_by_one(p, begins, ends, first, path, known.family)
    batch = Batch(p, path, range(first, first + len(begins)))
    try:
        width = marks[0]
        even = len(headers) == width * len(marks) and marks == list(range(width, len(headers) + 1, width))
        if not (even and batch.even(headers, offsets, width)):
            batch = Batch(p, path, range(first, first + len(begins)))
            batch.uneven(headers, offsets, marks)
        return batch.table(), []
    except Broken:
        return one_by_one(p, begins, ends, first, path, known.family)
