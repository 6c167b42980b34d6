"""What a schema has to be told of: conflicts, each with the first record in which it is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tfrtool.payload.schema.agree import FEW, Parting
from tfrtool.payload.schema.feature import Feature, Key
from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Place
from tfrtool.payload.textual import is_utf8
from tfrtool.payload.values import plural
from tfrtool.report import Kind
from tfrtool.verbs.shard_words import differs, named, shards_that_differ

AGREED = 8
"""Records in which two lists have the same length before it is worth telling that they then do not."""
NEAR = 16
"""Pairs of lists told of that agree at first."""
_NAMED = ("lengths", "shard")
"""Findings of more than the one feature, whose sentences have all names in them."""


class Finding(NamedTuple):
    """`what` is a word for scripts: kinds, missing, name, repeated, pieces, content, lengths, shard, mixed.

    `key` is the feature, None where it is about all; `place` the first offending record, None where it is about no one
    record; `shard` the file where it is about all of it. `said` is a sentence for people, without the name of
    `key`; names in it are as they are in the data. `kind` is that of the records that have the feature, None where all
    with features are of one kind.
    """

    what: str
    key: Key | None
    place: Place | None
    said: str
    shard: str | None = None
    kind: Kind | None = None

    @property
    def message(self) -> str:
        """The sentence with the name of the feature before it."""
        return self.said if self.key is None or self.what in _NAMED else f"{named(self.key)}: {self.said}"


def findings(schema: Schema) -> Iterator[Finding]:
    """All of them, the gravest of each feature first."""
    order = _order_of(schema)
    yield from _of_kinds(schema, order)
    for table, kind in kinds_of_tables(schema):
        for one in _of_table(table, order, table is schema.ofrecords):
            yield one._replace(kind=kind)
    for shard in shards_that_differ(schema):
        for found in shard:
            place = None if found.record is None else Place(found.path, found.record)
            yield Finding("shard", found.key, place, differs([found], schema), found.path)


def kinds_of_tables(schema: Schema) -> list[tuple[Table, Kind | None]]:
    """The tables that have features, each with the `kind` of its findings."""
    tables = schema.tables
    return [(table, schema.kind_of(table) if len(tables) > 1 else None) for table in tables]


def _of_table(table: Table, order: Order, ofrecords: bool) -> Iterator[Finding]:
    for key, feature in table.features.items():
        yield from _of_feature(key, feature, table, order, ofrecords)
    near = _near(table)
    for one, other, parting in near[:NEAR]:
        first = parting.first.place
        before = "in the records before, but not in"
        if parting.records <= FEW:
            before = f"in all records but {parting.records}, which {'is' if parting.records == 1 else 'begin with'}"
        message = f"lists of the same length {before} {_at(first)}: {named(one)} and {named(other)}"
        yield Finding("lengths", one, first, message)
    if len(near) > NEAR:
        yield Finding("lengths", None, None, f"and {len(near) - NEAR:,} more pairs of lists that agree in most records")


def _of_kinds(schema: Schema, order: Order) -> Iterator[Finding]:
    """Records, or files, of several kinds."""
    kinds = schema.kinds
    if len(kinds) > 1:
        places = {kind: first for kind in list(kinds)[1:] if (first := _first(schema, kind))}
        odd = min(places, key=lambda kind: order(places[kind]))
        listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        message = f"records of several kinds: {listed}; the first {odd} is {_at(places[odd])}"
        yield Finding("mixed", None, places[odd], message)
    files: dict[str, list[str]] = {"example": [], "sequence_example": []}
    for file in schema.files:
        if file.kind in files:
            files[file.kind].append(file.path)
    if all(files.values()):
        rare, usual = sorted(files, key=lambda kind: len(files[kind]))
        path = files[rare][0]
        read = " as far as they were read" if schema.limited else ""
        odd_ones = plural(len(files[rare]), "file")
        counts = f"{odd_ones} of {rare} records beside {len(files[usual]):,} of {usual} records{read}"
        lost = "a reader of Examples passes over feature lists"
        yield Finding("mixed", None, None, f"{counts}, the first {path}: {lost}", path)


def sampled(schema: Schema, file: str) -> str:
    """The files of which only the first records were read: `each input`, `1 of 3 inputs`, where `file` is "input"."""
    count, all_files = schema.sampled, len(schema.files)
    return f"each {file}" if count == all_files else f"{count:,} of {all_files:,} {file}s"


Order = Callable[[Place], tuple[int, int]]


def _order_of(schema: Schema) -> Order:
    """Where a record stands among all that were read."""
    paths = {file.path: number for number, file in enumerate(schema.files)}
    return lambda place: (paths.get(place.path, len(paths)), place.record)


def _of_feature(key: Key, feature: Feature, table: Table, order: Order, ofrecords: bool) -> Iterator[Finding]:
    if len(feature.set_kinds) > 1:
        # Of two kinds as frequent as each other, the one that came later offends.
        each = [feature.kinds[kind] for kind in feature.set_kinds]
        usual = min(each, key=lambda lists: (-lists.records, order(lists.first)))
        firsts = sorted((lists for lists in each if lists is not usual), key=lambda lists: order(lists.first))
        counts = ", ".join(f"{kind} in {plural(feature.kinds[kind].records, 'record')}" for kind in feature.set_kinds)
        where = ", ".join(f"the first {lists.kind} is in {_at(lists.first)}" for lists in firsts)
        yield Finding("kinds", key, firsts[0].first, f"{counts}; {where}")
    if feature.missing is not None:
        lacking = table.records - feature.present
        said = f"missing in {lacking:,} of {plural(table.records, 'record')}, first in {_at(feature.missing)}"
        yield Finding("missing", key, feature.missing, said)
    if not is_utf8(feature.name, True):
        place = min((lists.first for lists in feature.kinds.values()), key=order, default=None)
        # It takes any bytes in messages of proto2, as OFRecords are.
        refused = "not all readers take" if ofrecords else "protobuf refuses"
        yield Finding("name", key, place, f"the name is not UTF-8, which {refused}")
    pieced = min((lists.pieced for lists in feature.kinds.values() if lists.pieced), key=order, default=None)
    if pieced:
        said = f"packed numbers in several pieces, first in {_at(pieced)}: TensorFlow refuses such lists"
        yield Finding("pieces", key, pieced, said)
    if feature.repeated:
        twice = f"stands more than once in {plural(feature.repeated, 'record')}, first in {_at(feature.first_repeated)}"
        yield Finding("repeated", key, feature.first_repeated, f"{twice}; readers keep the last")
    blobs = feature.kinds["bytes"].values if "bytes" in feature.kinds else None
    if isinstance(blobs, Blobs) and len(blobs.contents) > 1:
        held = sorted(blobs.contents.items(), key=lambda item: -item[1].values)
        counts = ", ".join(f"{one.values:,} {kind}" for kind, one in held)
        if not _alike(set(blobs.contents)):
            rare, first = min(held[1:], key=lambda item: order(item[1].first))
            said = f"values hold different things: {counts}; the first {rare} is in {_at(first.first)}"
            yield Finding("content", key, first.first, said)


def _alike(kinds: set[str]) -> bool:
    """Kinds of content that are told apart by chance: short bytes that are text or not, and text that is JSON."""
    return kinds <= {"raw", "utf-8", "json", "empty"}


def _near(table: Table) -> list[tuple[Key, Key, Parting]]:
    """Pairs of lists that agree but for few records first, then those that agreed longest."""
    found = table.agreement.near(table.features, AGREED)
    return sorted(found, key=lambda item: (item[2].records, -item[2].first.at, item[:2]))


def _first(schema: Schema, kind: str) -> Place | None:
    if kind == "event":
        return schema.events.first if schema.events else None
    if kind == "unknown":
        return schema.unknown.first if schema.unknown else None
    return schema.ofrecords.first if kind == "ofrecord" else schema.examples.first


def _at(place: Place | None) -> str:
    return "no record" if place is None else f"record {place.record} of {place.path}"
