"""Columns of a table, filled row by row and given as Arrow arrays a row group at a time.

A list may be null (the feature is absent), and so may a value where a column has one a record. Numbers go from the
payload into the table as they are: no float passes through a Python number.
"""

from __future__ import annotations

from array import array
from typing import Any, cast

from tfrtool.payload.rows_numbers import CODES
from tfrtool.payload.rows_row import Cell, RowError
from tfrtool.payload.rows_schema import Column
from tfrtool.payload.rows_text import is_text
from tfrtool.payload.usual import ListKind
from tfrtool.verbs.parquet_arrow import arrow, value_type

SLOT = 8
"""Bytes that a value or a list takes besides its content, about."""


class Filling:
    """The cells of one column; `add` says how many bytes one took, and `take` gives the array and begins anew.

    Cells that are absent are appended by `pad`, many at once: a table may have thousands of columns, and records that
    have few of them.
    """

    def __init__(self, name: str, column: Column) -> None:
        self.name = name
        self.column = column
        self._type = value_type(column.kind, column.text)
        self._zero = _one(b"" if column.kind == "bytes" else 0, column.kind)
        self._clear()

    def _clear(self) -> None:
        kind = self.column.kind
        self._values: Any = [] if kind in ("bytes", None) else array(CODES[kind])
        self._present: list[bool] = []
        self._ends: list[int] = []

    def pad(self, rows: int) -> None:
        """Append null cells until there are so many."""
        gap = rows - len(self._present)
        if gap > 0:
            self._present += [False] * gap
            if self.column.scalar:
                self._values += self._zero * gap
            self._ends += [len(self._values)] * gap

    def add(self, cell: Cell) -> int:
        """Append a cell; one of no kind is null. Raises RowError where it does not fit the column."""
        kind, values = cell
        column = self.column
        if kind is None:
            self.pad(len(self._present) + 1)
            return SLOT
        if kind != column.kind:
            raise RowError(f"it is {kind} in this record, and its column is of {column.kind or 'no kind'}", self.name)
        if column.scalar and len(values) != 1:
            raise RowError(f"it has {len(values):,} values in this record, and its column one a record", self.name)
        if column.text and not all(map(is_text, cast("list[bytes]", values))):
            raise RowError("it is no printable UTF-8 in this record, and its column is of text", self.name)
        self._values.extend(values)
        self._present.append(True)
        self._ends.append(len(self._values))
        if kind == "bytes":
            return SLOT + sum(map(len, cast("list[bytes]", values))) + SLOT * len(values)
        return SLOT + len(values) * cast("array[int]", values).itemsize

    def take(self) -> Any:
        """What was added, as an Arrow array."""
        pa, count, present = arrow(), len(self._present), self._present
        if self.column.kind is None:
            made = pa.nulls(count)
        elif self.column.scalar:
            made = self._scalars(None if all(present) else present)
        else:
            offsets = [0, *self._ends]
            where: list[int | None] = [at if here else None for at, here in zip(offsets, present, strict=False)]
            made = pa.ListArray.from_arrays(pa.array([*where, offsets[count]], pa.int32()), self._scalars(None))
        self._clear()
        return made

    def _scalars(self, present: list[bool] | None) -> Any:
        """The values; those not `present` are null."""
        pa, values = arrow(), self._values
        count = len(values)
        if self.column.kind == "bytes":
            if present:
                values = [value if here else None for value, here in zip(values, present, strict=True)]
            return pa.array(values, pa.binary()).view(self._type)
        valid = pa.array(present).buffers()[1] if present else None
        return pa.Array.from_buffers(self._type, count, [valid, pa.py_buffer(values)])


def _one(value: bytes | int, kind: ListKind | None) -> Any:
    return [value] if kind in ("bytes", None) else array(CODES[kind], [cast(int, value)])


class FillingSteps:
    """The same for a feature list: the steps of each record, a step of no kind being null."""

    def __init__(self, name: str, column: Column) -> None:
        self.name = name
        self._steps = Filling(name, column)
        self._count = 0
        self._present: list[bool] = []
        self._ends: list[int] = []

    def pad(self, rows: int) -> None:
        """Append records without such a list until there are so many."""
        gap = rows - len(self._present)
        if gap > 0:
            self._present += [False] * gap
            self._ends += [self._count] * gap

    def add(self, steps: list[Cell]) -> int:
        """Append the steps of a record; as `Filling.add`."""
        size = SLOT + sum(map(self._steps.add, steps))
        self._count += len(steps)
        self._present.append(True)
        self._ends.append(self._count)
        return size

    def take(self) -> Any:
        """What was added, as an Arrow array."""
        pa, offsets = arrow(), [0, *self._ends]
        where = [at if here else None for at, here in zip(offsets, self._present, strict=False)]
        made = pa.ListArray.from_arrays(pa.array([*where, offsets[-1]], pa.int32()), self._steps.take())
        self._count, self._present, self._ends = 0, [], []
        return made
