"""Define what a mapping may do, what it refuses and what it changed, and which features it keeps under which names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tfrtool.payload.text import text_of
from tfrtool.payload.wire.example import LISTS, Layout, ListKind
from tfrtool.payload.wire.reader import LONG_NAME
from tfrtool.report import About, Loss, LossKind
from tfrtool.suggestion import Suggestion

_MOST = 1 << 16


class NamesSeen:
    """What was asked for and met in a record: names and patterns to choose and rename by, names of which the kind is
    given, and whether the prefix that is stripped was."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.types: set[bytes] = set()
        self.prefix = False

    def merge(self, other: NamesSeen) -> None:
        """Take in what was met elsewhere."""
        self.names |= other.names
        self.types |= other.types
        self.prefix = self.prefix or other.prefix


class NameMapping:
    """Names in the output for names in the input. `seen` has what was asked for and met.

    `renamed`, where it is given, learns the names in the input of features that were met and have another one in the
    output, by that.
    """

    def __init__(self, rules: Rules, renamed: dict[bytes, bytes] | None = None) -> None:
        self._rules = rules
        self._select = tuple(map(Pattern, rules.select))
        self._drop = tuple(map(Pattern, rules.drop))
        self._known: dict[bytes, bytes | None] = {}
        self._renamed = renamed
        self.seen = NamesSeen()

    def target(self, name: bytes) -> bytes | None:
        """Return the name in the output, or None for a feature that is left out."""
        if not self._rules.renames:
            return name
        if name in self._known:
            return self._known[name]
        new = self._resolve(name)
        if len(name) <= LONG_NAME:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[name] = new
        if self._renamed is not None and new is not None and new != name:
            self._renamed[new] = name
        return new

    def _resolve(self, name: bytes) -> bytes | None:
        rules, text = self._rules, text_of(name)
        selected = [pattern.text for pattern in self._select if pattern.fits(text)]
        dropped = [pattern.text for pattern in self._drop if pattern.fits(text)]
        self.seen.names.update(selected, dropped)
        if (self._select and not selected) or dropped:
            return None
        if name in rules.rename:
            self.seen.names.add(text)
            return rules.rename[name]
        self.seen.prefix = self.seen.prefix or name.startswith(rules.strip_prefix)
        return name.removeprefix(rules.strip_prefix)


class Types:
    """Which features have their kind asked for by `Rules.types`, and under which name."""

    def __init__(self, rules: Rules) -> None:
        self._types = rules.types
        self._given = frozenset(rules.rename.values())

    def asked(self, name: bytes, new: bytes | None) -> bytes | None:
        """Return the name in the output, or else in the input, unless that becomes the name of another feature."""
        if new in self._types:
            return new
        return name if name in self._types and name not in self._given else None


class Pattern:
    """A pattern for names, of which `*` stands for any text.

    Looks for each part behind the one before, which takes time in proportion to the name, however many `*` there are; a
    regular expression would try all ways to share the name out.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._start, *self._parts = text.split("*")
        self._end = self._parts.pop() if self._parts else None

    def fits(self, name: str) -> bool:
        """Return whether it stands for this name."""
        if self._end is None:
            return name == self._start
        at, stop = len(self._start), len(name) - len(self._end)
        if at > stop or not name.startswith(self._start) or not name.endswith(self._end):
            return False
        for part in self._parts:
            found = name.find(part, at, stop)
            if found < 0:
                return False
            at = found + len(part)
        return True


Side = Layout
"""The messages that are written; read are these, and SequenceExamples to be flattened."""

KINDS: dict[Side, dict[ListKind, int]] = {
    layout: {kind: number for number, kind in lists.items()} for layout, lists in LISTS.items()
}
"""The field of each kind of list in a Feature."""
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
        """Return whether names are looked at at all."""
        return bool(self.select or self.drop or self.rename or self.strip_prefix)


STEPS_LEFT = LossKind("no-kind-steps", "steps without a kind, told as steps without values")


class Refused(ValueError):
    """A sound record that the rules do not let through: `what` is wrong with which `feature`, and what to do.

    `feature` is a name in the input, None where it is about the record as a whole. `hint` is as the `words` of a
    `Suggestion`, and `facts` all but that.
    """

    def __init__(self, feature: bytes | None, what: str, hint: str) -> None:
        where = "" if feature is None else f"feature '{text_of(feature)}': "
        self.facts = f"{where}{what}"
        super().__init__(f"{self.facts}; {Suggestion(words=hint)}")
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
        """Return what was gathered, the losses first, then the changes that lose nothing."""
        return sorted(filter(_has_records, self._found.values()), key=lambda loss: not loss.lost)

    @property
    def lost(self) -> bool:
        """Return whether any value is not in the output as it was."""
        return any(loss.lost for loss in self._found.values() if loss.records)


def _has_records(loss: Loss) -> bool:
    return loss.records > 0
