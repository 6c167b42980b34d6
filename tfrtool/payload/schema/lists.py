"""The lists of one feature and kind in a batch of records: how long each is, and what their values are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tfrtool.payload.schema.agree import Lengths
from tfrtool.payload.schema.content import blobs_of
from tfrtool.payload.schema.feature import Lists
from tfrtool.payload.schema.numbers import CONTINUED, floats, integers, scalars
from tfrtool.payload.schema.values import Blobs, Numbers, Place
from tfrtool.payload.schema.walker import Header, sized_values
from tfrtool.payload.wire import Buffer, count_varints

CODES = {"float": "f", "double": "d"}
_MANY = 1 << 12  # values that are looked at together
_LONG = 1 << 16  # bytes of a run of integers that is not copied whole


def add_lists(
    p: Buffer,
    lists: Lists,
    row: Sequence[Header],
    kinds: set[Header],
    offsets: Sequence[int],
    place: Callable[[int], Place],
) -> Lengths:
    """Add to `lists` the values of entries that begin at `offsets` with the headers in `row`; `kinds` is the set of it.

    The length of each list is given back. Raises `Broken` where varints are no varints.
    """
    if lists.kind is None:
        return 0
    if isinstance(lists.values, Blobs):
        _add_blobs(p, lists.values, row, kinds, offsets, place)
    elif lists.kind in CODES:
        assert isinstance(lists.values, Numbers)
        floats(_runs(p, row, kinds, offsets), CODES[lists.kind], lists.values)
    else:
        assert isinstance(lists.values, Numbers)
        return _add_integers(p, lists.values, row, kinds, offsets, lists.kind == "int32")
    counts = {header.count for header in kinds}
    return counts.pop() if len(counts) == 1 else [header.count for header in row]


def _runs(p: Buffer, row: Sequence[Header], kinds: set[Header], offsets: Sequence[int]) -> list[Buffer]:
    if len(kinds) == 1:
        head, total = row[0].head, row[0].total
        return [p[at + head : at + total] for at in offsets]
    return [p[at + header.head : at + header.total] for header, at in zip(row, offsets, strict=True)]


def _add_blobs(
    p: Buffer,
    blobs: Blobs,
    row: Sequence[Header],
    kinds: set[Header],
    offsets: Sequence[int],
    place: Callable[[int], Place],
) -> None:
    if {header.count for header in kinds} == {1}:
        spans = [(at + header.head, at + header.total) for header, at in zip(row, offsets, strict=True)]
        blobs.merge(blobs_of(p, spans, place))
        return
    found = _spans(p, row, offsets)
    while some := list(islice(found, _MANY)):
        numbers = [i for i, _ in some]
        spans = [span for _, span in some]
        blobs.merge(blobs_of(p, spans, lambda i, numbers=numbers: place(numbers[i])))  # type: ignore[misc]


def _spans(p: Buffer, row: Sequence[Header], offsets: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """The values of lists of any length, each with the number of its list."""
    for i, (header, at) in enumerate(zip(row, offsets, strict=True)):
        if header.several:
            for span in sized_values(p, at + header.head, at + header.total):
                yield i, span
        elif header.count:
            yield i, (at + header.head, at + header.total)


def _add_integers(
    p: Buffer, into: Numbers, row: Sequence[Header], kinds: set[Header], offsets: Sequence[int], narrow: bool
) -> Lengths:
    if len(kinds) == 1:
        return _add_runs(p, into, row[0], offsets, narrow)
    groups: dict[Header, list[int]] = {header: [] for header in kinds}
    for i, header in enumerate(row):
        groups[header].append(i)
    found = [(which, _add_runs(p, into, head, [offsets[i] for i in which], narrow)) for head, which in groups.items()]
    lengths = {length if isinstance(length, int) else -1 for _, length in found}
    if len(lengths) == 1 and -1 not in lengths:
        return lengths.pop()
    placed = [0] * len(row)
    for which, length in found:
        for n, i in enumerate(which):
            placed[i] = length if isinstance(length, int) else length[n]
    return placed


def _add_runs(p: Buffer, into: Numbers, header: Header, offsets: Sequence[int], narrow: bool) -> Lengths:
    head, total = header.head, header.total
    if not header.count:
        return 0
    if total - head > _LONG:
        integers((p[at + head : at + total] for at in offsets), into, narrow)
        return [count_varints(p, at + head, at + total) for at in offsets]
    if isinstance(p, bytes):
        runs = [p[at + head : at + total] for at in offsets]
    else:
        runs = [bytes(p[at + head : at + total]) for at in offsets]
    if scalars(runs, total - head, into, narrow):
        return 1
    integers(runs, into, narrow)
    return [len(run.translate(None, CONTINUED)) for run in runs]
