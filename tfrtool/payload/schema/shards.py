"""Find shards that differ from the others: in the features that every record has, their kinds and lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tfrtool.payload.schema.feature import Key
from tfrtool.payload.schema.table import Table

FEATURES = 512
"""Features of a shard that are compared; of a shard of more is only known which others are alike."""
NAMES = 1 << 16
"""Bytes that the names of these features may take in all."""
GROUPS = 64
"""Different shards that are compared; of more kinds of shard is only known how many there are of each."""
_FIXED, _OFTEN = 8, 3
"""A list of a fixed length below the one, in fewer records than the other, may be of it by chance."""

Trait = tuple[tuple[str, ...], int | None]
Signature = tuple[tuple[Key, Trait], ...]


class Facts(NamedTuple):
    """Of a feature in one shard: the first record without it, its fewest and most values, and the first records of it.

    `at` has the first record with the fewest values, and with the most; `kinds` the first of each kind.
    """

    missing: int | None
    lengths: tuple[int, int]
    at: tuple[int, int]
    kinds: dict[str, int]


class Group(NamedTuple):
    """Shards that are alike: how many, the path of the first, their records, and more about the first."""

    files: int
    first: str
    records: int
    facts: dict[Key, Facts]


class Alike(NamedTuple):
    """Shards that are alike, and are not compared with others: how many, the path of the first, and their records."""

    files: int
    first: str
    records: int


class Difference(NamedTuple):
    """What a shard has otherwise than most: `what` is missing, extra, kind or length.

    `record` is the first in which that is seen, None where it is so in all of them. `most` says whether the others are
    more than half of all shards; else `rule` is one of them. `holders` are the records of all compared shards that have
    the feature in each of theirs.
    """

    path: str
    files: int
    key: Key
    what: str
    here: str
    elsewhere: str
    record: int | None
    most: bool
    rule: str
    holders: int


@dataclass
class ShardGroups:
    """The files of a data set by what they hold, in the order in which each kind of file is first met.

    `ShardGroups()` is the identity of `merge`, which is associative. `beyond` has those that are not compared, being
    too wide or of too many kinds, by a digest of what they hold.
    """

    groups: dict[Signature, Group] = field(default_factory=dict)
    beyond: dict[bytes, Alike] = field(default_factory=dict)

    def add(self, table: Table, path: str) -> None:
        """Add a whole file."""
        if not table.records:
            return
        found = signature(table)
        if len(table.features) > FEATURES or table.named > NAMES:
            self._add_beyond(_digest(found), Alike(1, path, table.records))
        else:
            self._add(found, Group(1, path, table.records, {} if found in self.groups else _facts(table)))

    def merge(self, other: ShardGroups) -> None:
        """Add other files, which come later."""
        for found, group in other.groups.items():
            self._add(found, group)
        mine = {}
        if other.beyond and len(other.groups) >= GROUPS:
            mine = {_digest(found): found for found in self.groups}
        for digest, alike in other.beyond.items():
            if digest in mine:
                self._add(mine[digest], Group(*alike, {}))
            else:
                self._add_beyond(digest, alike)

    def _add(self, found: Signature, group: Group) -> None:
        known = self.groups.get(found)
        if known is not None:
            self.groups[found] = known._replace(files=known.files + group.files, records=known.records + group.records)
        elif len(self.groups) < GROUPS:
            self.groups[found] = group
        else:
            self._add_beyond(_digest(found), Alike(group.files, group.first, group.records))

    def _add_beyond(self, digest: bytes, alike: Alike) -> None:
        known = self.beyond.get(digest)
        if known is not None:
            alike = known._replace(files=known.files + alike.files, records=known.records + alike.records)
        self.beyond[digest] = alike

    @property
    def uncompared(self) -> list[Alike]:
        """The kinds of shard that are not like the others, and are not compared with them. None where all are alike."""
        return list(self.beyond.values()) if len(self.groups) + len(self.beyond) > 1 else []

    def differences(self) -> Iterator[Difference]:
        """How the rarer shards differ from the most frequent ones; of equally frequent ones the first is the rule."""
        if len(self.groups) < 2:
            return
        rule = max(self.groups, key=lambda found: self.groups[found].files)
        usual, others = dict(rule), self.groups[rule]
        most = 2 * others.files > sum(group.files for group in self.groups.values())
        fixed = self._fixed(rule, most)
        holders: Counter[Key] = Counter()
        for found, group in self.groups.items():
            holders.update({key: group.records for key, _ in found})
        for found, group in self.groups.items():
            here = dict(found)
            for key in sorted(usual.keys() | here.keys()) if found != rule else ():
                mine, theirs, facts = here.get(key), usual.get(key), group.facts.get(key)
                what, record = "", None
                words = ("", "")
                if mine is None:
                    what, record = "missing", facts.missing if facts else None
                elif theirs is None:
                    what = "extra"
                elif mine[0] != theirs[0]:
                    what, words = "kind", ("/".join(mine[0]), "/".join(theirs[0]))
                    if facts and not set(theirs[0]).isdisjoint(mine[0]):
                        record = min((at for kind, at in facts.kinds.items() if kind not in theirs[0]), default=None)
                elif facts and key in fixed and mine[1] != theirs[1]:
                    low, high = facts.lengths
                    what, words = "length", (str(low) if low == high else f"{low} to {high}", str(theirs[1]))
                    if low < high:
                        record = min(
                            at for length, at in zip((low, high), facts.at, strict=True) if length != theirs[1]
                        )
                if what:
                    yield Difference(
                        group.first, group.files, key, what, *words, record, most, others.first, holders[key]
                    )

    def _fixed(self, rule: Signature, most: bool) -> set[Key]:
        """The features whose lists are of one fixed length in each shard, or in all but the one kind of shard that has
        to differ from `most` then.
        """
        keys = {key for key, (_, length) in rule if length}
        varying = Counter(key for found in self.groups for key, (_, length) in found if key in keys and length is None)
        return {key for key in keys if varying[key] <= most}


def signature(table: Table) -> Signature:
    """Return what a file holds in every record."""
    found = []
    for key, feature in table.features.items():
        if feature.missing is None:
            length = feature.shortest if feature.shortest == feature.longest else None
            sure = length is not None and (length >= _FIXED or feature.present >= _OFTEN)
            found.append((key, (tuple(sorted(feature.set_kinds)), length if sure else None)))
    return tuple(sorted(found))


def _digest(found: Signature) -> bytes:
    """Return what is held of a signature that is not: the same in each process, and of the same size for any."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for (is_list, name), (kinds, length) in found:
        digest.update(
            b"%d %d %s %d " % (is_list, -1 if length is None else length, ",".join(kinds).encode(), len(name))
        )
        digest.update(name)
    return digest.digest()


def _facts(table: Table) -> dict[Key, Facts]:
    found = {}
    for key, feature in table.features.items():
        missing = feature.missing.record if feature.missing else None
        if not feature.kinds:  # a feature list without steps
            found[key] = Facts(missing, (0, 0), (0, 0), {})
            continue
        short = min(feature.kinds.values(), key=lambda lists: (lists.shortest, lists.short_at.record))
        long = min(feature.kinds.values(), key=lambda lists: (-lists.longest, lists.long_at.record))
        found[key] = Facts(
            missing,
            (short.shortest, long.longest),
            (short.short_at.record, long.long_at.record),
            {kind: lists.first.record for kind, lists in feature.kinds.items() if kind is not None},
        )
    return found
