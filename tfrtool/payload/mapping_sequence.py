"""The feature lists of a SequenceExample laid flat: the values of all steps in one feature, and their counts beside."""

from __future__ import annotations

from tfrtool.payload.mapping_names import Names
from tfrtool.payload.mapping_read import WIDTH, Item, Record, values_of
from tfrtool.payload.mapping_rules import Refused
from tfrtool.payload.values import text_of
from tfrtool.payload.wire import count_varints

_LENGTHS = b"/lengths"


def joined_steps(view: memoryview, name: bytes, steps: list[Item]) -> tuple[Item, list[int]]:
    """One feature of the values of all steps, and the number of values in each. Raises Refused for two kinds."""
    kinds = {step.kind for step in steps} - {None}
    if len(kinds) > 1:
        mixed = " and ".join(sorted(map(str, kinds)))
        raise Refused(name, f"its steps are of the kinds {mixed}", "--drop leaves it out")
    whole = Item(name, next(iter(kinds), None))
    for step in steps:
        whole.lists += step.lists
        whole.unknown += step.unknown
        whole.within |= step.within
        whole.overridden |= step.overridden
        whole.split |= step.split
    return whole, [_count(view, step) for step in steps]


def lengths_of(name: bytes, names: Names) -> bytes:
    """The name of the feature that holds the counts of a feature list of that name."""
    return names.target(name + _LENGTHS) or name + _LENGTHS


def refuse_clashes(record: Record, names: Names) -> None:
    """Raise Refused where features of different names would come out under one."""
    taken: dict[bytes, bytes] = {}
    for item in record.items:
        _take(taken, item.name, names.target(item.name), item.name)
    own = {item.name for item in record.items}
    lists: set[bytes] = set()
    for name, _ in record.steps:
        if name in own or name in lists:
            raise Refused(name, "the record has a feature of that name too", "--drop leaves both out")
        lists.add(name)
        _take(taken, name, names.target(name), name)
    for name in lists:
        if names.target(name) is not None:
            lengths = lengths_of(name, names)
            if lengths in taken:
                raise Refused(name, f"the record has a feature '{text_of(lengths)}' too", "--drop leaves it out")
            taken[lengths] = lengths


def _take(taken: dict[bytes, bytes], old: bytes, new: bytes | None, about: bytes) -> None:
    if new is not None and taken.setdefault(new, old) != old:
        raise Refused(about, f"'{text_of(taken[new])}' would also be named '{text_of(new)}'", "rename one of them")


def _count(view: memoryview, step: Item) -> int:
    if step.kind is None:
        return 0
    pieces = values_of(view, step.lists, step.kind)
    if step.kind == "bytes":
        return sum(1 for _ in pieces)
    if step.kind in WIDTH:
        return sum(len(piece) // WIDTH[step.kind] for piece in pieces)
    return sum(count_varints(piece, 0, len(piece)) for piece in pieces)
