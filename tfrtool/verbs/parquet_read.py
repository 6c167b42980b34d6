"""Parquet, read into payloads: any file whose columns hold values that features can hold.

Integers become int64 (of 32 bits and less int32, where an OFRecord is made), booleans 0 and 1, half floats and floats
float, doubles what the caller says, strings and binaries bytes; lists of these are lists, and a null is an absent
feature. Dictionaries are undone. In what tfrtool wrote the metadata tells the message and its feature lists. The
checksums of pages are looked at where there are any, and the number of rows has to be that of the footer.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tfrtool.errors import RefusedError, TfrtoolError
from tfrtool.payload.features import ListKind
from tfrtool.payload.rows import NO_KIND, Cell, Change, Message, Row, RowError, write_row
from tfrtool.payload.rows_fit import Double, fit_cell
from tfrtool.payload.rows_numbers import CODES
from tfrtool.payload.rows_parse import BOOLEAN
from tfrtool.payload.rows_schema import RowSchema
from tfrtool.sources import open_source
from tfrtool.verbs.changes import Changes
from tfrtool.verbs.parquet_arrow import METADATA_KEY, arrow, parquet

if TYPE_CHECKING:
    from tfrtool.framing.window import Readable

BATCH_BYTES = 8 << 20
"""Bytes of rows, by the average of their row group, that are turned into payloads at once."""
_BATCH_ROWS = 1 << 14


class _Shape(NamedTuple):
    """What a column holds: a kind of values, None for nulls alone, in lists of so many levels."""

    kind: ListKind | None
    levels: int
    is_bool: bool


class ParquetReader:
    """The rows of a file as payloads. Iterate it once.

    `message` None: what the file was written from, as its metadata says, else `example`. `double` says what becomes of
    doubles in an Example. `changes` counts what was read otherwise than it stands there, by the number of its row.
    Memory is bounded by a row group's pages and `batch_bytes`. An input that is no file on disk is copied to a
    nameless temporary one first.
    """

    def __init__(
        self, name: str, message: Message | None = None, *, double: Double = "exact", batch_bytes: int = BATCH_BYTES
    ) -> None:
        self.name = name
        self.message = message
        self.changes = Changes()
        self._double: Double = double
        self._batch_bytes = batch_bytes

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Each row's number, counted from 0, and its payload.

        Raises `RefusedError` for a file that is no Parquet, a column that no feature can hold, and a value that does
        not fit, naming column and row; `OpenError`, `ReadError`, and `UnsupportedError` where pyarrow is missing.
        """
        pa = arrow()
        with open_source(self.name, compression="none", twice=True) as source:
            try:
                file = parquet().ParquetFile(_File(source.data), pre_buffer=False, page_checksum_verification=True)
                yield from self._rows(file)
            except TfrtoolError:
                raise
            except (pa.ArrowException, OSError, ValueError) as error:
                why = str(error).partition("\n")[0].rstrip(".")
                raise RefusedError(f"'{self.name}': no Parquet file that can be read: {why}") from None

    def _rows(self, file: Any) -> Iterator[tuple[int, bytes]]:
        schema = file.schema_arrow
        known = _known(schema)
        if self.message is None:
            self.message = known.message if known else "example"
        shapes = self._shapes(schema)
        stepped = {
            name
            for name, shape in shapes.items()
            if self.message == "sequence_example" and (name in known.feature_lists if known else shape.levels == 2)
        }
        number = 0
        for batch in file.iter_batches(self._batch_rows(file.metadata), use_threads=False):
            told: list[list[Change]] = [[] for _ in range(batch.num_rows)]
            rows = [Row(self.message) for _ in range(batch.num_rows)]
            for name, column in zip(schema.names, batch.columns, strict=True):
                self._column(name, column, shapes[name], name in stepped, rows, number, told)
            for row, changes in zip(rows, told, strict=True):
                if changes:
                    self.changes.add(changes, number)
                yield number, write_row(row)
                number += 1
        if number != file.metadata.num_rows:
            raise RefusedError(f"'{self.name}': {number:,} rows where the footer says {file.metadata.num_rows:,}")

    def _batch_rows(self, metadata: Any) -> int:
        """Rows of about `batch_bytes`, where rows are largest."""
        groups = (metadata.row_group(i) for i in range(min(metadata.num_row_groups, 1000)))
        largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1)
        return max(1, min(_BATCH_ROWS, int(self._batch_bytes / max(largest, 1))))

    def _shapes(self, schema: Any) -> dict[str, _Shape]:
        found: dict[str, _Shape] = {}
        for field in schema:
            if field.name in found:
                raise RefusedError(f"'{self.name}': two columns have the name {field.name!r}")
            shape = _shape(field.type, self.message == "ofrecord")
            if shape is None or shape.levels > (2 if self.message == "sequence_example" else 1):
                raise RefusedError(
                    f"'{self.name}': column {field.name!r} is of {field.type}, and features hold integers, floats, "
                    "booleans, strings, binaries and lists of these: cast it, or leave it out"
                )
            found[field.name] = shape
        return found

    def _column(
        self,
        name: str,
        column: Any,
        shape: _Shape,
        stepped: bool,
        rows: list[Row],
        first: int,
        told: list[list[Change]],
    ) -> None:
        assert self.message is not None
        try:
            cells = _steps(name, column, shape) if stepped else _cells(name, column, shape.kind, shape.levels)
        except _InRow as error:
            raise RefusedError(f"'{self.name}' row {first + error.row}: {error}") from None
        for i, (row, cell) in enumerate(zip(rows, cells, strict=True)):
            if cell is None:
                continue
            if shape.is_bool:
                told[i].append(Change(name, BOOLEAN))
            try:
                if isinstance(cell, Cell):
                    row.features[name] = fit_cell(name, cell, self.message, self._double, told[i])
                else:
                    fitted = [fit_cell(name, step, self.message, self._double, told[i]) for step in cell]
                    row.feature_lists[name] = fitted
            except RowError as error:
                raise RefusedError(f"'{self.name}' row {first + i}: {error}") from None


