"""Emit the description for the PyPI package `tfrecord`, as Python code.

Behaviour of version 1.14.6, as seen in runs: it fails at a record that lacks a described feature, or has it in another
kind. Without a description it reads all features of a record, of any kind, and fails at one that is not set. It parses
with protobuf, and fails at what that rejects, such as a name that is not UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.errors import UnsupportedError
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.table import Table
from tfrtool.payload.text import is_utf8
from tfrtool.verbs.schema.emit.common import Entries, examples, heading, named, told

_TYPES = {"bytes": "byte", "float": "float", "int64": "int"}


def emit(schema: Schema) -> str:
    """Return `description`, and for SequenceExamples `sequence_description` too.

    Features on which the package would fail are put into comments. Raises `UnsupportedError` if none are left and the
    package would fail on an empty dictionary too.
    """
    table = examples(schema, "tfrecord", sequences=True)
    lines = heading(schema, "The description for the package tfrecord", table)
    if schema.misfits:
        lines.append("# The package stops at a payload that does not parse.")
    for name, lists in _names(table).items():
        entries = _entries(schema, table, lists)
        if entries.empty:
            _refuse_all(table, lists)
            lines.append("# Told of none, the package reads all features that a record has.")
        lines += [f"{name} = {{", *entries.lines, "}"]
    return "\n".join(lines) + "\n"


def notes(schema: Schema) -> Iterator[str]:
    """Yield a sentence for each feature that is left out, with the reason; not escaped."""
    for lists in _names(schema.examples).values():
        yield from _entries(schema, schema.examples, lists).notes


def _names(table: Table) -> dict[str, bool]:
    """Return the names of the dictionaries, and whether they are of feature lists."""
    return {"description": False} | ({"sequence_description": True} if table.sequences else {})


def _entries(schema: Schema, table: Table, lists: bool) -> Entries:
    entries = Entries()
    for feature in table.features.values():
        if feature.is_list != lists:
            continue
        one = told(feature, schema)
        if one.left_out:
            stops = ", and the package stops at a record that has it" if one.no_text else ""
            entries.leave_out(one, one.left_out + stops)
            continue
        code = f'"{_TYPES[one.kind]}"'
        if stops := one.doubt or _lacks(feature, table):
            entries.leave_out(one, f"{stops}; the package stops there", code)
        else:
            entries.add(one, code)
    return entries


def _lacks(feature: Feature, table: Table) -> str:
    unset = feature.kinds[None].records if None in feature.kinds else 0
    lacking = table.records - feature.present + unset
    return f"not set in {lacking:,} of {table.records:,} records" if lacking else ""


def _refuse_all(table: Table, lists: bool) -> None:
    """Raise `UnsupportedError` if the package fails on a feature, or a feature list, that is not described."""
    for feature in table.features.values():
        if feature.is_list != lists:
            continue
        why = "not set in some records" if None in feature.kinds else ""
        if not is_utf8(feature.name, True):
            why = "of a name that is not UTF-8"
        if why:
            what = "feature lists" if lists else "features"
            raise UnsupportedError(
                f"tfrecord cannot be told of any of the {what}, then reads all, and stops: {named(feature)} is {why}"
            )
