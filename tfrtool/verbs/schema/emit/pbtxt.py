"""Emit a `tensorflow_metadata.proto.v0.Schema` as text, which TensorFlow Data Validation and TFX read and write.

Source of the fields: tensorflow/metadata, proto/v0/schema.proto. The feature lists of a SequenceExample are the members
of a structure named ##SEQUENCE##, as in TFX, and nested one level deeper: `value_counts` has the bounds of the steps of
a record, then those of the values of a step. A feature list without a kind is left out. A feature that no record sets
is described as TensorFlow Data Validation 1.16 infers it: it reports an anomaly ("new column") for a schema without the
feature, and also for one without a type or with a `value_count` for a feature list.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.errors import UnsupportedError
from tfrtool.payload.content.media import IMAGES
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Numbers
from tfrtool.payload.text import text_of
from tfrtool.verbs.schema.emit.common import heading, named, told
from tfrtool.verbs.schema.findings import gapless, is_label

_TYPES = {"bytes": "BYTES", "float": "FLOAT", "double": "FLOAT", "int64": "INT", "int32": "INT"}


def emit(schema: Schema) -> str:
    """Return a block for each feature: its type, presence, shape or number of values, and its domain if it is
    certain."""
    table = schema.table
    if not table.features:
        raise UnsupportedError(f"a Schema has features, and records of kind {schema.kind or 'none'} have none")
    lines = heading(schema, "A tensorflow_metadata Schema", table)
    lists = []
    for feature in table.features.values():
        if feature.is_list:
            lists += _feature(feature, schema, table)
        else:
            lines += _feature(feature, schema, table)
    if lists:
        lines += ["feature {", '  name: "##SEQUENCE##"', "  type: STRUCT", "  struct_domain {"]
        lines += [*(f"    {line}" for line in lists), "  }", "}"]
    return "\n".join(lines) + "\n"


def notes(schema: Schema) -> Iterator[str]:
    """Yield a sentence for each feature that is left out or has several kinds; not escaped."""
    for feature in schema.table.features.values():
        one = told(feature, schema)
        if one.no_text:
            yield f"{text_of(feature.name)}: left out: {one.left_out}"
        elif len({_TYPES[kind] for kind in feature.set_kinds}) > 1:
            yield f"{text_of(feature.name)}: {one.doubt}; others than {one.kind} are anomalies by this schema"


def _feature(feature: Feature, schema: Schema, table: Table) -> list[str]:
    one = told(feature, schema)
    if one.no_text:
        return [f"# {named(feature)} is left out: {one.left_out}"]
    if one.left_out:
        return [
            "feature {",
            f"  name: {_text(one.name)}",
            f"  # {one.left_out}; BYTES is what TensorFlow Data Validation takes such a feature for",
            "  type: BYTES",
            "  presence { min_count: 0 }",
            "}",
        ]
    unset = feature.kinds[None].records if None in feature.kinds else 0
    always = feature.missing is None and not unset and not schema.limited
    set_lists = [lists for kind, lists in feature.kinds.items() if kind is not None]
    low, high = min(lists.shortest for lists in set_lists), max(lists.longest for lists in set_lists)
    lines = ["feature {", f"  name: {_text(one.name)}", f"  type: {_TYPES[one.kind]}"]
    lines.append("  presence { min_fraction: 1.0 min_count: 1 }" if always else "  presence { min_count: 1 }")
    if feature.is_list and not schema.limited:
        levels = (f"value_count {{{_bounds(*level)} }}" for level in (feature.steps or (0, 0), (low, high)))
        lines.append(f"  value_counts {{ {' '.join(levels)} }}")
    elif always and low == high and low > 0:
        lines.append(f"  shape {{ dim {{ size: {low} }} }}")
    elif not schema.limited and high > 0:
        lines.append(f"  value_count {{{_bounds(low, high)} }}")
    domain = _domain(feature, one.kind)
    if domain and not schema.limited:
        lines.append(f"  {domain}")
    if one.doubt:
        lines.append(f"  # {one.doubt}")
    return [*lines, "}"]


def _bounds(low: int, high: int) -> str:
    """Return the fields of a value_count; empty if there never was a value, since a maximum of 0 has no meaning
    there."""
    return f" min: {low} max: {high}" if high else ""


def _domain(feature: Feature, kind: str) -> str:
    numbers = feature.kinds[kind].values
    if isinstance(numbers, Numbers) and is_label(feature.name, numbers):
        # A range with gaps would be none that more data keeps to.
        if not gapless(numbers):
            return "int_domain { is_categorical: true }"
        return f"int_domain {{ min: {numbers.least} max: {numbers.greatest} is_categorical: true }}"
    if kind == "bytes" and feature.content in IMAGES and len(feature.contents) == 1:
        return "image_domain { }"
    return ""


def _text(name: str) -> str:
    """Return a string of the text format: printable ASCII unchanged, every other byte in octal."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in name.encode()) + '"'
