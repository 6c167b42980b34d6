"""Emit a schema as one JSON object: the `schema` object of `--json`, and the document of `--emit json`."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature, Key
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Numbers, RecordPlace
from tfrtool.payload.text import json_value
from tfrtool.payload.wire.reader import WIRE_NAMES
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.schema.findings import Finding, findings, is_label, kinds_of_tables

if TYPE_CHECKING:
    from tfrtool.payload.schema.events import EventTable
    from tfrtool.payload.schema.unknown import WireTable


def emit(schema: Schema) -> str:
    """Return an indented document, which also lists what could not be described, since no `summary` follows it."""
    import json

    lost = {"unread": schema.unread, "damaged": schema.damaged, "missing": schema.missing}
    return json.dumps({"type": "schema", "v": 1, **schema_fields(schema), **lost}, indent=2) + "\n"


def schema_fields(schema: Schema) -> dict[str, Any]:
    """The fields of the object. Numbers are numbers, text that is not UTF-8 is `{"bytes": base64}`.

    `features` has those of the records of kind `described`. Where there are Examples and OFRecords too, `others` has
    the features of the fewer ones, and a finding about a feature has the `kind` of its records. A feature list may have
    the name of a feature: `feature_list` says of a finding that it is about the former.
    """
    found = list(findings(schema))
    (table, kind), *others = kinds_of_tables(schema)
    fields: dict[str, Any] = {
        "records": schema.records,
        "kind": schema.kind,
        "kinds": schema.kinds_of_files,
        "described": schema.kind_of(table),
        "sampled": schema.limited,
        "misfits": schema.misfits,
        "first_misfit": _place(schema.first_misfit),
        **_table(table, [one for one in found if one.kind in (None, kind)]),
    }
    if others:
        fields["others"] = [
            {
                "described": kind,
                "records": other.records,
                **_table(other, [one for one in found if one.kind in (None, kind)]),
            }
            for other, kind in others
        ]
    if schema.events:
        fields["events"] = _events(schema.events)
    if schema.unknown:
        fields["wire"] = _wire(schema.unknown)
    fields["uncompared_shards"] = schema.uncompared[0]
    fields["findings"] = [_finding(one) for one in found]
    return fields


def _table(table: Table, found: list[Finding]) -> dict[str, Any]:
    """Return the features of a table, each with its most severe finding."""
    by_feature: dict[Key | None, Finding] = {}
    for one in found:
        by_feature.setdefault(one.key, one)
    of_each = [(f.is_list, _feature(f, table, by_feature.get(f.key))) for f in table.features.values()]
    fields: dict[str, Any] = {"features": [one for is_list, one in of_each if not is_list]}
    if table.sequences:
        fields["feature_lists"] = [one for is_list, one in of_each if is_list]
    if table.records:
        fields["more_features"] = table.more
    return fields


def _feature(feature: Feature, table: Table, found: Finding | None) -> dict[str, Any]:
    content = feature.content
    fields: dict[str, Any] = {
        "name": json_text(feature.name),
        "kind": feature.kind,
        "kinds": {kind or "unset": lists.records for kind, lists in feature.kinds.items()},
        "present": feature.present,
        "missing": table.records - feature.present,
        "min_count": feature.shortest,
        "max_count": feature.longest,
        "content": content,
        "conflict": _finding(found) if found else None,
    }
    if feature.steps:
        fields["min_steps"], fields["max_steps"] = feature.steps
    for kind, lists in feature.kinds.items():
        values = lists.values
        if isinstance(values, Blobs) and values.values:
            fields["contents"] = _contents(values)
            fields["sizes"] = {"min": values.shortest, "max": values.longest, "sum": values.bytes}
        elif isinstance(values, Numbers) and values.values:
            fields.setdefault("numbers", {})[kind] = _numbers(values, str(kind), feature.name)
    return fields


def _numbers(numbers: Numbers, kind: str, name: bytes) -> dict[str, Any]:
    finite = isfinite(numbers.least)
    fields: dict[str, Any] = {
        "min": json_value(numbers.least, kind) if finite else None,
        "max": json_value(numbers.greatest, kind) if finite else None,
    }
    if kind.startswith("int"):
        distinct = None if numbers.distinct is None else len(numbers.distinct)
        return fields | {"distinct": distinct, "label": is_label(name, numbers), "fits_int32": numbers.fits_int32}
    return fields | {"nan": numbers.nan, "infinite": numbers.infinite}


def _contents(blobs: Blobs) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, held in blobs.contents.items():
        found[kind] = {"values": held.values, "first": _place(held.first), "details": held.details, "more": held.more}
        if held.forms:
            found[kind]["forms"] = held.forms
    return found


def _events(events: EventTable) -> dict[str, Any]:
    return {
        "first_wall_time": events.earliest if isfinite(events.earliest) else None,
        "last_wall_time": events.latest if isfinite(events.latest) else None,
        "min_step": events.low,
        "max_step": events.high,
        "longest_gap": {"seconds": json_value(events.gap, "double"), **(_place(events.gap_at) or {})},
        "restarts": events.restarts,
        "first_restart": _place(events.first_restart.place if events.first_restart else None),
        "other": events.other,
        "tags": [
            {
                "name": json_text(name),
                "values": tag.values,
                "min_step": tag.low,
                "max_step": tag.high,
                "kinds": tag.kinds,
                "numbers": _numbers(tag.numbers, tag.number_kind, b"") if tag.numbers else None,
            }
            for name, tag in events.tags.items()
        ],
        "more_tags": events.more,
    }


def _wire(wire: WireTable) -> dict[str, Any]:
    return {
        "opaque": wire.opaque,
        "first_opaque": _place(wire.first_opaque),
        "near": {**(_place(wire.near[0]) or {}), "message": wire.near[1]} if wire.near else None,
        "payloads": _contents(wire.payloads),
        "fields": [
            {
                "number": number,
                "wire": WIRE_NAMES[kind],
                "records": found.records,
                "min_count": found.fewest,
                "max_count": found.most,
                "contents": _contents(found.values),
            }
            for (number, kind), found in wire.fields.items()
        ],
        "more_fields": wire.more,
    }


def _finding(one: Finding) -> dict[str, Any]:
    feature = {} if one.key is None else {"feature": json_text(one.key[1]), "feature_list": one.key[0]}
    kind = {} if one.kind is None else {"kind": one.kind}
    place = _place(one.place) or ({} if one.shard is None else {"path": json_text(one.shard), "record": None})
    return {"what": one.what, **kind, **feature, **place, "message": json_text(one.message)}


def _place(place: RecordPlace | None) -> dict[str, Any] | None:
    return None if place is None else {"path": json_text(place.path), "record": place.record}
