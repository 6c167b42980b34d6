"""Which features have lists of the same length in every record, and where two that had them first do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, count, islice, repeat
from operator import ne
from typing import NamedTuple

from tfrtool.payload.schema.feature import Feature, FirstSeen, Key, within
from tfrtool.payload.schema.values import RecordPlace

FEATURES = 64
"""Features whose lengths are compared: those of the shortest names."""

FEW = 3
"""Records up to which it is counted in how many two lists differ."""

Lengths = int | list[int]
"""Length of the list in each record, or the one length that it has in all."""
Two = tuple[Key, Key]


class Divergence(NamedTuple):
    """The first record in which two lists differ, and in how many they do: `FEW` and one stand for any more."""

    first: FirstSeen
    records: int


@dataclass(slots=True)
class Agreement:
    """`partings` has every pair of names that does not agree. `filled` has the names that are compared, and in how many
    records each has a value.

    A feature that is missing counts as an empty list. So where two stretches are joined, a feature that one of them has
    not met was empty in all of it.
    """

    filled: dict[Key, int] = field(default_factory=dict)
    partings: dict[Two, Divergence] = field(default_factory=dict)

    @classmethod
    def of(cls, lengths: Mapping[Key, Lengths], records: int, place: Callable[[int], RecordPlace]) -> Agreement:
        """The agreement in one stretch of so many records; `place` gives that of a record by its number in it."""
        partings: dict[Two, Divergence] = {}
        groups: dict[int | tuple[int, ...], list[Key]] = {}
        filled: dict[Key, int] = {}
        for key in within(lengths, FEATURES):
            here = lengths[key]
            filled[key] = bool(here) * records if isinstance(here, int) else records - here.count(0)
            groups.setdefault(_plain(here), []).append(key)
        several = list(groups.items())
        known: dict[tuple[int, int], Divergence] = {}
        for i, (one, keys) in enumerate(several):
            for other, others in several[i + 1 :]:
                found = _differences(one, other, records)
                parting = known.get(found)
                if parting is None:
                    parting = known[found] = Divergence(FirstSeen(found[0], place(found[0])), found[1])
                for key in keys:
                    for second in others:
                        partings[(key, second) if key < second else (second, key)] = parting
        return cls(filled, partings)

    @property
    def names(self) -> set[Key]:
        """The features that are compared."""
        return set(self.filled)

    def merge(self, other: Agreement, mine: Mapping[Key, Feature], theirs: Mapping[Key, Feature], before: int) -> None:
        """Join a later stretch. The features are those of each stretch; this one has `before` records."""
        if other.partings or other.filled.keys() != self.filled.keys():
            names = within(self.filled.keys() | other.filled.keys(), FEATURES)
            partings = {two: met for two, met in self.partings.items() if names.issuperset(two)}
            _part(partings, names, self.filled, mine, 0)
            for two, parting in other.partings.items():
                known = partings.get(two)
                if (known is None or known.records <= FEW) and names.issuperset(two):
                    _add(partings, two, parting.first.after(before), parting.records)
            _part(partings, names, other.filled, theirs, before)
            self.partings = partings
            self.filled = {key: self.filled.get(key, 0) for key in names}
        for key in self.filled:
            self.filled[key] += other.filled.get(key, 0)

    def add_one_value(self) -> None:
        """Add a record in which each of the features has one value."""
        for key in self.filled:
            self.filled[key] += 1

    def groups(self, features: Mapping[Key, Feature]) -> list[list[Key]]:
        """Lists of varying length that agree in every record, each group in the order of `features`."""
        found: list[list[Key]] = []
        for key in features:
            if key in self.names and varies(features[key]) and most(features[key]) > 1:
                for group in found:
                    if pair(group[0], key) not in self.partings:
                        group.append(key)
                        break
                else:
                    found.append([key])
        return [group for group in found if len(group) > 1]

    def near(self, features: Mapping[Key, Feature], least: int) -> Iterator[tuple[Key, Key, Divergence]]:
        """Pairs of varying length that agreed in `least` records or more, both with values, before they did not; or, if
        they differ in a few records alone, that agree in as many more for each of those.
        """
        varying = {
            key: feature.filled.at
            for key, feature in features.items()
            if feature.filled and varies(feature) and most(feature) > 1
        }
        for (one, other), parting in self.partings.items():
            if one in varying and other in varying:
                alike = min(self.filled[one], self.filled[other]) - parting.records
                few = parting.records <= FEW and alike >= least * parting.records
                if few or parting.first.at - max(varying[one], varying[other]) >= least:
                    yield one, other, parting

    def unlooked(self, features: Mapping[Key, Feature]) -> int:
        """How many features have lists of varying length, and were compared with no other."""
        others = (feature for key, feature in features.items() if key not in self.filled)
        return sum(1 for feature in others if varies(feature) and most(feature) > 1)


def varies(feature: Feature) -> bool:
    """Whether its lists, or its steps, have different lengths in different records."""
    low, high = feature.steps or (feature.shortest, feature.longest)
    return low != high or (feature.missing is not None and high > 0)


def most(feature: Feature) -> int:
    """The most values of its lists, or the most steps."""
    return feature.steps[1] if feature.steps else feature.longest


def pair(one: Key, other: Key) -> Two:
    """Two names in their order."""
    return (one, other) if one < other else (other, one)


def _add(partings: dict[Two, Divergence], two: Two, first: FirstSeen, records: int) -> None:
    """Add the records of a later stretch in which two lists differ."""
    known = partings.get(two)
    if known is not None:
        first, records = known.first, known.records + records
    partings[two] = Divergence(first, min(records, FEW + 1))


def _part(
    partings: dict[Two, Divergence],
    names: set[Key],
    filled: Mapping[Key, int],
    features: Mapping[Key, Feature],
    before: int,
) -> None:
    """Part the features that a stretch has not met from those that have a value in it."""
    new = names - filled.keys()
    for key in names & filled.keys() if new else ():
        met = features[key].filled
        if met is not None:
            for other in new:
                _add(partings, pair(key, other), met.after(before), filled[key])


def _plain(found: Lengths) -> int | tuple[int, ...]:
    """Lengths as they can be compared: one number where they are all the same."""
    if isinstance(found, int):
        return found
    return found[0] if found.count(found[0]) == len(found) else tuple(found)


def _differences(one: int | tuple[int, ...], other: int | tuple[int, ...], records: int) -> tuple[int, int]:
    """The first record in which lengths differ, and in how many they do, as far as that is counted."""
    if isinstance(one, int):
        one, other = other, one
    if isinstance(one, int):
        return 0, min(records, FEW + 1)
    numbers = compress(count(), map(ne, one, repeat(other) if isinstance(other, int) else other))
    found = list(islice(numbers, FEW + 1))
    return found[0], len(found)
