"""Emit the features of NVIDIA DALI's `fn.readers.tfrecord`, as Python code.

Behaviour of DALI 2.4.0, as seen in runs and in its `tfrecord_parser.h`: it ignores the defaults that it requires. A
feature that a record lacks becomes a scalar of arbitrary memory, which one batch cannot hold beside lists. It reads the
first value of a bytes feature even if there is none, and crashes. A list of another kind than declared becomes an empty
list, and a tensor of fixed length keeps arbitrary memory. It does not accept an empty dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.table import Table
from tfrtool.verbs.schema.emit.common import Entries, Told, examples, heading, named, refuse_none, told

_TYPES = {"bytes": ("string", '""'), "float": ("float32", "0.0"), "int64": ("int64", "0")}


def emit(schema: Schema) -> str:
    """Return FixedLenFeature if every record has the same number of values of one kind, otherwise VarLenFeature.

    Features that DALI cannot read from every record are put into comments. Raises `UnsupportedError` if none are left.
    """
    table = examples(schema, "DALI")
    entries = _entries(schema, table)
    refuse_none("DALI", [entries])
    head = [*heading(schema, "Features for DALI's fn.readers.tfrecord", table), *_warnings(schema)]
    return "\n".join([*head, "import nvidia.dali.tfrecord as tfrec", "", "FEATURES = {", *entries.lines, "}"]) + "\n"


def notes(schema: Schema) -> Iterator[str]:
    """Yield a sentence for each feature that DALI does not get, or reads differently; not escaped."""
    yield from _entries(schema, schema.examples).notes


def _entries(schema: Schema, table: Table) -> Entries:
    entries = Entries()
    for feature in table.features.values():
        one = told(feature, schema)
        if left_out := _left_out(one):
            entries.leave_out(one, left_out)
        elif stops := _stops(feature, table, one.kind):
            entries.leave_out(one, stops, _made(one), f"{named(feature)} is {stops}")
        else:
            entries.add(one, _made(one), one.doubt and f"{one.doubt}; of others than {one.kind} DALI makes empty lists")
    return entries


def _made(one: Told) -> str:
    kind, default = _TYPES[one.kind]
    if one.kind == "bytes":
        return f"tfrec.FixedLenFeature((), tfrec.{kind}, {default})"
    if one.size is None or one.doubt:
        return f"tfrec.VarLenFeature(tfrec.{kind}, {default})"
    return f"tfrec.FixedLenFeature([{one.size}], tfrec.{kind}, {default})"


def _left_out(one: Told) -> str:
    """Return why there is no code for a feature."""
    if one.no_text:
        return f"{one.left_out}, and DALI stops at a record that has it"
    if not one.left_out and one.kind == "bytes" and one.feature.kinds["bytes"].longest > 1:
        return "DALI reads one bytes value of a feature, and a record has more"
    return one.left_out


def _stops(feature: Feature, table: Table, kind: str) -> str:
    """Return where DALI fails on the code for a feature, in words that follow "is"."""
    found = []
    if kind == "bytes":
        unset = feature.kinds[None].records if None in feature.kinds else 0
        others = sum(feature.kinds[one].records for one in feature.set_kinds if one != kind)
        counts = {"unset": unset, "of another kind": others}
        found += [f"{what} in {count:,} of {table.records:,} records" for what, count in counts.items() if count]
        if feature.kinds[kind].shortest == 0:
            found.append("empty in some records")
    stops = [f"{', '.join(found)}; DALI dies there"] if found else []
    if lacking := table.records - feature.present:
        where = f"missing in {lacking:,} of {table.records:,} records"
        stops.append(f"{where}; DALI stops or makes up values there, whatever the default")
    return "; ".join(stops)


def _warnings(schema: Schema) -> list[str]:
    """Return comment lines on inputs that DALI cannot read to their end, whatever the features."""
    lines = []
    if schema.limited:
        lines.append("# DALI may stop or die at a record that lacks one of these: leave out -n to see all records.")
    if schema.misfits:
        lines.append("# DALI stops at a payload that does not parse, and an index leads to it as to others.")
    if any(file.compression != "none" and file.records for file in schema.files):
        lines.append("# DALI reads plain files alone, and some of these are compressed: unpack them first.")
    return lines
