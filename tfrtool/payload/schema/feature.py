"""Summarize one feature over many records: in which it occurs, of which kind, with how many values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tfrtool.payload.schema.values import Blobs, ContentCount, Numbers, RecordPlace, values_for

Key = tuple[bool, bytes]
"""Whether it is a feature list, and the name. Context features and feature lists have names of their own."""


@dataclass(slots=True)
class ListSummary:
    """The lists of one kind: in how many records, the first of them, values a list at least and at most, the values.

    `short_at` and `long_at` are the first records with as few and as many, `pieced` the first in which a list of
    numbers is in several pieces, some packed. For a feature list these are the lists of its steps.
    """

    kind: str | None
    records: int
    first: RecordPlace
    shortest: int
    longest: int
    values: Numbers | Blobs | None
    short_at: RecordPlace
    long_at: RecordPlace
    pieced: RecordPlace | None = None

    def merge(self, other: ListSummary) -> None:
        self.records += other.records
        if other.shortest < self.shortest:
            self.shortest, self.short_at = other.shortest, other.short_at
        if other.longest > self.longest:
            self.longest, self.long_at = other.longest, other.long_at
        self.pieced = self.pieced or other.pieced
        if self.values is not None:
            self.values.merge(other.values)  # type: ignore[arg-type]

    def copy(self) -> ListSummary:
        values = None if self.values is None else self.values.copy()
        places = self.short_at, self.long_at, self.pieced
        return ListSummary(self.kind, self.records, self.first, self.shortest, self.longest, values, *places)


@dataclass(slots=True)
class Feature:
    """A feature, or a feature list, over a stretch of records.

    `present` counts the records in which its name stands, `repeated` those in which it stands more than once (readers
    keep the last, and so does this). `missing` is the first record without it. `steps` are the least and the most steps
    of a feature list.
    """

    name: bytes
    is_list: bool = False
    present: int = 0
    repeated: int = 0
    first_repeated: RecordPlace | None = None
    missing: RecordPlace | None = None
    kinds: dict[str | None, ListSummary] = field(default_factory=dict)
    steps: tuple[int, int] | None = None

    def merge(self, other: Feature) -> None:
        """Add a later stretch of records, but for `missing`, which the caller sets."""
        self.present += other.present
        self.repeated += other.repeated
        if self.first_repeated is None:
            self.first_repeated = other.first_repeated
        if other.steps:
            low, high = self.steps or other.steps
            self.steps = min(low, other.steps[0]), max(high, other.steps[1])
        for kind, lists in other.kinds.items():
            if kind in self.kinds:
                self.kinds[kind].merge(lists)
            else:
                self.kinds[kind] = lists.copy()

    def copy(self) -> Feature:
        kinds = {kind: lists.copy() for kind, lists in self.kinds.items()}
        return Feature(
            self.name,
            self.is_list,
            self.present,
            self.repeated,
            self.first_repeated,
            self.missing,
            kinds,
            self.steps,
        )

    def hold(self, distinct: int, details: int) -> None:
        """Forget which integers there were where more are different, and what headers said beyond so many details."""
        for lists in self.kinds.values():
            values = lists.values
            if isinstance(values, Blobs):
                for held in values.contents.values():
                    held.cut(details)
            elif values is not None and values.distinct is not None and len(values.distinct) > distinct:
                values.distinct = None

    def lists(self, kind: str | None, place: RecordPlace) -> ListSummary:
        """Return the lists of a kind, which are begun at `place` if there were none."""
        found = self.kinds.get(kind)
        if found is None:
            found = self.kinds[kind] = ListSummary(kind, 0, place, 1 << 62, 0, values_for(kind), place, place)
        return found

    @property
    def key(self) -> Key:
        return self.is_list, self.name

    @property
    def set_kinds(self) -> list[str]:
        """Return the kinds that lists of it have, the most frequent first; features of no kind aside."""
        found = [lists for kind, lists in self.kinds.items() if kind is not None]
        return [str(lists.kind) for lists in sorted(found, key=lambda lists: -lists.records)]

    @property
    def kind(self) -> str | None:
        """Return the kind of most records that set one; None where none does."""
        return next(iter(self.set_kinds), None)

    @property
    def shortest(self) -> int:
        """Return the fewest values of a list where the feature stands."""
        return min((lists.shortest for lists in self.kinds.values()), default=0)

    @property
    def longest(self) -> int:
        """Return the most values of a list."""
        return max((lists.longest for lists in self.kinds.values()), default=0)

    @property
    def contents(self) -> dict[str, ContentCount]:
        """Return what its bytes values hold."""
        lists = self.kinds.get("bytes")
        return lists.values.contents if lists is not None and isinstance(lists.values, Blobs) else {}

    @property
    def content(self) -> str | None:
        """Return what most of its bytes values hold that are not empty; None where it has none."""
        contents = self.contents
        return max(contents, key=lambda kind: (kind != "empty", contents[kind].values), default=None)


def within(names: Iterable[Key], bound: int) -> set[Key]:
    """Return the `bound` shortest names."""
    found = set(names)
    return found if len(found) <= bound else set(sorted(found, key=rank)[:bound])


def rank(key: Key) -> tuple[int, bytes, bool]:
    """Return where a name stands among all names that there can be: short ones first."""
    return len(key[1]), key[1], key[0]
