"""Cells made to fit the message that they are written into, and the numbers that JSON and tables bring."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Literal, cast

from tfrtool.payload.rows_row import Cell, Change, Message, RowError
from tfrtool.payload.rows_text import are_spelled_by
from tfrtool.payload.usual import ListKind
from tfrtool.report import LossKind

Double = Literal["refuse", "exact", "round"]
"""What becomes of doubles where only floats can stand: refused, taken where they are float32 values, or rounded."""

ROUNDED = LossKind("rounded-to-float", "rounded to float32")
ROUNDED_TO_DOUBLE = LossKind("rounded-to-double", "rounded to a double")
WIDENED = LossKind("int32-widened", "int32 became int64", lost=False)


def fit_cell(name: str, cell: Cell, message: Message, double: Double, changes: list[Change]) -> Cell:
    """The cell as the message can hold it: an Example has neither doubles nor int32.

    Raises RowError for doubles that the rule does not let through, and for those beyond float32 always.
    """
    kind, values = cell
    if message == "ofrecord" or kind not in ("double", "int32"):
        return cell
    if kind == "int32":
        changes.append(Change(name, WIDENED))
        return Cell("int64", array("q", cast("array[int]", values)))
    if double == "refuse":
        raise RowError("it holds doubles, and an Example has floats only", name)
    numbers = cast("array[float]", values)
    narrow = to_float32(name, numbers)
    odd = next((v for v, got in zip(numbers, narrow, strict=True) if v != got and v == v), None)
    if odd is not None:
        if double == "exact":
            raise RowError(f"{odd!r} is a double that no float32 is equal to", name)
        changes.append(Change(name, ROUNDED))
    return Cell("float", narrow)


def to_float32(name: str, numbers: Sequence[float] | array[float]) -> array[float]:
    """The nearest float32 values. Raises RowError for a number beyond them."""
    try:
        narrow = array("f", numbers)
    except OverflowError:
        narrow = array("f", map(float, numbers))
    for number, got in zip(numbers, narrow, strict=True):
        if math.isinf(got) and math.isfinite(number):
            raise RowError(f"{number!r} is beyond float32", name)
    return narrow


def decimals_to_float32(name: str, numbers: list[float], changes: list[Change], rounded: bool = False) -> array[float]:
    """The same for numbers that were written as decimals; those that read back as other decimals are told.

    `rounded`: one of them was another number before it became a double.
    """
    narrow = to_float32(name, numbers)
    if rounded or not are_spelled_by(numbers, narrow):
        changes.append(Change(name, ROUNDED))
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
