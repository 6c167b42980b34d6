"""Which shards differ from the others: in the features that every record of a shard has, their kinds and lengths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfrtool.fields import Fields, made
from tfrtool.payload.schema.feature import Key
from tfrtool.payload.schema.table import Table

FEATURES = 512
"""Features of a shard that are compared; a shard of more is not."""
GROUPS = 64
"""Different shards that are told apart."""
_FIXED = 8  # a list of a fixed length below this may be of it by chance

Trait = tuple[tuple[str, ...], int | None]
Signature = tuple[tuple[Key, Trait], ...]


class Group(NamedTuple):
    """Shards that are alike: how many, and the path of the first."""

    files: int
    first: str


class Difference(NamedTuple):
    """What a shard has otherwise than most: `what` is missing, extra, kind or length."""

    path: str
    files: int
    key: Key
    what: str
    here: str
    elsewhere: str


class Shards(Fields):
    """The files of a data set by what they hold, in the order in which each kind of file is first met."""

    groups: dict[Signature, Group] = made(default_factory=dict)
    more: bool = False

    def add(self, table: Table, path: str) -> None:
        """Add a whole file."""
        if table.records and len(table.features) <= FEATURES:
            self._add(signature(table), Group(1, path))

    def merge(self, other: Shards) -> None:
        """Add other files, which come later."""
        for found, group in other.groups.items():
            self._add(found, group)
        self.more |= other.more

    def _add(self, found: Signature, group: Group) -> None:
        known = self.groups.get(found)
        if known is not None:
            self.groups[found] = Group(known.files + group.files, known.first)
        elif len(self.groups) < GROUPS:
            self.groups[found] = group
        else:
            self.more = True

    def differences(self) -> Iterator[Difference]:
        """How the rarer shards differ from the most frequent ones; of equally frequent ones the first is the rule."""
        if len(self.groups) < 2:
            return
        rule = max(self.groups, key=lambda found: self.groups[found].files)
        usual = dict(rule)
        for found, group in self.groups.items():
            here = dict(found)
            for key in sorted(usual.keys() | here.keys()):
                mine, theirs = here.get(key), usual.get(key)
                if mine is None:
                    yield Difference(group.first, group.files, key, "missing", "", "")
                elif theirs is None:
                    yield Difference(group.first, group.files, key, "extra", "", "")
                elif mine[0] != theirs[0]:
                    yield Difference(group.first, group.files, key, "kind", "/".join(mine[0]), "/".join(theirs[0]))
                elif mine[1] != theirs[1] and mine[1] and theirs[1]:
                    yield Difference(group.first, group.files, key, "length", str(mine[1]), str(theirs[1]))


def signature(table: Table) -> Signature:
    """What a file holds in every record."""
    found = []
    for key, feature in table.features.items():
        if feature.missing is None:
            fixed = feature.shortest if feature.shortest == feature.longest >= _FIXED else None
            found.append((key, (tuple(sorted(feature.set_kinds)), fixed)))
    return tuple(sorted(found))
