"""The description that the PyPI package `tfrecord` takes, as Python code."""

from __future__ import annotations

from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.table import Table
from tfrtool.verbs.emit.common import examples, heading, named, quoted, told

_TYPES = {"bytes": "byte", "float": "float", "int64": "int"}


def emit(schema: Schema) -> str:
    """`description`, and of SequenceExamples `sequence_description` too.

    The package stops at a record that lacks a feature it was told of. Such features stand in comments, to be put in by
    who knows better.
    """
    table = examples(schema, "tfrecord", sequences=True)
    lines = heading(schema, "The description for the package tfrecord", table)
    lines += _dictionary("description", schema, table, False)
    if table.sequences:
        lines += _dictionary("sequence_description", schema, table, True)
    return "\n".join(lines) + "\n"


def _dictionary(name: str, schema: Schema, table: Table, lists: bool) -> list[str]:
    lines = [f"{name} = {{"]
    for feature in table.features.values():
        if feature.is_list != lists:
            continue
        one = told(feature, schema)
        if one.left_out:
            lines.append(f"    # {named(feature)} is left out: {one.left_out}")
            continue
        entry = f'{quoted(one.name)}: "{_TYPES[one.kind]}",'
        stops = one.doubt or _lacks(feature, table)
        lines.append(f"    # {entry}  # {stops}; the package stops there" if stops else f"    {entry}")
    return [*lines, "}"]


def _lacks(feature: Feature, table: Table) -> str:
    unset = feature.kinds[None].records if None in feature.kinds else 0
    lacking = table.records - feature.present + unset
    return f"not set in {lacking:,} of {table.records:,} records" if lacking else ""
