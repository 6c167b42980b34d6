"""Columns of a table that is read, as cells of rows."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

from tfrtool.payload.rows_numbers import CODES
from tfrtool.payload.rows_row import NO_KIND, Cell, shown
from tfrtool.payload.usual import ListKind
from tfrtool.verbs.parquet_arrow import arrow

_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")


class Shape(NamedTuple):
    """What a column holds: a kind of values, None for nulls alone, in lists of so many levels."""

    kind: ListKind | None
    levels: int
    is_bool: bool


class InRow(ValueError):
    """A value that no feature can hold, in row `row` of the column."""

    def __init__(self, name: str, row: int, why: str) -> None:
        super().__init__(f"column {shown(name)}: {why}")
        self.row = row


def shape_of(kind: Any, narrow: bool) -> Shape | None:
    """What a column of that type holds; None if no feature can hold it. `narrow`: small integers are int32."""
    types = arrow().types
    levels = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
        levels += 1
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return Shape(None, levels, False)
    if types.is_boolean(kind):
        return Shape("int64", levels, True)  # as in JSON Lines
    if types.is_integer(kind):
        small = kind.bit_width < 32 or kind == arrow().int32()
        return Shape("int32" if narrow and small else "int64", levels, False)
    if types.is_floating(kind):
        return Shape("double" if types.is_float64(kind) else "float", levels, False)
    if any(getattr(types, f"is_{text}", _never)(kind) for text in _TEXTS):
        return Shape("bytes", levels, False)
    return None


def _never(kind: Any) -> bool:
    """For the types that an older pyarrow does not have."""
    return False


def cells_of(name: str, column: Any, kind: ListKind | None, levels: int) -> list[Cell | None]:
    """The cell of each row; None where it is null. Raises InRow for a null in a list and a number out of range."""
    count = len(column)
    if kind is None and not levels:
        return [None] * count
    valid = column.is_valid().to_pylist()
    if not levels:
        values = _values(name, column, kind)
        return [Cell(kind, values[i : i + 1]) if valid[i] else None for i in range(count)]
    bounds, inner = _inner(column)
    if inner.null_count:
        missing = inner.is_null().to_pylist()
        for i in range(count):
            if valid[i] and any(missing[bounds[i] : bounds[i + 1]]):
                raise InRow(name, i, "a null inside a list, and a feature has no place for one")
    values = _values(name, inner, kind, bounds)
    return [Cell(kind, values[bounds[i] : bounds[i + 1]]) if valid[i] else None for i in range(count)]


def steps_of(name: str, column: Any, shape: Shape) -> list[list[Cell] | None]:
    """The steps of each row, None where it is null; a null step is one of no kind."""
    valid = column.is_valid().to_pylist()
    bounds, inner = _inner(column)
    try:
        cells = cells_of(name, inner, shape.kind, shape.levels - 1)
    except InRow as error:
        row = next(i for i in range(len(column)) if bounds[i + 1] > error.row)
        raise InRow(name, row, str(error).partition(": ")[2]) from None
    steps = [NO_KIND if cell is None else cell for cell in cells]
    return [steps[bounds[i] : bounds[i + 1]] if valid[i] else None for i in range(len(column))]


def _inner(column: Any) -> tuple[list[int], Any]:
    """Where the lists of a column begin and end in the array of their values, and that array."""
    pa = arrow()
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    offsets = column.offsets.to_pylist()
    first, last = offsets[0], offsets[-1]
    return [offset - first for offset in offsets], column.values.slice(first, last - first)


def _values(name: str, values: Any, kind: ListKind | None, bounds: list[int] | None = None) -> Any:
    """All values, nulls being anything: a list of bytes, or an array of numbers."""
    pa = arrow()
    if kind is None:
        return []
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if kind == "bytes":
        return values.cast(pa.large_binary()).to_pylist()
    wanted = {"int64": pa.int64(), "int32": pa.int32(), "float": pa.float32(), "double": pa.float64()}[kind]
    if values.null_count:
        values = values.fill_null(False if pa.types.is_boolean(values.type) else pa.scalar(0, values.type))
    try:
        cast = values.cast(wanted)
    except pa.ArrowInvalid:  # only an unsigned integer of 64 bits can be too large
        at = next((i for i, value in enumerate(values.to_pylist()) if value >= 2**63), None)
        if at is None:
            raise
        row = at if bounds is None else next(i for i, bound in enumerate(bounds[1:]) if bound > at)
        raise InRow(name, row, f"{values[at].as_py()} is beyond {kind}") from None
    numbers = array(CODES[kind])
    width = numbers.itemsize
    if len(cast):
        view = memoryview(cast.buffers()[1])
        numbers.frombytes(view[cast.offset * width : (cast.offset + len(cast)) * width])
    return numbers
