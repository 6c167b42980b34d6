"""What a schema has to be told of: conflicts, each with the first record in which it is seen.

What numbers look like: a guess for people, so it lives apart from what was counted.

How shards differ from most others, in sentences: what is so in the shard, and what in the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature, Key
from tfrtool.payload.schema.shards import Difference
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Numbers, RecordPlace
from tfrtool.payload.text import is_utf8, plural, text_of
from tfrtool.types import Kind

_REPEATS = 2
"""How often each different value of a label stands at least, on average."""
_MANY = 200
"""Values from which on numbers alone may tell a label, whatever it is called; each of them stands `_OFTEN` times."""
_OFTEN = 10
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_LABELS = {"label", "labels", "class", "classes", "category", "categories", "target", "targets", "id", "ids"}
_AMOUNTS = (
    "count counts num number n nr total len length size height width depth area age qty quantity amount step steps"
    " frame frames index idx offset position pos rank score year month day hour minute second time duration"
)
_COUNTED = set(_AMOUNTS.split())


def looks_like_label(numbers: Numbers) -> bool:
    """Few different integers, from 0 or 1 (or -1, for none) on, each of them repeated: a label, or a count."""
    return (
        bool(numbers.distinct)
        and -1 <= numbers.least <= 1
        and len(numbers.distinct or ()) > 1
        and numbers.greatest < 4 * len(numbers.distinct or ()) + 16
        and numbers.values >= _REPEATS * len(numbers.distinct or ())
    )


def is_label(name: bytes, numbers: Numbers) -> bool:
    """Integers that look like a label, and are called so; or of which many fill a range from 0 (or -1) without a gap,
    and that are not called as what is counted or measured is.
    """
    if not looks_like_label(numbers):
        return False
    words = {word.lower() for word in _WORD.findall(name.decode("utf-8", "replace"))}
    if words & _LABELS:
        return not words & _COUNTED
    different = len(numbers.distinct or ())
    often = numbers.values >= max(_MANY, _OFTEN * different)
    return often and numbers.least <= 0 and gapless(numbers) and not words & _COUNTED


def gapless(numbers: Numbers) -> bool:
    """Whether every integer between the least and the greatest was seen."""
    return numbers.distinct is not None and len(numbers.distinct) == numbers.greatest - numbers.least + 1


NAMES = 8
"""Features named in one clause of a sentence, and the clauses of a sentence, beyond which they are counted."""

Clause = tuple[str, str, str, str]
"""What stands before the names, the verb of one name, that of several, and what is said of them."""


def shards_that_differ(schema: Schema) -> Iterator[list[Difference]]:
    """The differences of each kind of shard that differs; none of a sample, which says nothing of whole shards."""
    for _, found in groupby(() if schema.limited else schema.shards.differences(), key=lambda one: one.path):
        yield list(found)


def differs(found: Sequence[Difference], schema: Schema) -> str:
    """How a shard differs, not yet safe: a sentence with a clause for the features of which the same is so.

    `found` are some of its differences, at least one. Where the shard is no rarer than the others, none of the two is
    the odd one.
    """
    first = found[0]
    others = f", and {first.files - 1:,} more like it," if first.files > 1 else ""
    shard = f"shard {first.path}{others} differs" if first.most else "shards differ"
    clauses: dict[Clause, list[str]] = {}
    for one in found:
        clauses.setdefault(_clause(one, schema), []).append(named(one.key))
    said = [
        f"{before}{_listed(names)} {verb if len(names) == 1 else verbs} {rest}"
        for (before, verb, verbs, rest), names in list(clauses.items())[:NAMES]
    ]
    if more := sum(map(len, list(clauses.values())[NAMES:])):
        said.append(f"and so {'does' if more == 1 else 'do'} {plural(more, 'more feature')}")
    return f"the {shard}: {'; '.join(said)}"


def _clause(found: Difference, schema: Schema) -> Clause:
    here, rule = ("it", "most shards") if found.most else (found.path, found.rule)
    at = "" if found.record is None else f", first in record {found.record}"
    if found.what == "missing":
        none = "in no record of" if found.record is None else "missing in records of"
        return "", "is", "are", f"in every record of {rule}, and {none} {here}{at}"
    if found.what == "extra":
        none = "in no record of" if _nowhere_else(found, schema) else "missing in records of"
        return "", "is", "are", f"in every record of {here}, and {none} {rule}"
    at = at and at + ","
    if found.what == "kind":
        kind, usual = found.here or "never set", found.elsewhere or "never set"
        return "", "is", "are", f"{kind} in {here}{at} and {usual} in {rule}"
    lists = "steps" if found.key[0] else "lists"
    values = f"{found.here} value{'' if found.here == '1' else 's'}"
    return f"{lists} of ", "have", "have", f"{values} in {here}{at} and {found.elsewhere} in {rule}"


def _nowhere_else(found: Difference, schema: Schema) -> bool:
    """Whether no record has the feature but those of shards that have it in all of theirs."""
    tables = schema.examples, schema.ofrecords
    present = sum(table.features[found.key].present for table in tables if found.key in table.features)
    return present == found.holders and not any(table.more for table in tables)


def _listed(names: Sequence[str]) -> str:
    """Names with an `and` before the last; of very many the first few."""
    shown = [*names[:NAMES], f"{len(names) - NAMES:,} more"] if len(names) > NAMES else names
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def named(key: Key) -> str:
    """A feature, or a feature list, in a sentence; not yet safe."""
    what = "feature list" if key[0] else "feature"
    return (
        f"the {what} without a name" if not key[1] else f"the {what} {text_of(key[1])}" if key[0] else text_of(key[1])
    )


class Finding(NamedTuple):
    """`what` is a word for scripts: kinds, missing, name, repeated, pieces, content, shard, mixed.

    `key` is the feature, None where it is about all; `place` the first offending record, None where it is about no one
    record; `shard` the file where it is about all of it. `said` is a sentence for people, without the name of
    `key`; names in it are as they are in the data. `kind` is that of the records that have the feature, None where all
    with features are of one kind.
    """

    what: str
    key: Key | None
    place: RecordPlace | None
    said: str
    shard: str | None = None
    kind: Kind | None = None

    @property
    def message(self) -> str:
        """The sentence with the name of the feature before it."""
        return self.said if self.key is None or self.what == "shard" else f"{named(self.key)}: {self.said}"


def findings(schema: Schema) -> Iterator[Finding]:
    """All of them, the gravest of each feature first."""
    order = _order_of(schema)
    yield from _of_kinds(schema, order)
    for table, kind in kinds_of_tables(schema):
        for one in _of_table(table, order, table is schema.ofrecords):
            yield one._replace(kind=kind)
    for shard in shards_that_differ(schema):
        for found in shard:
            place = None if found.record is None else RecordPlace(found.path, found.record)
            yield Finding("shard", found.key, place, differs([found], schema), found.path)


def kinds_of_tables(schema: Schema) -> list[tuple[Table, Kind | None]]:
    """The tables that have features, each with the `kind` of its findings."""
    tables = schema.tables
    return [(table, schema.kind_of(table) if len(tables) > 1 else None) for table in tables]


def _of_table(table: Table, order: Order, ofrecords: bool) -> Iterator[Finding]:
    for key, feature in table.features.items():
        yield from _of_feature(key, feature, table, order, ofrecords)


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


Order = Callable[[RecordPlace], tuple[int, int]]


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
        reopenable = (
            f"stands more than once in {plural(feature.repeated, 'record')}, first in {_at(feature.first_repeated)}"
        )
        yield Finding("repeated", key, feature.first_repeated, f"{reopenable}; readers keep the last")
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


def _first(schema: Schema, kind: str) -> RecordPlace | None:
    if kind == "event":
        return schema.events.first if schema.events else None
    if kind == "unknown":
        return schema.unknown.first if schema.unknown else None
    return schema.ofrecords.first if kind == "ofrecord" else schema.examples.first


def _at(place: RecordPlace | None) -> str:
    return "no record" if place is None else f"record {place.record} of {place.path}"
