"""The features of NVIDIA DALI's `fn.readers.tfrecord`, as Python code."""

from __future__ import annotations

from tfrtool.payload.schema.schema import Schema
from tfrtool.verbs.emit.common import examples, heading, named, quoted, told

_TYPES = {"bytes": ("string", '""'), "float": ("float32", "0.0"), "int64": ("int64", "0")}


def emit(schema: Schema) -> str:
    """FixedLenFeature where every record had the same number of values, else VarLenFeature; with a default for each."""
    table = examples(schema, "DALI")
    lines = [
        *heading(schema, "Features for DALI's fn.readers.tfrecord", table),
        "import nvidia.dali.tfrecord as tfrec",
        "",
    ]
    lines.append("FEATURES = {")
    for feature in table.features.values():
        one = told(feature, schema)
        left_out = one.left_out
        if not left_out and one.kind == "bytes" and feature.longest > 1:
            left_out = "DALI reads one bytes value of a feature, and a record has more"
        if left_out:
            lines.append(f"    # {named(feature)} is left out: {left_out}")
            continue
        kind, default = _TYPES[one.kind]
        doubt = f"  # {one.doubt}" if one.doubt else ""
        if one.size is None and one.kind != "bytes":
            made = f"tfrec.VarLenFeature(tfrec.{kind}, {default})"
        else:
            shape = "()" if one.size is None or one.kind == "bytes" else f"[{one.size}]"
            made = f"tfrec.FixedLenFeature({shape}, tfrec.{kind}, {default})"
        lines.append(f"    {quoted(one.name)}: {made},{doubt}")
    return "\n".join([*lines, "}"]) + "\n"
