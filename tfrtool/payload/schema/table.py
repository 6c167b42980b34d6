"""The features of many records: what a data set of Examples, SequenceExamples or OFRecords holds."""

from __future__ import annotations

from typing import ClassVar

from tfrtool.fields import Slotted
from tfrtool.payload.schema.agree import Agreement
from tfrtool.payload.schema.feature import Feature, Key, Rank, rank, within
from tfrtool.payload.schema.values import Place

FEATURES = 4096
"""Features that are described, those of the shortest names: the names that people give, where others are made by
programs. A rule by the name alone keeps a sum the same however a stream is cut.
"""


class Table(Slotted):
    """The features of a stretch of records; `Table()` is the identity of `merge`, which is associative.

    `first` is the first record; `more` says that there were features beyond `FEATURES`, which are not described;
    then `worst` is the highest rank of those that are. `whole` has the features that no record lacks.
    `sequences` counts the records that have feature lists.
    """

    __slots__ = ("agreement", "features", "first", "more", "records", "sequences", "whole", "worst")
    _aside: ClassVar[tuple[str, ...]] = ("whole", "worst")

    def __init__(
        self,
        records: int = 0,
        first: Place | None = None,
        sequences: int = 0,
        features: dict[Key, Feature] | None = None,
        agreement: Agreement | None = None,
        more: bool = False,
    ) -> None:
        self.records = records
        self.first = first
        self.sequences = sequences
        self.features = {} if features is None else features
        self.agreement = Agreement() if agreement is None else agreement
        self.more = more
        self.worst: Rank | None = None
        self.whole = {key for key, feature in self.features.items() if feature.missing is None}

    def merge(self, other: Table) -> None:
        """Add a later stretch of records to this one; `other` stays as it is."""
        if not other.records:
            return
        before, mine, theirs = self.records, self.features, other.features
        self.agreement.merge(other.agreement, mine, theirs, before)
        for key, feature in theirs.items():
            known = mine.get(key)
            if known is None:
                known = mine[key] = feature.copy(before)
                if before:
                    known.missing = self.first
                elif known.missing is None:
                    self.whole.add(key)
            else:
                known.merge(feature, before)
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
        if len(mine) > 2 * FEATURES:
            self.cut()

    def cut(self) -> None:
        """Drop what is beyond the bound. Between cuts twice as many are kept, so that cutting takes linear time."""
        if len(self.features) > FEATURES:
            kept = within(self.features, FEATURES)
            self.features = {key: feature for key, feature in self.features.items() if key in kept}
            self.worst = max(map(rank, kept))
            self.whole &= kept
            self.more = True
