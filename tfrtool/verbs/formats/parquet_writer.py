"""Write payloads as Parquet: a column for each feature, a schema learned beforehand, row groups of bounded size.

int64, int32, float and double become columns of those types, bytes becomes binary, or string if all values of the
feature are printable UTF-8. A feature with one value in every record is a column of values, any other a column of
lists. Null is an absent feature, or one without values if every record has the feature. A feature list of a
SequenceExample is a column of lists of steps. The schema of the rows is stored in the metadata of the file, and each
page has a checksum.

Columns are filled row by row and returned as Arrow arrays for each row group. A list may be null (the feature is
absent), and so may a value in a column with one value a record. Numbers are copied from the payload into the table
unchanged: no float passes through a Python number.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from tfrtool.errors import RefusedError, WriteError
from tfrtool.payload.rows.columns import RowColumn, RowSchema, Survey
from tfrtool.payload.rows.convert import read_row
from tfrtool.payload.rows.row import Cell, Message, Row, RowChange, RowError, shown
from tfrtool.payload.rows.values import CODES, is_text
from tfrtool.payload.wire.example import ListKind
from tfrtool.report import LossKind
from tfrtool.verbs.formats.jsonl import Changes
from tfrtool.verbs.formats.parquet_types import arrow, has_column, parquet, table_schema, value_type

if TYPE_CHECKING:
    from tfrtool.payload.wire.reader import Buffer


SLOT = 8
"""Approximate overhead of a value or a list, in bytes."""


class Filling:
    """Collect the cells of one column. `add` returns the size of a cell in bytes; `take` returns the array and starts
    over.

    Absent cells are appended by `pad`, many at once: a table may have thousands of columns, and records with few of
    them.
    """

    def __init__(self, name: str, column: RowColumn) -> None:
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
        """Append null cells up to a count."""
        gap = rows - len(self._present)
        if gap > 0:
            self._present += [False] * gap
            if self.column.scalar:
                self._values += self._zero * gap
            self._ends += [len(self._values)] * gap

    def add(self, cell: Cell) -> int:
        """Append a cell; one without values is null. Raises RowError if it does not fit the column."""
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
        """Return the added cells as an Arrow array."""
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
        """Return the values; those not `present` are null."""
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
    """Collect the steps of each record of a feature list; a step without values is null."""

    def __init__(self, name: str, column: RowColumn) -> None:
        self.name = name
        self._steps = Filling(name, column)
        self._count = 0
        self._present: list[bool] = []
        self._ends: list[int] = []

    def pad(self, rows: int) -> None:
        """Append records without the list up to a count."""
        gap = rows - len(self._present)
        if gap > 0:
            self._present += [False] * gap
            self._ends += [self._count] * gap

    def add(self, steps: list[Cell]) -> int:
        """Append the steps of a record; see `Filling.add`."""
        size = SLOT + sum(map(self._steps.add, steps))
        self._count += len(steps)
        self._present.append(True)
        self._ends.append(self._count)
        return size

    def take(self) -> Any:
        """Return the added cells as an Arrow array."""
        pa, offsets = arrow(), [0, *self._ends]
        where = [at if here else None for at, here in zip(offsets, self._present, strict=False)]
        made = pa.ListArray.from_arrays(pa.array([*where, offsets[-1]], pa.int32()), self._steps.take())
        self._count, self._present, self._ends = 0, [], []
        return made


ROW_GROUP_BYTES = 64 << 20
MAX_ROW_GROUP_BYTES = 1 << 30
"""An Arrow array of lists or bytes holds less than 2 GiB; a record of the largest size may be added to it."""

NO_KIND = LossKind("no-kind-absent", "it has no kind in a record, and becomes absent")
ABSENT = LossKind("absent", "it is absent from a record, and becomes one of no kind")
ORDER = LossKind("order", "the order of the features in the record", lost=False)


def table_columns(survey: Survey) -> RowSchema:
    """Return the schema of a survey, for a table.

    Raises `RefusedError` for a feature of more than one kind, with the first record of each, and for a name that is
    both a feature of the context and a feature list.
    """
    for name, kinds in survey.conflicts().items():
        found = ", ".join(f"{kind} in {place}" for kind, place in kinds.items())
        raise RefusedError(f"feature {shown(name)} is of more than one kind: {found}; a column has one kind")
    if both := survey.features.keys() & survey.feature_lists.keys():
        raise RefusedError(f"{shown(min(both))} is a feature of the context and a feature list; a column is one")
    return survey.schema()


class ParquetWriter:
    """Write payloads as rows of a table to an open binary stream, which the writer neither names nor closes.

    Buffered rows take at most `row_group_bytes` and one record, without what pyarrow needs to encode them. `codec` is a
    codec of pyarrow: none, snappy, gzip, zstd, lz4, brotli. `records` counts written records, `changes` what cannot be
    read back. Raises `UnsupportedError` if pyarrow is missing.
    """

    def __init__(
        self,
        out: BinaryIO,
        schema: RowSchema,
        *,
        row_group_bytes: int = ROW_GROUP_BYTES,
        codec: str = "snappy",
        lenient: bool = False,
    ) -> None:
        self.message: Message = schema.message
        self.records = 0
        self.changes = Changes()
        self._schema = schema
        self._arrow_schema = table_schema(schema)
        self._features = {name: Filling(name, column) for name, column in schema.features.items() if has_column(column)}
        self._lists = {name: FillingSteps(name, column) for name, column in schema.feature_lists.items()}
        self._always = {name for name, column in schema.features.items() if column.always}
        self._order = {name: at for at, name in enumerate(schema.features)}
        self._lenient = lenient
        self._budget = min(row_group_bytes, MAX_ROW_GROUP_BYTES)
        self._held = self._rows = 0
        self._out = _Unclosed(out)
        self._writer = parquet().ParquetWriter(
            arrow().PythonFile(self._out, mode="w"), self._arrow_schema, compression=codec, write_page_checksum=True
        )

    def write(self, payload: Buffer, record: int | None = None) -> int:
        """Append a record and return its size in memory, in bytes. `record` is its number, for `changes`.

        Raises RowError if the payload does not parse as the message or does not fit the schema; the writer cannot be
        used after that.
        """
        changes: list[RowChange] = []
        row = read_row(payload, self.message, changes, lenient=self._lenient)
        self._check(row, changes)
        size = SLOT * (len(self._features) + len(self._lists))
        for name, cell in row.features.items():
            if (filling := self._features.get(name)) is not None:
                filling.pad(self._rows)
                size += filling.add(cell) - SLOT
        for name, steps in row.feature_lists.items():
            self._lists[name].pad(self._rows)
            size += self._lists[name].add(steps) - SLOT
        if changes:
            self.changes.add(changes, self.records if record is None else record)
        self.records += 1
        self._rows += 1
        self._held += size
        if self._held >= self._budget:
            self._flush()
        return size

    def _check(self, row: Row, changes: list[RowChange]) -> None:
        """Check that all names are known, and count what the table does not represent."""
        order, last, ordered = self._order, -1, True
        for name, cell in row.features.items():
            at = order.get(name)
            if at is None:
                raise RowError("it is not in the schema", name)
            ordered = ordered and at > last
            last = at
            if cell.kind is None and name not in self._always:
                changes.append(RowChange(name, NO_KIND))
        if not self._always <= row.features.keys():
            changes += [RowChange(name, ABSENT) for name in self._order if name in self._always - row.features.keys()]
        if not ordered or list(row.feature_lists) != [name for name in self._lists if name in row.feature_lists]:
            for name in row.feature_lists:
                if name not in self._lists:
                    raise RowError("it is not in the schema", name)
            changes.append(RowChange("", ORDER))

    def finish(self) -> None:
        """Write the buffered rows and the footer. Nothing may be written after it."""
        if self._rows:
            self._flush()
        self._writer.close()
        self._out.out = None

    def _flush(self) -> None:
        pa, rows = arrow(), self._rows
        for filling in self._features.values():
            filling.pad(rows)
        for lists in self._lists.values():
            lists.pad(rows)
        columns = [filling.take() for filling in self._features.values()]
        columns += [lists.take() for lists in self._lists.values()]
        if columns:
            table = pa.Table.from_arrays(columns, schema=self._arrow_schema)
        else:  # rows of no columns at all: Arrow counts them in the batch alone
            raise RefusedError("no record has a feature, and a table without columns has no rows")
        self._writer.write_table(table, row_group_size=max(rows, 1))
        self._held = self._rows = 0


class _Unclosed:
    """A stream for pyarrow that may outlive the writer: pyarrow writes its footer when it is garbage-collected, too."""

    closed = False

    def __init__(self, out: BinaryIO) -> None:
        self.out: BinaryIO | None = out

    def write(self, data: Any) -> int:
        if self.out is not None and not self.out.closed:
            self.out.write(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: the owner of the stream flushes it."""

    def close(self) -> None:
        """Do nothing: the owner of the stream closes it."""


def check_parquet(path: str, records: int) -> None:
    """Raise `WriteError` unless the footer of a written file can be read back and has that number of rows."""
    try:
        rows = parquet().read_metadata(path).num_rows
    except (arrow().ArrowException, OSError) as error:
        raise WriteError(f"the output cannot be read back: {str(error)[:200]}; nothing was published") from None
    if rows != records:
        raise WriteError(f"the output has {rows:,} rows instead of {records:,}; nothing was published")
