"""Summarize the features of many records: what a data set of Examples, SequenceExamples or OFRecords holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tfrtool.payload.schema.feature import Feature, Key, rank
from tfrtool.payload.schema.values import DETAILS, DISTINCT, RecordPlace

FEATURES = 1 << 15
"""Features that are described, those of most records: a wide table has thousands of columns, and a writer that makes
names out of values has millions, each in a few records.
"""
NAMES = 1 << 26
"""Bytes that the names of these features may take in all."""
_ALL_DISTINCT, _ALL_DETAILS = DISTINCT << 12, DETAILS << 12
"""Different integers, and details of one content, that are told apart in all features together."""
_CROWDED = 1 << 12
"""Features from which on none may have as many as it likes."""


@dataclass(slots=True)
class Table:
    """The features of a stretch of records; `Table()` is the identity of `merge`, which is associative.

    `first` is the first record; `more` says that there were features beyond `FEATURES`, which are not described.
    `whole` has the features that no record lacks. `sequences` counts the records that have feature lists.

    Which of too many features are kept is decided as they come. So a sum that was never cut is the same however its
    stretches are, and of one that was this holds for the features of all records. Another feature that is kept
    may have been dropped before: then its counts are too low.
    """

    records: int = 0
    first: RecordPlace | None = None
    sequences: int = 0
    features: dict[Key, Feature] = field(default_factory=dict)
    more: bool = False
    named: int = field(init=False, compare=False)
    whole: set[Key] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.named = sum(len(name) for _, name in self.features)
        self.whole = {key for key, feature in self.features.items() if feature.missing is None}

    def merge(self, other: Table, *, spent: bool = False) -> None:
        """Add a later stretch of records to this one; `other` stays as it is unless `spent`, as of no more use."""
        if not other.records:
            return
        before, mine, theirs = self.records, self.features, other.features
        for key, feature in theirs.items():
            known = mine.get(key)
            if known is None:
                known = mine[key] = feature if spent else feature.copy()
                self.named += len(key[1])
                if before:
                    known.missing = self.first
                elif known.missing is None:
                    self.whole.add(key)
            else:
                known.merge(feature)
                if known.missing is None and feature.missing is not None:
                    known.missing = feature.missing
                    self.whole.discard(key)
        if not self.whole <= theirs.keys():
            for key in self.whole - theirs.keys():
                mine[key].missing = other.first
                self.whole.discard(key)
        self.records += other.records
        self.sequences += other.sequences
        self.more |= other.more
        if self.first is None:
            self.first = other.first
        if len(mine) > 2 * FEATURES or self.named > 2 * NAMES:
            self.cut()
        elif len(mine) > _CROWDED:
            self._share(theirs)

    def cut(self) -> None:
        """Drop what is beyond the bounds. Between cuts twice as many are kept, so that cutting takes linear time."""
        if len(self.features) > FEATURES or self.named > NAMES:
            kept = self._kept()
            self.features = {key: feature for key, feature in self.features.items() if key in kept}
            self.named = sum(len(name) for _, name in self.features)
            self.whole &= kept
            self.more = True
        if len(self.features) > _CROWDED:
            self._share(self.features)

    def _kept(self) -> set[Key]:
        """Return the features of most records, as far as names leave room."""
        features = self.features
        kept: set[Key] = set()
        size = 0
        for key in sorted(features, key=lambda key: (-features[key].present, rank(key))):
            if len(kept) >= FEATURES:
                break
            if size + len(key[1]) <= NAMES:
                kept.add(key)
                size += len(key[1])
        return kept

    def _share(self, keys: Iterable[Key]) -> None:
        """Hold some features to their share of what is told apart in all.

        The more features there are the smaller it is, so that what one sum forgets no later sum can still know.
        """
        count = min(len(self.features), FEATURES)
        for key in keys:
            self.features[key].hold(_ALL_DISTINCT // count, max(1, _ALL_DETAILS // count))
