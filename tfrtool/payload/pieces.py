"""Where a field that is set more than once stands in a message, as often as one likes, with none of it held.

A value takes two bytes of a record at least, and its place 150 bytes of memory. So where there are many they are found
again each time: a record takes no more memory than it has features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfrtool.payload.wire import LEN, Buffer, fields

Spans = Iterable[tuple[int, int]]
"""`(begin, end)` of some stretches of a payload, in order; can be gone through again and again."""


class Pieces:
    """The values of the sized field `number` of a message that lies in the stretches `within`, from `since` on.

    The message was walked before: nothing is raised.
    """

    __slots__ = ("_number", "_since", "_view", "_within")

    def __init__(self, view: Buffer, within: Spans, number: int, since: int = 0) -> None:
        self._view, self._within, self._number, self._since = view, within, number, since

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for begin, end in self._within:
            for number, wire, first, last in fields(self._view, begin, end):
                if number == self._number and wire == LEN and first >= self._since:
                    yield first, last
