"""Infer the schema of JSON rows that other programs wrote, in which an integer may stand for a float."""

from __future__ import annotations

from typing import Any

from tfrtool.payload.rows.columns import Room, RowColumn, RowSchema
from tfrtool.payload.rows.json_reader import NAMED
from tfrtool.payload.rows.row import Message, RowError
from tfrtool.payload.wire.example import ListKind

_NUMBERS = {"int64", "float", "named"}


class _InferredColumn:
    """What the values of one feature are: kinds, each with the line of the first; `named` is NaN or the like alone.

    `plain` are the kinds of values that do not bear theirs.
    """

    __slots__ = ("kinds", "plain", "scalar")

    def __init__(self) -> None:
        self.kinds: dict[str, int] = {}
        self.plain: set[str] = set()
        self.scalar = True

    def add(self, value: Any, line: int) -> None:
        if value is None or value == {}:
            return
        kind = None
        if isinstance(value, dict):
            kind, value = next(iter(value.items()))
        items = value if isinstance(value, list) else [value]
        self.scalar = self.scalar and len(items) == 1
        found = {kind} if kind else _kinds_of(items)
        if not kind:
            self.plain |= found
        for one in found:
            self.kinds.setdefault(one, line)

    def column(self, name: str, mixed: bool) -> RowColumn:
        """Return the column. `mixed`: values that bear their kind have it, and say nothing of those that do not."""
        kinds = (mixed and self.plain) or set(self.kinds)
        kind: ListKind | None
        if not kinds:
            kind = None
        elif kinds <= {"bytes", "named"}:
            kind = "bytes"
        elif kinds <= _NUMBERS:
            kind = "int64" if kinds == {"int64"} else "float"
        elif kinds <= _NUMBERS | {"double"}:
            kind = "double"
        elif kinds <= {"int64", "int32"}:
            kind = "int32"  # a plain integer beside one that bears its kind
        elif mixed:
            return RowColumn(None)
        else:
            found = ", ".join(f"{_WORDS.get(one, one)} in line {line}" for one, line in self.kinds.items())
            raise RowError(f"it is of more than one kind: {found}", name)
        return RowColumn(kind, self.scalar and kind is not None, kind == "bytes")


_WORDS = {"named": "a text", "int64": "an integer", "float": "a number", "bytes": "a text"}


def _kinds_of(items: list[Any]) -> set[str]:
    types = set(map(type, items))
    return {_OF_TYPE[one] for one in types} if types <= _OF_TYPE.keys() else set(map(_kind_of, items))


_OF_TYPE = {int: "int64", float: "float"}


def _kind_of(item: Any) -> str:
    if isinstance(item, bool | int):
        return "int64"
    if isinstance(item, float):
        return "float"
    return "named" if isinstance(item, str) and item in NAMED else "bytes"


class SchemaInference:
    """Learns the schema of objects, one after another; `message` None is told by the first, as `JsonParser` does."""

    def __init__(self, message: Message | None = None) -> None:
        self.message = message
        self._features: dict[str, _InferredColumn] = {}
        self._lists: dict[str, _InferredColumn] = {}
        self._room = Room()

    def add(self, value: dict[str, Any], message: Message, line: int) -> None:
        """Learn from an object that made a sound row of that message."""
        self.message = message
        context = value.get("context", {}) if message == "sequence_example" else value
        for name, item in context.items():
            self._of(self._features, name).add(item, line)
        if message == "sequence_example":
            for name, steps in value.get("feature_lists", {}).items():
                infer_kind = self._of(self._lists, name)
                for step in steps or ():
                    infer_kind.add(step, line)

    def _of(self, group: dict[str, _InferredColumn], name: str) -> _InferredColumn:
        if name not in group:
            self._room.take(group, name)
            group[name] = _InferredColumn()
        return group[name]

    def merged(self) -> frozenset[str]:
        """Return the features of which some values are integers, and floats all the same since others are."""
        both = [*self._features.items(), *self._lists.items()]
        return frozenset(name for name, infer_kind in both if {"int64", "float"} <= infer_kind.plain)

    @property
    def wide(self) -> bool:
        """Return whether there are kinds that an Example does not have."""
        both = (*self._features.values(), *self._lists.values())
        return any(not infer_kind.kinds.keys().isdisjoint(("double", "int32")) for infer_kind in both)

    def schema(self, *, mixed: bool = False) -> RowSchema:
        """Return what was learnt: a feature of integers and of other numbers is float.

        Raises RowError for a feature of numbers and of texts, naming the first line of each; `mixed` leaves such a
        feature without a kind instead, so that each of its values tells its own.
        """
        groups = (self._features, self._lists)
        features, lists = (
            {name: infer_kind.column(name, mixed) for name, infer_kind in group.items()} for group in groups
        )
        return RowSchema(self.message or "example", features, lists)
