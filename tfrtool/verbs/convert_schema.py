"""The two schemas that a conversion reads and writes, told apart by a key: of OFRecord and Example, and of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfrtool.errors import OpenError
from tfrtool.payload.mapping_rules import Rules, Side
from tfrtool.report import Remedy

if TYPE_CHECKING:
    from tfrtool.payload.rows_schema import RowSchema

_MOST = 1 << 26
"""Bytes of the largest schema that is read."""
_OF_ROWS = "tfrtool_rows"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        from tfrtool.sources.reasons import reason

        raise OpenError(f"the schema '{path}' cannot be read: {reason(error)}") from error
    if len(data) > _MOST:
        raise _unusable(path, "it is larger than any schema")
    return data


def _unusable(path: str, why: object, remedy: Remedy | None = None) -> OpenError:
    return OpenError(f"the schema '{path}' cannot be used: {why}", remedy)


def _refuse_other_json(path: str, data: bytes) -> None:
    """Raise OpenError for what no conversion wrote."""
    from tfrtool.payload.sidecar import not_one

    why = not_one(data)
    if why:
        raise _unusable(path, why, Remedy(words="{schema} reads what {schema_out} wrote on the way there"))


def _is_of_rows(data: bytes) -> dict[str, Any] | None:
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _OF_ROWS in value else None


def with_schema(rules: Rules, path: str, source: Side, target: Side) -> Rules:
    """The rules, and what a schema tells of names and kinds where the rules do not. Raises OpenError."""
    from tfrtool.payload.sidecar import Known

    data = _read(path)
    if _is_of_rows(data) is not None:
        raise _unusable(path, "it is one of rows, for JSON Lines and Parquet")
    _refuse_other_json(path, data)
    try:
        known = Known.from_json(data)
        if (known.source, known.target) != (source, target):
            raise ValueError(
                f"it leads from {known.source} to {known.target}, and this conversion from {source} to {target}"
            )
    except ValueError as error:
        raise _unusable(path, error) from None
    return replace(
        rules, kinds={**known.types, **rules.kinds}, rename={**known.rename, **rules.rename}, lists=known.lists
    )


def schema_of_rows(path: str) -> RowSchema:
    """The schema of rows in a file. Raises OpenError."""
    from tfrtool.payload.rows_schema import RowSchema

    data = _read(path)
    value = _is_of_rows(data)
    if value is None:
        _refuse_other_json(path, data)
        raise _unusable(path, "it is no schema of rows, which is written where one side is JSON Lines or Parquet")
    try:
        return RowSchema.from_json(value)
    except ValueError as error:
        raise _unusable(path, error) from None


def written(schema: RowSchema) -> bytes:
    """A schema of rows as a file holds it."""
    import json

    return json.dumps(schema.to_json(), indent=1).encode() + b"\n"
