"""Write rows as JSON objects, each on one line.

    {"label": 3, "bbox": [0.1, 0.25], "name": "cat", "image": {"bytes": "/9j/4AAQ"}}
    {"context": {…}, "feature_lists": {"tokens": [1, 2, 3], "boxes": [[0.1, 0.2], [0.3, 0.4]]}}    a SequenceExample

A value is a number or a text; bytes are text where all values of the feature are printable UTF-8, else {"bytes":
base64}. An integer is an int64 and stays one, however large; a number with a point or an exponent is a float; NaN and
the infinities are strings. One value stands alone, any other number of them in an array, an absent feature is not
there, and a feature of no kind is {}. What would read back as another kind bears its own: {"double": 0.5}, {"int32":
[1, 2]}, {"int64": []}, {"float": "NaN"}, {"bytes": "TmFO"} for the text NaN, and integers of a feature that had floats
in a record before, or floats of one that had integers.

With a schema values are plain, the schema says their kinds, and a feature is an array throughout unless all records
have one value of it; only what is of another kind than the schema says bears its own.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Literal, cast

from tfrtool.payload.rows.columns import MAX_FEATURES, RowColumn, RowSchema
from tfrtool.payload.rows.row import Cell, Row, RowChange, RowError
from tfrtool.payload.rows.values import base64_string, doubles, floats, is_text, string
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import LONG_NAME
from tfrtool.report import LossKind

NAN_BITS = LossKind("nan-bits", "the bits of a NaN")
_UNTOLD = LossKind("kind-untold", "it is {}, which a reader without a schema takes for {}")
_USUAL_NAN = {
    "float": (b"\x00\x00\xc0\x7f", b"\x7f\xc0\x00\x00"),
    "double": (bytes(6) + b"\xf8\x7f", b"\x7f\xf8" + bytes(6)),
}
_NUMBERS = ("int64", "float")
_NAMED = (b"NaN", b"Infinity", b"-Infinity")
_PARTS = {"context", "feature_lists"}
_PLAIN: dict[ListKind, str] = {"double": "float", "int32": "int64"}


class JsonWriter:
    """Makes lines of rows. `lists` is `auto`, or `always` for an array even where there is one value; a schema
    overrules it. Unless `exact`, no value bears its kind, and what that loses is told."""

    def __init__(
        self, schema: RowSchema | None = None, *, exact: bool = True, lists: Literal["auto", "always"] = "auto"
    ) -> None:
        self._features = schema.features if schema else {}
        self._feature_lists = schema.feature_lists if schema else {}
        self._exact = exact
        self._alone = lists == "auto"
        self._names: dict[str, str] = {}
        self._plain: dict[tuple[str | bytes, bool], ListKind] = {}

    def line(self, row: Row, changes: list[RowChange]) -> str:
        """Return the row as one line, without its end; what will not come back is added to `changes`."""
        columns = self._features
        cells = [
            f"{self._name(name)}:{self._cell(name, cell, columns.get(name), changes)}"
            for name, cell in row.features.items()
        ]
        features = "{" + ",".join(cells) + "}"
        if row.message != "sequence_example":
            if row.features.keys() == _PARTS and not columns and all(cell.endswith("}") for cell in cells):
                raise RowError("features of these two names alone read as a SequenceExample", "context")
            return features
        lists = [f"{self._name(name)}:{self._steps(name, steps, changes)}" for name, steps in row.feature_lists.items()]
        return f'{{"context":{features},"feature_lists":{{{",".join(lists)}}}}}'

    def _name(self, name: str) -> str:
        quoted = self._names.get(name)
        if quoted is None:
            if len(name) > LONG_NAME:
                return string(name)
            if len(self._names) >= 1024:
                self._names.clear()
            quoted = self._names[name] = string(name)
        return quoted

    def _steps(self, name: str, steps: list[Cell], changes: list[RowChange]) -> str:
        column = self._feature_lists.get(name)
        alone = self._alone and all(len(step.values) == 1 for step in steps)
        return f"[{','.join(self._cell(name, step, column, changes, alone, in_steps=True) for step in steps)}]"

    def _cell(
        self,
        name: str,
        cell: Cell,
        column: RowColumn | None,
        changes: list[RowChange],
        alone: bool | None = None,
        *,
        in_steps: bool = False,
    ) -> str:
        kind, values = cell
        if kind is None:
            return "{}"
        same = column is not None and column.kind == kind
        if column is not None and same:
            alone = column.scalar
        elif alone is None:
            alone = self._alone
        bears = not same and (column is not None and column.kind is not None or _needs_kind(cell))
        if self._exact and not (same or bears) and kind in _NUMBERS:
            bears = self._other_before((name if len(name) <= LONG_NAME else _digest(name), in_steps), kind)
        if bears and not self._exact:
            bears = False
            changes.append(RowChange(name, _UNTOLD, (kind, _taken_for(cell))))
        items = _items(kind, values, column if same else None, bears)
        if kind in _USUAL_NAN and not all(map(_is_usual, cast(Iterable[float], values))) and _odd_nan(kind, values):
            changes.append(RowChange(name, NAN_BITS))
        body = items[0] if alone and len(items) == 1 else f"[{','.join(items)}]"
        return f'{{"{kind}":{body}}}' if bears else body

    def _other_before(self, feature: tuple[str | bytes, bool], kind: ListKind) -> bool:
        """Whether plain numbers of a feature were of another kind: a reader takes integers among floats for floats."""
        if feature not in self._plain and len(self._plain) >= MAX_FEATURES:
            return True
        return self._plain.setdefault(feature, kind) != kind


def _digest(name: str) -> bytes:
    """Return what a long name is known by."""
    from hashlib import blake2b

    return blake2b(name.encode(), digest_size=16).digest()


def _items(kind: ListKind, values: object, column: RowColumn | None, bears: bool) -> list[str]:
    if kind == "bytes":
        texts = cast("list[bytes]", values)
        if bears:
            return list(map(base64_string, texts))
        number_like = column is None and any(text in _NAMED for text in texts)
        if (column is None or column.text) and not number_like and all(map(is_text, texts)):
            return [string(text.decode()) for text in texts]
        return [f'{{"bytes":{base64_string(text)}}}' for text in texts]
    numbers = cast("array[float]", values)
    return floats(numbers) if kind == "float" else doubles(numbers) if kind == "double" else list(map(str, numbers))


def _needs_kind(cell: Cell) -> bool:
    """Would the plain values read back as another kind, there being no schema?"""
    kind, values = cell
    if kind in _PLAIN or not values:
        return True
    return kind == "float" and not any(map(math.isfinite, cast("array[float]", values)))


def _taken_for(cell: Cell) -> str:
    if not cell.values:
        return "a feature of no kind"
    if cell.kind == "float":
        return "text"
    return _PLAIN.get(cell.kind, "another kind") if cell.kind else ""


def _is_usual(value: float) -> bool:
    return value == value


def _odd_nan(kind: str, values: object) -> bool:
    raw = cast("array[float]", values).tobytes()
    width = 4 if kind == "float" else 8
    numbers = cast("array[float]", values)
    return any(v != v and raw[i * width : (i + 1) * width] not in _USUAL_NAN[kind] for i, v in enumerate(numbers))
