"""Which features have lists of the same length in every record, and where two that had them first do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tfrtool.fields import Slotted
from tfrtool.payload.schema.feature import Feature, Key, Met, within
from tfrtool.payload.schema.values import Place

FEATURES = 64
"""Features whose lengths are compared: those of the shortest names."""

Lengths = int | list[int]
"""Length of the list in each record, or the one length that it has in all."""
Two = tuple[Key, Key]


class Agreement(Slotted):
    """`partings` has every pair of names that does not agree, with the first record in which it does not.

    A feature that is missing counts as an empty list. So where two stretches are joined, a feature that one of them has
    not met was empty in all of it.
    """

    __slots__ = ("names", "partings")

    def __init__(self, names: set[Key] | None = None, partings: dict[Two, Met] | None = None) -> None:
        self.names = set() if names is None else names
        self.partings = {} if partings is None else partings

    @classmethod
    def of(cls, lengths: Mapping[Key, Lengths], place: Callable[[int], Place]) -> Agreement:
        """The agreement in one stretch of records; `place` gives that of a record by its number in the stretch."""
        names = within(lengths, FEATURES)
        partings: dict[Two, Met] = {}
        groups: dict[int | tuple[int, ...], list[Key]] = {}
        for key in names:
            found = lengths[key]
            groups.setdefault(_plain(found), []).append(key)
        several = list(groups.items())
        for i, (one, keys) in enumerate(several):
            for other, others in several[i + 1 :]:
                at = _first_difference(one, other)
                met = Met(at, place(at))
                partings |= {pair(key, second): met for key in keys for second in others}
        return cls(names, partings)

    def merge(self, other: Agreement, mine: Mapping[Key, Feature], theirs: Mapping[Key, Feature], before: int) -> None:
        """Join a later stretch. The features are those of each stretch; this one has `before` records."""
        if other.names == self.names and not other.partings:
            return
        names = within(self.names | other.names, FEATURES)
        partings = {two: met for two, met in self.partings.items() if names.issuperset(two)}
        _part(partings, names - self.names, names & self.names, mine, 0)
        for two, met in other.partings.items():
            if two not in partings and names.issuperset(two):
                partings[two] = met.after(before)
        _part(partings, names - other.names, names & other.names, theirs, before)
        self.names, self.partings = names, partings

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

    def near(self, features: Mapping[Key, Feature], least: int) -> Iterator[tuple[Key, Key, Met]]:
        """Pairs of varying length that agreed in `least` records or more, both with values, before they did not."""
        varying = {
            key: feature.filled.at
            for key, feature in features.items()
            if feature.filled and varies(feature) and most(feature) > 1
        }
        for (one, other), met in self.partings.items():
            if one in varying and other in varying and met.at - max(varying[one], varying[other]) >= least:
                yield one, other, met


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


def _part(partings: dict[Two, Met], new: set[Key], old: set[Key], features: Mapping[Key, Feature], before: int) -> None:
    """Part the features that a stretch has not met from those that have a value in it, where they were together."""
    for key in old if new else ():
        met = features[key].filled
        if met is not None:
            for other in new:
                two, late = pair(key, other), met.after(before)
                if two not in partings or late.at < partings[two].at:
                    partings[two] = late


def _plain(found: Lengths) -> int | tuple[int, ...]:
    """Lengths as they can be compared: one number where they are all the same."""
    if isinstance(found, int):
        return found
    return found[0] if found.count(found[0]) == len(found) else tuple(found)


def _first_difference(one: int | tuple[int, ...], other: int | tuple[int, ...]) -> int:
    if isinstance(one, int):
        one, other = other, one
    if isinstance(one, int):
        return 0
    if isinstance(other, int):
        return next(i for i, length in enumerate(one) if length != other)
    return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
