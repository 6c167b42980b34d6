"""What a schema has to be told of: conflicts, each with the first record in which it is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfrtool.payload.schema.feature import Feature, Key, Met
from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Place
from tfrtool.payload.values import text_of

AGREED = 8
"""Records in which two lists have the same length before it is worth telling that they then do not."""
NEAR = 16
"""Pairs of lists told of that agree at first."""


class Finding(NamedTuple):
    """`what` is a word for scripts: kinds, missing, name, repeated, content, lengths, shard, mixed, misfit.

    `key` is the feature, None where it is about all; `place` the first offending record, None where it is about no one
    record; `shard` the file where it is about all of it. `message` is a sentence for people, in which names are as they
    are in the data.
    """

    what: str
    key: Key | None
    place: Place | None
    message: str
    shard: str | None = None


def findings(schema: Schema) -> Iterator[Finding]:
    """All of them, the gravest of each feature first."""
    kinds = schema.kinds
    if len(kinds) > 1:
        rarest = list(kinds)[-1]
        first = _first(schema, rarest)
        listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        yield Finding("mixed", None, first, f"records of several kinds: {listed}; the first {rarest} is {_at(first)}")
    table = schema.table
    for key, feature in table.features.items():
        yield from _of_feature(key, feature, table)
    for one, other, met in _near(table):
        names = f"{_named(one)} and {_named(other)}"
        message = f"lists of the same length in the records before, but not in {_at(met.place)}: {names}"
        yield Finding("lengths", one, met.place, message)
    for found in schema.shards.differences():
        others = f", and {found.files - 1:,} more like it," if found.files > 1 else ""
        says = {
            "missing": f"{_named(found.key)} is not in all of its records, as in most shards",
            "extra": f"{_named(found.key)} is in all of its records, unlike in most shards",
            "kind": f"{_named(found.key)} is {found.here or 'never set'}, and {found.elsewhere or 'never set'} in most",
            "length": f"lists of {_named(found.key)} have {found.here} values, and {found.elsewhere} in most shards",
        }[found.what]
        message = f"the shard {found.path}{others} differs: {says}"
        yield Finding("shard", found.key, None, message, found.path)


def _of_feature(key: Key, feature: Feature, table: Table) -> Iterator[Finding]:
    name = _named(key)
    if len(feature.set_kinds) > 1:
        # Of two kinds as frequent as each other, the one that came later offends.
        first = min((feature.kinds[kind] for kind in feature.set_kinds[1:]), key=lambda lists: lists.records)
        counts = ", ".join(f"{kind} in {_records(feature.kinds[kind].records)}" for kind in feature.set_kinds)
        yield Finding("kinds", key, first.first, f"{name}: {counts}; the first {first.kind} is in {_at(first.first)}")
    if feature.missing is not None:
        lacking = table.records - feature.present
        message = f"{name}: missing in {lacking:,} of {_records(table.records)}, first in {_at(feature.missing)}"
        yield Finding("missing", key, feature.missing, message)
    if not _is_text(feature.name):
        place = next((lists.first for lists in feature.kinds.values()), None)
        yield Finding("name", key, place, f"{name}: the name is not UTF-8, which protobuf refuses")
    if feature.repeated:
        twice = f"stands more than once in {_records(feature.repeated)}, first in {_at(feature.first_repeated)}"
        yield Finding("repeated", key, feature.first_repeated, f"{name}: {twice}; readers keep the last")
    blobs = feature.kinds["bytes"].values if "bytes" in feature.kinds else None
    if isinstance(blobs, Blobs) and len(blobs.contents) > 1:
        held = sorted(blobs.contents.items(), key=lambda item: -item[1].values)
        rarest, least = held[-1]
        counts = ", ".join(f"{one.values:,} {kind}" for kind, one in held)
        if not _alike(set(blobs.contents)):
            message = f"{name}: values hold different things: {counts}; the first {rarest} is in {_at(least.first)}"
            yield Finding("content", key, least.first, message)


def _alike(kinds: set[str]) -> bool:
    """Kinds of content that are told apart by chance: short bytes that are text or not, and text that is JSON."""
    return kinds <= {"utf-8", "json", "empty"} or kinds <= {"raw", "utf-8", "empty"}


def _near(table: Table) -> list[tuple[Key, Key, Met]]:
    found = sorted(table.agreement.near(table.features, AGREED), key=lambda item: (-item[2].at, item[:2]))
    return found[:NEAR]


def _first(schema: Schema, kind: str) -> Place | None:
    if kind == "event":
        return schema.events.first if schema.events else None
    if kind == "unknown":
        return schema.unknown.first if schema.unknown else None
    return schema.ofrecords.first if kind == "ofrecord" else schema.examples.first


def _at(place: Place | None) -> str:
    return "no record" if place is None else f"record {place.record} of {place.path}"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


def _named(key: Key) -> str:
    return text_of(key[1]) or "the feature without a name"


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
