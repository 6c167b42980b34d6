"""Read Parquet files as payloads: any file whose columns hold values that features can hold.

Integers become int64 (integers of up to 32 bits int32, if an OFRecord is made), booleans 0 and 1, half floats and
floats float, doubles as the caller chooses, strings and binaries bytes. Lists of these stay lists, and null is an
absent feature. Dictionaries are decoded. For files that tfrtool wrote, the metadata gives the message, its feature
lists, and where null means a feature without values. Page checksums are checked if present, and the number of rows must
match the footer.

Columns of a table are converted to cells of rows.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tfrtool.errors import RefusedError, TfrtoolError
from tfrtool.payload.rows.columns import Double, RowSchema, coerce_cell
from tfrtool.payload.rows.convert import write_row
from tfrtool.payload.rows.json_reader import BOOLEAN
from tfrtool.payload.rows.row import NO_KIND, Cell, Message, Row, RowChange, RowError, shown
from tfrtool.payload.rows.values import CODES
from tfrtool.payload.wire.example import ListKind
from tfrtool.sources.source import open_source
from tfrtool.types import Progress
from tfrtool.verbs.formats.jsonl import Changes
from tfrtool.verbs.formats.parquet_types import METADATA_KEY, arrow, parquet

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream
    from tfrtool.sources.source import Source


_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")


class Shape(NamedTuple):
    """What a column holds: a kind of values (None for only nulls), in lists of so many levels."""

    kind: ListKind | None
    levels: int
    is_bool: bool


class InRow(ValueError):
    """A value that no feature can hold, in row `row` of the column."""

    def __init__(self, name: str, row: int, why: str) -> None:
        super().__init__(f"column {shown(name)}: {why}")
        self.why = why
        self.row = row


def shape_of(kind: Any, narrow: bool) -> Shape | None:
    """Return what a column of a type holds, or None if no feature can hold it. `narrow`: small integers are int32."""
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
    """Stand in for type tests that an older pyarrow lacks."""
    return False


def cells_of(name: str, column: Any, kind: ListKind | None, levels: int) -> list[Cell | None]:
    """Return the cell of each row; None for null. Raises InRow for a null in a list and for a number out of range."""
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
    """Return the steps of each row, None for null; a null step has no values."""
    valid = column.is_valid().to_pylist()
    bounds, inner = _inner(column)
    try:
        cells = cells_of(name, inner, shape.kind, shape.levels - 1)
    except InRow as error:
        row = next(i for i in range(len(column)) if bounds[i + 1] > error.row)
        raise InRow(name, row, error.why) from None
    steps = [NO_KIND if cell is None else cell for cell in cells]
    return [steps[bounds[i] : bounds[i + 1]] if valid[i] else None for i in range(len(column))]


def _inner(column: Any) -> tuple[list[int], Any]:
    """Return the bounds of the lists of a column in the array of their values, and that array."""
    pa = arrow()
    if pa.types.is_fixed_size_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    offsets = column.offsets.to_pylist()
    first, last = offsets[0], offsets[-1]
    return [offset - first for offset in offsets], column.values.slice(first, last - first)


def _values(name: str, values: Any, kind: ListKind | None, bounds: list[int] | None = None) -> Any:
    """Return all values, with arbitrary values for nulls: a list of bytes, or an array of numbers."""
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


BATCH_BYTES = 8 << 20
"""Bytes of rows that are converted at a time, by the average of their row group."""
_BATCH_ROWS = 1 << 14


class ParquetReader:
    """Read the rows of a file as payloads. Iterate once.

    With `message` None, rows become the message that the metadata names, or `example`. `double` chooses how doubles are
    stored in an Example. `changes` counts values that were read as something else, by row number. Memory is bounded by
    the pages of a row group and `batch_bytes`. An input that is not a file on disk is copied to an unnamed temporary
    file first. `progress` receives the bytes of the file read since the last call, in proportion to the rows. `source`
    is an open source, which stays open. Columns that are not `wanted`, by name, are not read.
    """

    def __init__(
        self,
        name: str,
        message: Message | None = None,
        *,
        double: Double = "exact",
        batch_bytes: int = BATCH_BYTES,
        progress: Progress | None = None,
        source: Source | None = None,
        wanted: Callable[[str], bool] | None = None,
    ) -> None:
        self.name = name
        self.message = message
        self.changes = Changes()
        self._double: Double = double
        self._batch_bytes = batch_bytes
        self._progress = progress
        self._source = source
        self._wanted = wanted

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each row, counted from 0, and its payload.

        Raises `RefusedError` for a file that is not Parquet, a column that no feature can hold and a value that does
        not fit, with column and row; `OpenError`, `ReadError`, and `UnsupportedError` if pyarrow is missing.
        """
        with self._file() as (file, size):
            yield from self._rows(file, size)

    def stored(self) -> RowSchema | None:
        """The schema of the rows, if tfrtool wrote them; raises what iterating raises."""
        with self._file() as (file, _):
            return _known(file.schema_arrow)

    @contextmanager
    def _file(self) -> Iterator[tuple[Any, int]]:
        """Open the file with pyarrow; return it and its size in bytes."""
        pa = arrow()
        with ExitStack() as stack:
            source = self._source or stack.enter_context(open_source(self.name, compression="none", reopenable=True))
            data = source.data
            size = _end(data) if data.size is None else data.size
            try:
                file = parquet().ParquetFile(_File(data, size), pre_buffer=False, page_checksum_verification=True)
                yield file, size
            except TfrtoolError:
                raise
            except (pa.ArrowException, OSError, ValueError) as error:
                why = str(error).partition("\n")[0][:200].rstrip(".")
                raise RefusedError(f"'{self.name}': not a readable Parquet file: {why}") from None

    def _rows(self, file: Any, size: int) -> Iterator[tuple[int, bytes]]:
        schema = file.schema_arrow
        known = _known(schema)
        columns = None
        if self._wanted is not None:
            schema = arrow().schema([field for field in schema if self._wanted(field.name)])
            columns = schema.names
        if self.message is None:
            self.message = known.message if known else "example"
        if known and known.message != self.message:
            known = None
        lists = known.feature_lists if known else None
        always = {name for name, column in known.features.items() if column.always} if known else set()
        shapes, stepped = self._shapes(schema, lists)
        number = done = 0
        for batch in file.iter_batches(self._batch_rows(file.metadata), columns=columns, use_threads=False):
            told: list[list[RowChange]] = [[] for _ in range(batch.num_rows)]
            rows = [Row(self.message) for _ in range(batch.num_rows)]
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if name not in shapes:  # of columns `a` and `a.b`, who wants `a` is given both
                    continue
                null = NO_KIND if name in always else None
                self._column(name, column, shapes[name], name in stepped, null, rows, number, told)
            for row, changes in zip(rows, told, strict=True):
                if changes:
                    self.changes.add(changes, number)
                yield number, write_row(row)
                number += 1
            if self._progress:
                now = size * number // max(file.metadata.num_rows, number, 1)
                self._progress(now - done)
                done = now
        if number != file.metadata.num_rows:
            raise RefusedError(f"'{self.name}': {number:,} rows where the footer says {file.metadata.num_rows:,}")

    def _batch_rows(self, metadata: Any) -> int:
        """Return the number of rows that take about `batch_bytes`, for the largest rows."""
        groups = (metadata.row_group(i) for i in range(min(metadata.num_row_groups, 1000)))
        largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1)
        return max(1, min(_BATCH_ROWS, int(self._batch_bytes / max(largest, 1))))

    def _shapes(self, schema: Any, lists: Container[str] | None) -> tuple[dict[str, Shape], set[str]]:
        """Return what each column holds, and which are feature lists: `lists`, or for None those with lists of
        lists."""
        found: dict[str, Shape] = {}
        stepped = set()
        for field in schema:
            name = field.name
            if name in found:
                raise RefusedError(f"'{self.name}': two columns have the name {shown(name)}")
            shape = shape_of(field.type, self.message == "ofrecord")
            if (
                shape
                and self.message == "sequence_example"
                and (name in lists if lists is not None else shape.levels == 2)
            ):
                stepped.add(name)
            if shape is None or not (name in stepped) <= shape.levels <= 1 + (name in stepped):
                raise RefusedError(
                    f"'{self.name}': column {shown(name)} is of {str(field.type)[:100]}, and features hold "
                    "integers, floats, booleans, strings, binaries and lists of these: cast it, or leave it out"
                )
            found[name] = shape
        return found, stepped

    def _column(
        self,
        name: str,
        column: Any,
        shape: Shape,
        stepped: bool,
        null: Cell | None,
        rows: list[Row],
        first: int,
        told: list[list[RowChange]],
    ) -> None:
        assert self.message is not None
        try:
            cells = steps_of(name, column, shape) if stepped else cells_of(name, column, shape.kind, shape.levels)
        except InRow as error:
            raise RefusedError(f"'{self.name}' row {first + error.row}: {error}") from None
        for i, (row, cell) in enumerate(zip(rows, cells, strict=True)):
            if cell is None and null:
                row.features[name] = null
            if cell is None:
                continue
            if shape.is_bool:
                told[i].append(RowChange(name, BOOLEAN))
            try:
                if isinstance(cell, Cell):
                    row.features[name] = coerce_cell(name, cell, self.message, self._double, told[i])
                else:
                    fitted = [coerce_cell(name, step, self.message, self._double, told[i]) for step in cell]
                    row.feature_lists[name] = fitted
            except RowError as error:
                raise RefusedError(f"'{self.name}' row {first + i}: {error}") from None


def _known(schema: Any) -> RowSchema | None:
    """Return the schema in the metadata of the file, or None."""
    import json

    raw = (schema.metadata or {}).get(METADATA_KEY)
    if raw is None:
        return None
    try:
        return RowSchema.from_json(json.loads(raw))
    except (ValueError, RecursionError):
        return None


def _end(data: ByteStream) -> int:
    """Return the size of a stream of unknown size by reading it; it can still be read from its beginning."""
    view, at = memoryview(bytearray(1 << 20)), 0
    while got := data.read_into(at, view):
        at += got
    return at


class _File(io.RawIOBase):
    """Present a stream of known size as a file to pyarrow."""

    def __init__(self, data: ByteStream, size: int) -> None:
        self._data = data
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        got = self._data.read_into(self._at, memoryview(buffer).cast("B"))
        self._at += got
        return got
