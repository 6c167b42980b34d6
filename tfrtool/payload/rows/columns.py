"""Survey what the rows of a whole set have in common, and make cells fit the message that they are written into.

Of each feature that is its kind, whether it is one value or a list, and whether it is text. A `Survey` learns it from
rows; a `RowSchema` holds it, and is what keeps JSON plain and gives a table its columns. As JSON it is one object:
`tfrtool_rows` (1, the version of this layout), `message`, and `features` and `feature_lists`: name -> {"kind",
"scalar", "text", "always"}; `renamed` has the names that features had before, by those that they have.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, cast, get_args

from tfrtool.payload.rows.row import Cell, Message, Row, RowChange, RowError
from tfrtool.payload.rows.values import are_spelled_by, is_text
from tfrtool.payload.wire.example import ListKind
from tfrtool.report import LossKind

Double = Literal["refuse", "exact", "round"]
"""What becomes of doubles where only floats can stand: refused, taken where they are float32 values, or rounded."""

ROUNDED = LossKind("rounded-to-float", "rounded to float32")
ROUNDED_TO_DOUBLE = LossKind("rounded-to-double", "rounded to a double")
WIDENED = LossKind("int32-widened", "int32 became int64", lost=False)


def coerce_cell(name: str, cell: Cell, message: Message, double: Double, changes: list[RowChange]) -> Cell:
    """Return the cell as the message can hold it: an Example has neither doubles nor int32.

    Raises RowError for doubles that the rule does not let through, and for those beyond float32 always.
    """
    kind, values = cell
    if message == "ofrecord" or kind not in ("double", "int32"):
        return cell
    if kind == "int32":
        changes.append(RowChange(name, WIDENED))
        return Cell("int64", array("q", cast("array[int]", values)))
    if double == "refuse":
        raise RowError("it holds doubles, and an Example has floats only", name)
    numbers = cast("array[float]", values)
    narrow = to_float32(name, numbers)
    odd = next((v for v, got in zip(numbers, narrow, strict=True) if v != got and v == v), None)
    if odd is not None:
        if double == "exact":
            raise RowError(f"{odd!r} is a double that no float32 is equal to", name)
        changes.append(RowChange(name, ROUNDED))
    return Cell("float", narrow)


def to_float32(name: str, numbers: Sequence[float] | array[float]) -> array[float]:
    """Return the nearest float32 values. Raises RowError for a number beyond them."""
    try:
        narrow = array("f", numbers)
    except OverflowError:
        narrow = array("f", map(float, numbers))
    for number, got in zip(numbers, narrow, strict=True):
        if math.isinf(got) and math.isfinite(number):
            raise RowError(f"{number!r} is beyond float32", name)
    return narrow


def decimals_to_float32(
    name: str, numbers: list[float], changes: list[RowChange], rounded: bool = False
) -> array[float]:
    """Return the same for numbers that were written as decimals; those that read back as other decimals are told.

    `rounded`: one of them was another number before it became a double.
    """
    narrow = to_float32(name, numbers)
    if rounded or not are_spelled_by(numbers, narrow):
        changes.append(RowChange(name, ROUNDED))
    return narrow


def integers(name: str, kind: ListKind, numbers: Sequence[int]) -> array[int]:
    """Integers of a list of that kind. Raises RowError for one that is out of its range."""
    code, bits = ("i", 32) if kind == "int32" else ("q", 64)
    try:
        return array(code, numbers)
    except OverflowError:
        odd = next(v for v in numbers if not -(2 ** (bits - 1)) <= v < 2 ** (bits - 1))
        shown = str(odd) if abs(odd) < 10**40 else "a number of more than 40 digits"
        raise RowError(f"{shown} is beyond {kind}", name) from None


MAX_FEATURES = 1 << 14
"""Names beyond which a set is refused: a table of so many columns serves nobody, and memory has to be bounded."""
MAX_NAMES = 1 << 26
"""The same for the characters of all names together."""
_VERSION = 1


class RowColumn(NamedTuple):
    """`scalar`: every record that has the feature has one value of it (of a feature list: every step). `text`: all its
    bytes values are printable UTF-8. `always`: no record is without the feature, though it may have no kind there."""

    kind: ListKind | None
    scalar: bool = False
    text: bool = False
    always: bool = False


@dataclass(slots=True)
class RowSchema:
    """The columns of a set, in the order in which its records first named them.

    `renamed` is for the way back, and makes no other table: the names that features had, by those that they have.
    """

    message: Message
    features: dict[str, RowColumn] = field(default_factory=dict)
    feature_lists: dict[str, RowColumn] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `from_json` reads."""
        groups = {"features": self.features, "feature_lists": self.feature_lists}
        named = {key: {name: column._asdict() for name, column in group.items()} for key, group in groups.items()}
        whole = {"tfrtool_rows": _VERSION, "message": self.message, **named}
        return whole | ({"renamed": self.renamed} if self.renamed else {})

    @classmethod
    def from_json(cls, value: Any) -> RowSchema:
        """Read what `to_json` made. Raises ValueError, in words, where it is something else."""
        if not isinstance(value, dict) or value.get("tfrtool_rows") != _VERSION:
            raise ValueError(f"no schema of rows: it has no 'tfrtool_rows' of {_VERSION}")
        if value.get("message") not in get_args(Message):
            raise ValueError(f"no schema of rows: {value.get('message')!r} is none of {', '.join(get_args(Message))}")
        groups = ({n: _column(n, c) for n, c in _object(value, key).items()} for key in ("features", "feature_lists"))
        features, lists = groups
        renamed = _object(value, "renamed")
        if not all(isinstance(old, str) and _can_be_written(new + old) for new, old in renamed.items()):
            raise ValueError("no schema of rows: 'renamed' has a name that is no text")
        return cls(value["message"], features, lists, renamed)