class _InRow(ValueError):
    def __init__(self, name: str, row: int, why: str) -> None:
        super().__init__(f"column {name!r}: {why}")
        self.row = row


def _known(schema: Any) -> RowSchema | None:
    """The schema that the file keeps in its metadata, if it is one."""
    import json

    raw = (schema.metadata or {}).get(METADATA_KEY)
    if raw is None:
        return None
    try:
        return RowSchema.from_json(json.loads(raw))
    except (ValueError, RecursionError):
        return None


def _shape(kind: Any, narrow: bool) -> _Shape | None:
    """What a column of that type holds; None if no feature can hold it. `narrow`: small integers are int32."""
    types = arrow().types
    levels = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
        levels += 1
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return _Shape(None, levels, False)
    if types.is_boolean(kind):
        return _Shape("int32" if narrow else "int64", levels, True)
    if types.is_integer(kind):
        small = kind.bit_width < 32 or kind == arrow().int32()
        return _Shape("int32" if narrow and small else "int64", levels, False)
    if types.is_floating(kind):
        return _Shape("double" if types.is_float64(kind) else "float", levels, False)
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if any(test(kind) for test in texts):
        return _Shape("bytes", levels, False)
    return None


def _cells(name: str, column: Any, kind: ListKind | None, levels: int) -> list[Cell | None]:
    """The cell of each row; None where it is null. Raises _InRow for a null in a list and a number out of range."""
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
                raise _InRow(name, i, "a null inside a list, and a feature has no place for one")
    values = _values(name, inner, kind, bounds)
    return [Cell(kind, values[bounds[i] : bounds[i + 1]]) if valid[i] else None for i in range(count)]


def _steps(name: str, column: Any, shape: _Shape) -> list[list[Cell] | None]:
    """The steps of each row, None where it is null; a null step is one of no kind."""
    valid = column.is_valid().to_pylist()
    bounds, inner = _inner(column)
    try:
        cells = _cells(name, inner, shape.kind, shape.levels - 1)
    except _InRow as error:
        row = next(i for i in range(len(column)) if bounds[i + 1] > error.row)
        raise _InRow(name, row, str(error).partition(": ")[2]) from None
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
        at = next(i for i, value in enumerate(values.to_pylist()) if value >= 2**63)
        row = at if bounds is None else next(i for i, bound in enumerate(bounds[1:]) if bound > at)
        raise _InRow(name, row, f"{values[at].as_py()} is beyond {kind}") from None
    numbers = array(CODES[kind])
    width = numbers.itemsize
    if len(cast):
        view = memoryview(cast.buffers()[1])
        numbers.frombytes(view[cast.offset * width : (cast.offset + len(cast)) * width])
    return numbers


class _File(io.RawIOBase):
    """A stream of known size as a file that pyarrow can read."""

    def __init__(self, data: Readable) -> None:
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._data.size or 0)[whence]
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        got = self._data.read_into(self._at, memoryview(buffer).cast("B"))
        self._at += got
        return got
