"""What a mapping between OFRecord and Example may be told, what it refuses, and what it changed, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tfrtool.payload.usual import ListKind
from tfrtool.payload.values import text_of
from tfrtool.report import About, Loss, LossKind, Remedy

Side = Literal["example", "ofrecord"]
"""The messages that are written; read are these, and SequenceExamples to be flattened."""

KINDS: dict[Side, dict[ListKind, int]] = {
    "example": {"bytes": 1, "float": 2, "int64": 3},
    "ofrecord": {"bytes": 1, "float": 2, "double": 3, "int32": 4, "int64": 5},
}
"""The field of each kind of list in a Feature: TensorFlow's feature.proto, OneFlow's record.proto."""
TITLES = {"example": "Example", "ofrecord": "OFRecord", "sequence_example": "SequenceExample", "event": "Event"}


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of what the other side cannot hold, and which features come along under which names.

    - `double`, where an Example is written: `refuse` a list of doubles; take it as floats if that is `exact` to the
      last bit, else refuse; `round` to the nearest float; store its `bytes`, little-endian, as one value
    - `integers`, where an OFRecord is written from int64: `int64`, or `int32`, which refuses what does not fit
    - `types`: the kind of single features, by their name in the output, or else in the input, unless that becomes the
      name of another one; where they say nothing, `kinds`, by the name in the input
    - `no_kind`, `empty`, `unknown`: what to do with a feature of no list, a record of no features (where an OFRecord is
      written; OneFlow stops at both), and fields that the message does not have; to `drop` those leaves out features
      whose names are not UTF-8 too
    - `sequence`: `flatten` writes the lists of a SequenceExample as features, with the lengths of their steps beside
    - `select` (empty for all) and `drop`: names or patterns (`image/*`), by the name in the input
    - `rename`: from the name in the input; `strip_prefix` is taken off names that begin with it, unless renamed
    - `for_rows`: an OFRecord goes on to become a row, so that it does not matter what OneFlow stops at
    - `lists`: where an Example is written, the features that were feature lists of a SequenceExample and become so
      again, by their name in the output, each with the name of the feature that has the lengths of its steps
    """

    double: Literal["refuse", "exact", "round", "bytes"] = "exact"
    integers: Literal["int64", "int32"] = "int64"
    types: Mapping[bytes, ListKind] = field(default_factory=dict)
    kinds: Mapping[bytes, ListKind] = field(default_factory=dict)
    no_kind: Literal["keep", "drop", "refuse"] = "keep"
    empty: Literal["refuse", "skip", "keep"] = "refuse"
    unknown: Literal["refuse", "keep", "drop"] = "refuse"
    sequence: Literal["refuse", "flatten"] = "refuse"
    select: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rename: Mapping[bytes, bytes] = field(default_factory=dict)
    strip_prefix: bytes = b""
    lists: Mapping[bytes, bytes] = field(default_factory=dict)
    for_rows: bool = False

    @property
    def renames(self) -> bool:
        """Whether names are looked at at all."""
        return bool(self.select or self.drop or self.rename or self.strip_prefix)


STEPS_LEFT = LossKind("no-kind-steps", "steps without a kind, told as steps without values")


class Refused(ValueError):
    """A sound record that the rules do not let through: `what` is wrong with which `feature`, and what to do.

    `feature` is a name in the input, None where it is about the record as a whole. `hint` is as the `words` of a
    `Remedy`, and `facts` all but that.
    """

    def __init__(self, feature: bytes | None, what: str, hint: str) -> None:
        where = "" if feature is None else f"feature '{text_of(feature)}': "
        self.facts = f"{where}{what}"
        super().__init__(f"{self.facts}; {Remedy(words=hint)}")
        self.feature = feature
        self.what = what
        self.hint = hint


class Losses:
    """Gathers losses; what happens to one feature in many records is one loss.

    Holds at most `MOST` of them, and names of `MOST_BYTES`: hostile names are then told together, without one.
    """

    MOST = 10_000
    MOST_BYTES = 1 << 22

    def __init__(self) -> None:
        self._found: dict[tuple[bytes | None, LossKind, About], Loss] = {}
        self._bytes = 0

    def add(self, feature: bytes | None, kind: LossKind, record: int, about: About = ()) -> None:
        """Note what happened to a feature in the record of that number; `about` fills the braces of its words."""
        loss = self.of(feature, kind, record, about)
        if loss.last != record:
            loss.records += 1
            loss.last = record

    def of(self, feature: bytes | None, kind: LossKind, record: int, about: About = ()) -> Loss:
        """The loss of that feature and that sort, of no records if it was not there; for who counts by itself."""
        loss = self._found.get((feature, kind, about))
        if loss is None:
            size = len(feature or b"")
            if len(self._found) >= self.MOST or self._bytes + size > self.MOST_BYTES:
                feature, size = None, 0
            self._bytes += size
            loss = self._found.setdefault((feature, kind, about), Loss(feature, kind, about, 0, record, -1))
        return loss

    def all(self) -> list[Loss]:
        """What was gathered, the losses first, then the changes that lose nothing."""
        return sorted(filter(_happened, self._found.values()), key=lambda loss: not loss.lost)

    @property
    def lost(self) -> bool:
        """Whether any value is not in the output as it was."""
        return any(loss.lost for loss in self._found.values() if loss.records)


def _happened(loss: Loss) -> bool:
    return loss.records > 0
