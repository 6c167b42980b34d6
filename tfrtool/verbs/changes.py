"""What did not come through a conversion by rows, counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfrtool.payload.rows_row import Change

_MOST = 10_000
"""Different changes that are told apart; what comes after is counted without the name of its feature."""
_MOST_NAMES = 1 << 22
"""The same for the lengths of their names together."""


@dataclass(slots=True)
class Counted:
    """One change, in how many `records`, and the numbers of the first and of the last of them."""

    feature: str
    what: str
    lost: bool
    records: int
    first: int
    last: int


class Changes:
    """Counts changes, record by record."""

    def __init__(self) -> None:
        self._found: dict[Change, Counted] = {}
        self._names = 0

    def add(self, changes: list[Change], record: int) -> None:
        """Count the changes of one record, each once."""
        for change in dict.fromkeys(changes):
            found = self._found.get(change)
            if found is None and (len(self._found) >= _MOST or self._names + len(change.feature) > _MOST_NAMES):
                change = change._replace(feature="")
                found = self._found.get(change)
            if found is None:
                self._names += len(change.feature)
                self._found[change] = Counted(change.feature, change.what, change.lost, 1, record, record)
            elif found.last != record:
                found.records += 1
                found.last = record

    @property
    def lost(self) -> bool:
        """Whether anything was lost, and not only spelled in another way."""
        return any(change.lost for change in self._found)

    def __iter__(self) -> Iterator[Counted]:
        return iter(self._found.values())
