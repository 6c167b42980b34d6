"""Emit a `tf.io` feature description as Python code that runs."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.table import Table
from tfrtool.verbs.schema.emit.common import Entries, Told, examples, heading, refuse_none, told

_TYPES = {"bytes": "tf.string", "float": "tf.float32", "int64": "tf.int64"}


def emit(schema: Schema) -> str:
    """Return FixedLenFeature if every record has the same number of values, otherwise VarLenFeature.

    The dictionary FEATURES is for `tf.io.parse_single_example` and `tf.io.parse_example`; for SequenceExamples,
    CONTEXT_FEATURES and SEQUENCE_FEATURES are for `tf.io.parse_single_sequence_example`. Features on which parsing
    would fail are put into comments. Raises `UnsupportedError` if none are left: tf.io does not accept an empty
    dictionary.
    """
    table = examples(schema, "tf.io", sequences=True)
    dictionaries = _dictionaries(schema, table)
    refuse_none("tf.io", dictionaries.values())
    lines = [*heading(schema, "Features for tf.io", table), "import tensorflow as tf", ""]
    for name, entries in dictionaries.items():
        lines += [f"{name} = {{", *entries.lines, "}"]
    return "\n".join(lines) + "\n"


def notes(schema: Schema) -> Iterator[str]:
    """Yield a sentence for each feature that is left out, with the reason; not escaped."""
    for entries in _dictionaries(schema, schema.examples).values():
        yield from entries.notes


def _dictionaries(schema: Schema, table: Table) -> dict[str, Entries]:
    names = {"CONTEXT_FEATURES": False, "SEQUENCE_FEATURES": True} if table.sequences else {"FEATURES": False}
    return {name: _entries(schema, table, lists) for name, lists in names.items()}


def _entries(schema: Schema, table: Table, lists: bool) -> Entries:
    entries = Entries()
    for feature in table.features.values():
        if feature.is_list == lists:
            one = told(feature, schema)
            if one.left_out:
                entries.leave_out(one, one.left_out)
                continue
            code = _step(one) if lists else _feature(one)
            if one.refused:
                entries.leave_out(one, one.refused, code)
            else:
                entries.add(one, code)
    return entries


def _feature(one: Told) -> str:
    if one.size is None:
        return f"tf.io.VarLenFeature({_TYPES[one.kind]})"
    return f"tf.io.FixedLenFeature({_shape(one.size)}, {_TYPES[one.kind]})"


def _step(one: Told) -> str:
    # Of steps without values TensorFlow 2.21 takes the number by dividing by their length, and dies.
    if not one.size or None in one.feature.kinds:
        return f"tf.io.VarLenFeature({_TYPES[one.kind]})"
    return f"tf.io.FixedLenSequenceFeature({_shape(one.size)}, {_TYPES[one.kind]})"


def _shape(size: int) -> str:
    return "[]" if size == 1 else f"[{size}]"
