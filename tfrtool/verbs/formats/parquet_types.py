"""Import pyarrow on demand, and map kinds of features to its types."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfrtool.errors import UnsupportedError

if TYPE_CHECKING:
    from tfrtool.payload.rows.columns import RowColumn, RowSchema
    from tfrtool.payload.wire.example import ListKind

_INSTALL = "`pip install 'tfrtool[parquet]'`"
METADATA_KEY = b"tfrtool"
"""Metadata key of the schema of the rows, as JSON."""


def arrow() -> Any:
    """Return the module pyarrow. Raises `UnsupportedError`, which names the extra, if it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        if error.name == "pyarrow":
            raise UnsupportedError(f"Parquet needs pyarrow, which is not installed: {_INSTALL}") from None
        raise UnsupportedError(f"Parquet needs pyarrow, which does not load: {error}; {_INSTALL}") from None


def parquet() -> Any:
    """Return the module pyarrow.parquet; raises as `arrow` does."""
    arrow()
    return import_module("pyarrow.parquet")


def value_type(kind: ListKind | None, text: bool) -> Any:
    """Return the type of one value."""
    pa = arrow()
    if kind is None:
        return pa.null()
    if kind == "bytes":
        return pa.string() if text else pa.binary()
    return {"int64": pa.int64, "int32": pa.int32, "float": pa.float32, "double": pa.float64}[kind]()


def column_type(column: RowColumn) -> Any:
    """Return the type of a feature's values in one record: one value, or a list."""
    pa, one = arrow(), value_type(column.kind, column.text)
    return one if column.scalar or column.kind is None else pa.list_(one)


def has_column(column: RowColumn) -> bool:
    """Return whether a feature has a column. A feature without values anywhere has none: from only nulls a reader could
    not tell that it is always present."""
    return column.kind is not None or column.always


def table_schema(schema: RowSchema) -> Any:
    """Return the columns of a table of such rows, with the schema in its metadata. Some features have none:
    `has_column`."""
    import json

    pa = arrow()
    fields = [pa.field(name, column_type(column)) for name, column in schema.features.items() if has_column(column)]
    fields += [pa.field(name, pa.list_(column_type(column))) for name, column in schema.feature_lists.items()]
    return pa.schema(fields, metadata={METADATA_KEY: json.dumps(schema.to_json()).encode()})
