"""A `tf.io` feature description, as Python code that runs."""

from __future__ import annotations

from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.table import Table
from tfrtool.verbs.emit.common import Told, examples, heading, named, quoted, told

_TYPES = {"bytes": "tf.string", "float": "tf.float32", "int64": "tf.int64"}


def emit(schema: Schema) -> str:
    """FixedLenFeature where every record had the same number of values, else VarLenFeature.

    The dictionary FEATURES is for `tf.io.parse_single_example` and `tf.io.parse_example`; of SequenceExamples
    CONTEXT_FEATURES and SEQUENCE_FEATURES are for `tf.io.parse_single_sequence_example`.
    """
    table = examples(schema, "tf.io", sequences=True)
    lines = [*heading(schema, "Features for tf.io", table), "import tensorflow as tf", ""]
    if table.sequences:
        lines += _dictionary("CONTEXT_FEATURES", schema, table, False)
        lines += _dictionary("SEQUENCE_FEATURES", schema, table, True)
    else:
        lines += _dictionary("FEATURES", schema, table, False)
    return "\n".join(lines) + "\n"


def _dictionary(name: str, schema: Schema, table: Table, lists: bool) -> list[str]:
    lines = [f"{name} = {{"]
    for feature in table.features.values():
        if feature.is_list == lists:
            one = told(feature, schema)
            if one.left_out:
                lines.append(f"    # {named(feature)} is left out: {one.left_out}")
            else:
                doubt = f"  # {one.refused}" if one.refused else ""
                lines.append(f"    {quoted(one.name)}: {_step(one, schema) if lists else _feature(one)},{doubt}")
    return [*lines, "}"]


def _feature(one: Told) -> str:
    if one.size is None:
        return f"tf.io.VarLenFeature({_TYPES[one.kind]})"
    return f"tf.io.FixedLenFeature({_shape(one.size)}, {_TYPES[one.kind]})"


def _step(one: Told, schema: Schema) -> str:
    # Of steps without values TensorFlow 2.21 takes the number by dividing by their length, and dies.
    if not one.size or None in one.feature.kinds:
        return f"tf.io.VarLenFeature({_TYPES[one.kind]})"
    return f"tf.io.FixedLenSequenceFeature({_shape(one.size)}, {_TYPES[one.kind]})"


def _shape(size: int) -> str:
    return "[]" if size == 1 else f"[{size}]"
