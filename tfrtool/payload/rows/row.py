"""Define rows: cells by name, and what is reported of a cell that does not come back as it was.

Floats and doubles are kept as their bits, so that each NaN stays the NaN that it was.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tfrtool.payload.wire.example import LISTS as LAYOUTS
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import WireError
from tfrtool.report import About, LossKind

Message = Literal["example", "sequence_example", "ofrecord"]
Values = list[bytes] | array  # type: ignore[type-arg]
"""A list for bytes; for numbers an array of type q, i, f or d."""

LISTS: dict[Message, dict[int, ListKind]] = {
    "example": LAYOUTS["example"],
    "sequence_example": LAYOUTS["example"],
    "ofrecord": LAYOUTS["ofrecord"],
}
"""Field of a feature -> the kind of list."""
_NAME = 100


class Cell(NamedTuple):
    """One feature: its kind, None where no list is set, and its values."""

    kind: ListKind | None
    values: Values


NO_KIND = Cell(None, [])


class RowChange(NamedTuple):
    """What does not come back, and of which feature: "" for the record itself. `about` fills the braces of `kind`."""

    feature: str
    kind: LossKind
    about: About = ()

    @property
    def what(self) -> str:
        """Return what became of it, for people."""
        return self.kind.words.format(*self.about)

    @property
    def lost(self) -> bool:
        """Return whether a value, a name or a kind is not there as it was."""
        return self.kind.lost


def shown(name: str) -> str:
    """Return a name in a sentence: quoted, and cut where it is long."""
    return repr(name) if len(name) <= _NAME else f"{name[:_NAME]!r}…"


class RowError(ValueError):
    """A payload or a row that cannot be what was asked for: `why`, and of which feature where one is to blame.

    `misfit` is where and why the payload departs from the message, where it is not that message.
    """

    def __init__(self, why: str, feature: str | None = None, misfit: WireError | None = None) -> None:
        super().__init__(why if feature is None else f"feature {shown(feature)}: {why}")
        self.why = why
        self.feature = feature
        self.misfit = misfit


@dataclass(slots=True)
class Row:
    """One record. `features` are in the order of its bytes; for a SequenceExample they are its context, and
    `feature_lists` has the steps of each list."""

    message: Message
    features: dict[str, Cell] = field(default_factory=dict)
    feature_lists: dict[str, list[Cell]] = field(default_factory=dict)