def _can_be_written(text: str) -> bool:
    return text.isascii() or text.encode("utf-8", "replace").decode() == text


def _object(value: dict[str, Any], key: str) -> dict[str, Any]:
    group = value.get(key, {})
    if not isinstance(group, dict):
        raise ValueError(f"no schema of rows: '{key}' is no object")
    return group


def _column(name: str, value: Any) -> RowColumn:
    if not isinstance(value, dict) or value.get("kind") not in (None, *get_args(ListKind)):
        raise ValueError(
            f"no schema of rows: feature {name!r} has no kind that is one of {', '.join(get_args(ListKind))}"
        )
    return RowColumn(value.get("kind"), *(value.get(trait) is True for trait in ("scalar", "text", "always")))


class RowPlace(NamedTuple):
    """A record: its number in the file of that name."""

    path: str
    record: int

    def __str__(self) -> str:
        return f"'{self.path}' record {self.record}"


@dataclass(slots=True)
class Traits:
    """What is known of one feature: of each kind the first record that has it, and how many records name it."""

    kinds: dict[ListKind, RowPlace] = field(default_factory=dict)
    scalar: bool = True
    text: bool = True
    named: int = 0

    def add(self, cell: Cell, place: RowPlace) -> None:
        kind, values = cell
        if kind is None:
            return
        if kind not in self.kinds:
            self.kinds[kind] = place
        if self.scalar and len(values) != 1:
            self.scalar = False
        if self.text and kind == "bytes":
            self.text = all(map(is_text, values))

    def column(self, records: int) -> RowColumn:
        """As a column of the kind that came first, in a set of so many records."""
        kind = next(iter(self.kinds), None)
        return RowColumn(kind, self.scalar and kind is not None, self.text and kind == "bytes", self.named == records)


class Room:
    """How many names a set may still have: `MAX_FEATURES` of a sort, `MAX_NAMES` characters of all."""

    def __init__(self) -> None:
        self._left = MAX_NAMES

    def take(self, group: Sized, name: str) -> None:
        """Let one more name into a group. Raises RowError where it is one too many."""
        if len(group) == MAX_FEATURES:
            raise RowError(f"more than {MAX_FEATURES:,} names of features in one set", name)
        self._left -= len(name)
        if self._left < 0:
            raise RowError(f"the names of features in one set take more than {MAX_NAMES:,} characters", name)


class Survey:
    """Learns the schema of rows, one after another."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.records = 0
        self.features: dict[str, Traits] = {}
        self.feature_lists: dict[str, Traits] = {}
        self._room = Room()

    def add(self, row: Row, place: RowPlace) -> None:
        """Learn from one row. Raises RowError at the name that is one too many."""
        self.records += 1
        for name, cell in row.features.items():
            self._traits(self.features, name).add(cell, place)
        for name, steps in row.feature_lists.items():
            traits = self._traits(self.feature_lists, name)
            for step in steps:
                traits.add(step, place)

    def _traits(self, group: dict[str, Traits], name: str) -> Traits:
        traits = group.get(name)
        if traits is None:
            self._room.take(group, name)
            traits = group[name] = Traits()
        traits.named += 1
        return traits

    def conflicts(self) -> dict[str, dict[ListKind, RowPlace]]:
        """Return the features of more than one kind, with the first record that has each kind."""
        both = (*self.features.items(), *self.feature_lists.items())
        return {name: traits.kinds for name, traits in both if len(traits.kinds) > 1}

    def schema(self) -> RowSchema:
        """Return what was learnt. A feature of more than one kind has that which came first."""
        groups = (self.features, self.feature_lists)
        features, lists = ({name: one.column(self.records) for name, one in group.items()} for group in groups)
        return RowSchema(self.message, features, lists)
