"""Flatten the feature lists of a SequenceExample, all values in one feature and the counts of steps beside; and back.

Where they stay feature lists, names must only differ within the context, and within the lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from tfrtool.payload.mapping.record import Item, MappingRecord, values_of
from tfrtool.payload.mapping.rules import NameMapping, Refused
from tfrtool.payload.text import text_of
from tfrtool.payload.wire.example import WIDTHS
from tfrtool.payload.wire.reader import count_varints

if TYPE_CHECKING:
    from tfrtool.payload.rows.row import Cell

_LENGTHS = b"/lengths"
_WITHOUT = "convert without {schema} to leave it flat"


def joined_steps(view: memoryview, name: bytes, steps: list[Item]) -> tuple[Item, list[int]]:
    """Return one feature of the values of all steps, and the number of values in each. Raises Refused for two kinds."""
    kinds = {step.kind for step in steps} - {None}
    if len(kinds) > 1:
        mixed = " and ".join(sorted(map(str, kinds)))
        raise Refused(name, f"its steps are of the kinds {mixed}", "{drop} leaves it out")
    whole = Item(name, next(iter(kinds), None))
    for step in steps:
        whole.lists += step.lists
        whole.unknown += step.unknown
        whole.within |= step.within
        whole.overridden |= step.overridden
        whole.split |= step.split
    return whole, [_count(view, step) for step in steps]


def lengths_of(name: bytes, names: NameMapping) -> bytes:
    """Return the name of the feature that holds the counts of a feature list of that name."""
    return names.target(name + _LENGTHS) or name + _LENGTHS


def rebuilt(payload: bytes, lists: Mapping[bytes, bytes]) -> bytes:
    """Return the SequenceExample that a flat Example was, by the features that were lists and those of their lengths.

    Lists come in the order in which their lengths stand in the Example, the order in which they were flattened.
    Raises Refused where the lengths of a list do not add up.
    """
    from tfrtool.payload.rows.convert import read_row, write_row
    from tfrtool.payload.rows.row import Row, RowChange, RowError

    changes: list[RowChange] = []
    try:
        flat = read_row(payload, "example", changes)
    except RowError as error:
        raise Refused(None, str(error), _WITHOUT) from None
    for change in changes:
        if change.lost:
            raise Refused(change.feature.encode("utf-8", "surrogateescape") or None, change.what, _WITHOUT)
    row = Row("sequence_example", flat.features)
    by_lengths = {text_of(lengths): raw for raw, lengths in lists.items()}
    for lengths in [name for name in row.features if name in by_lengths]:  # without lengths it was no list here
        raw, counts = by_lengths[lengths], row.features.pop(lengths)
        name = text_of(raw)
        row.feature_lists[name] = _steps(raw, row.features.pop(name, None), counts)
    return write_row(row)


def _steps(name: bytes, values: Cell | None, counts: Cell) -> list[Cell]:
    from tfrtool.payload.rows.row import NO_KIND, Cell

    if values is None or values.kind is None:
        values = NO_KIND
    sizes = [int(count) for count in counts.values]
    if (counts.kind not in ("int64", None)) or min(sizes, default=0) < 0 or sum(sizes) != len(values.values):
        raise Refused(name, f"it has {len(values.values):,} values, and its lengths say otherwise", _WITHOUT)
    ends = list(accumulate(sizes))
    return [
        Cell(values.kind, values.values[end - size : end]) if values.kind else NO_KIND
        for size, end in zip(sizes, ends, strict=True)
    ]


def refuse_clashes(record: MappingRecord, names: NameMapping) -> None:
    """Raise Refused if flattening gives two features the same name."""
    taken = _taken([item.name for item in record.items], names)
    feature_names = {item.name for item in record.items}
    lists: set[bytes] = set()
    for name, _ in record.steps:
        if name in feature_names or name in lists:
            raise Refused(name, "the record has a feature of that name too", "{drop} leaves both out")
        lists.add(name)
        _take(taken, name, names.target(name), name)
    for name in lists:
        if names.target(name) is not None:
            lengths = lengths_of(name, names)
            if lengths in taken:
                raise Refused(name, f"the record has a feature '{text_of(lengths)}' too", "{drop} leaves it out")
            taken[lengths] = lengths


def refuse_clashes_apart(record: MappingRecord, names: NameMapping) -> None:
    """Raise Refused where features of different names would come out under one, or feature lists would."""
    _taken([item.name for item in record.items], names)
    _taken([name for name, _ in record.steps], names)


def _taken(old: list[bytes], names: NameMapping) -> dict[bytes, bytes]:
    """Return the old name of each new one."""
    taken: dict[bytes, bytes] = {}
    for name in old:
        _take(taken, name, names.target(name), name)
    return taken


def _take(taken: dict[bytes, bytes], old: bytes, new: bytes | None, about: bytes) -> None:
    if new is not None and (other := taken.setdefault(new, old)) != old:
        shown = text_of(new)
        if new in (old, other):
            raise Refused(about, f"two features would be named '{shown}', as one of them is", "rename that too")
        raise Refused(about, f"'{text_of(other)}' would also be named '{shown}'", "rename one of them")


def _count(view: memoryview, step: Item) -> int:
    if step.kind is None:
        return 0
    pieces = values_of(view, step.lists, step.kind)
    if step.kind == "bytes":
        return sum(1 for _ in pieces)
    if step.kind in WIDTHS:
        return sum(len(piece) // WIDTHS[step.kind] for piece in pieces)
    return sum(count_varints(piece, 0, len(piece)) for piece in pieces)
