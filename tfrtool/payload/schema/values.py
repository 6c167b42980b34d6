"""Summarize the values of one feature and kind in bounded sums that merge.

Every `merge` here changes the left operand, and is associative: whatever the pieces that a stream is summarised in,
the sum is the same. What could grow with the data is cut by a rule that looks at each item alone, never at its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

DISTINCT = 1000
"""Different integers that are told apart; a feature with more is no label."""
DETAILS = 16
"""Different details (sizes of images, rates of sound) that are kept for one content."""
INT32 = (-(2**31), 2**31 - 1)


class RecordPlace(NamedTuple):
    """A record: the path of its file, and its number there, from 0."""

    path: str
    record: int


@dataclass(slots=True)
class Numbers:
    """Integers or floats: the least and the greatest finite one, and how many are not finite.

    `distinct` has the different integers, or is None once there are more than `DISTINCT`; floats leave it None.
    """

    distinct: set[int] | None
    values: int = 0
    least: float = inf
    greatest: float = -inf
    nan: int = 0
    infinite: int = 0

    def merge(self, other: Numbers) -> None:
        self.values += other.values
        if other.least < self.least:
            self.least = other.least
        if other.greatest > self.greatest:
            self.greatest = other.greatest
        self.nan += other.nan
        self.infinite += other.infinite
        self.distinct = united(self.distinct, other.distinct)

    def copy(self) -> Numbers:
        distinct = None if self.distinct is None else set(self.distinct)
        return Numbers(distinct, self.values, self.least, self.greatest, self.nan, self.infinite)

    @property
    def fits_int32(self) -> bool:
        """Return whether every integer fits 32 bits, with its sign."""
        return INT32[0] <= self.least and self.greatest <= INT32[1]


def united(one: set[int] | None, other: set[int] | None) -> set[int] | None:
    """Return the union, or None where it would be of more than `DISTINCT`; changes `one`."""
    if one is None or other is None:
        return None
    one |= other
    return one if len(one) <= DISTINCT else None


@dataclass(slots=True)
class ContentCount:
    """One content among the values of a feature: how many hold it, the first record, and details of its headers.

    `details` has the shortest `DETAILS` of them, each with its number; `more` says that there were others. `forms` has
    how many images have which channels, of how many bits.
    """

    values: int
    first: RecordPlace
    details: dict[str, int] = field(default_factory=dict)
    more: bool = False
    forms: dict[str, int] = field(default_factory=dict)

    def count(self, detail: str, form: str) -> None:
        """Count a value with what its header says, "" for nothing. `cut` what may have grown too long."""
        self.values += 1
        if form:
            self.forms[form] = self.forms.get(form, 0) + 1
        if detail:
            self.details[detail] = self.details.get(detail, 0) + 1

    def merge(self, other: ContentCount) -> None:
        self.values += other.values
        for form, count in other.forms.items():
            self.forms[form] = self.forms.get(form, 0) + count
        for detail, count in other.details.items():
            self.details[detail] = self.details.get(detail, 0) + count
        self.more |= other.more
        if len(self.details) > DETAILS:
            self.cut()

    def cut(self, most: int = DETAILS) -> None:
        """Keep the shortest details: a rule by which none comes back that was dropped."""
        if len(self.details) > most:
            kept = shortest(self.details, most)
            self.details = {detail: count for detail, count in self.details.items() if detail in kept}
            self.more = True

    def copy(self) -> ContentCount:
        return ContentCount(self.values, self.first, dict(self.details), self.more, dict(self.forms))


def shortest(names: Iterable[str], count: int) -> set[str]:
    """Return the first `count` texts by length, then by order."""
    return set(sorted(names, key=lambda name: (len(name), name))[:count])


@dataclass(slots=True)
class Blobs:
    """Bytes values: their sizes, and what they hold. `contents` goes from a kind of content to who holds it."""

    values: int = 0
    bytes: int = 0
    shortest: float = inf
    longest: int = 0
    contents: dict[str, ContentCount] = field(default_factory=dict)

    def merge(self, other: Blobs) -> None:
        self.values += other.values
        self.bytes += other.bytes
        self.shortest = min(self.shortest, other.shortest)
        self.longest = max(self.longest, other.longest)
        for kind, held in other.contents.items():
            if known := self.contents.get(kind):
                known.merge(held)
            else:
                self.contents[kind] = held.copy()

    def copy(self) -> Blobs:
        contents = {kind: held.copy() for kind, held in self.contents.items()}
        return Blobs(self.values, self.bytes, self.shortest, self.longest, contents)


def values_for(kind: str | None) -> Numbers | Blobs | None:
    """Return an empty sum for the values of a list of that kind; a feature without a kind has no values."""
    if kind is None:
        return None
    if kind == "bytes":
        return Blobs()
    return Numbers(distinct=set() if kind.startswith("int") else None)
