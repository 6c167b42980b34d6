"""Does an index agree with its file: each line of the one is held against the frames of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tfrtool.framing.layout import FRAMING
from tfrtool.framing.walk import Batch
from tfrtool.verbs.index import IndexFile, Line, frames, lines_of

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage

TOLD = 20
"""Disagreements that are told one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class IndexFault:
    """A line of an index that does not agree with the file, or that is missing: then the number is where it belongs.

    Lines are numbered from 1. `offset` and `size` are what the line says, in bytes, None where it says no numbers or is
    missing.
    """

    line: int
    offset: int | None
    size: int | None
    message: str


class IndexCheck:
    """Takes in a file in its order, by `batch` and `damage` and last `end`, each of which yields what disagrees.

    A wrong line is told once: lines are matched by their offset, so one that is missing or too many puts no other out
    of step.
    """

    def __init__(self, path: str, unseen: Callable[[int, int, int], Damage | None] | None = None) -> None:
        """`unseen` is asked for the damage of a frame whose payload nobody looked at, by its offset, its size and its
        number; only of frames without a line, since a damaged record has none."""
        self._unseen = unseen
        self._index = IndexFile(path)
        self._line, self._next = self._index.peek()
        self.alien = _why_alien(self._line, self._next)
        """What it is instead of an index, None where it is one."""
        self._passed = -1  # where the last frame began that was held against a line
        self.faults = 0
        """Disagreements so far."""

    @property
    def replaceable(self) -> bool:
        """Whether an index may be advised to be written in its place: it is one, or nothing."""
        return not self.alien or self._line is None

    def batch(self, batch: Batch) -> Iterator[IndexFault | Damage]:
        """Sound frames: each has its line. What turns out to be damaged all the same is yielded, too."""
        if self._index.passes(lines_of(batch), batch.count):
            self._line, self._next = self._index.peek()
            self._passed = batch.end - batch.sizes[-1] - FRAMING
            return
        for number, (offset, size) in enumerate(frames(batch), batch.first):
            line = self._line
            if line is not None and line.offset == offset and line.size == size:
                self._advance()
            elif damage := self._looked_at(number, offset, size):
                yield damage
                yield from self.damage(damage)
                continue
            else:
                yield from self._told(self._frame(number, offset, size))
            self._passed = offset

    def damage(self, damage: Damage) -> Iterator[IndexFault]:
        """A damaged range: no line leads into it."""
        if not self.alien:
            yield from self._told(self._before(damage.end, damage))

    def end(self, size: int) -> Iterator[IndexFault]:
        """The end of the file, which has `size` bytes."""
        if self._line is None or not self.alien:
            yield from self._told(self._rest(size))
        elif not self.faults:
            yield from self._told(iter([IndexFault(1, None, None, self.alien)]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._index.__exit__()

    def _advance(self) -> None:
        self._index.skip()
        self._line, self._next = self._index.peek()

    def _told(self, faults: Iterator[IndexFault]) -> Iterator[IndexFault]:
        for fault in faults:
            self.faults += 1
            if self.faults <= TOLD:
                yield fault

    def _looked_at(self, number: int, offset: int, size: int) -> Damage | None:
        told = self.alien and (self.faults or self._line is not None)
        if self._unseen is None or told or (self._line and self._line.offset == offset):
            return None
        return self._unseen(offset, size, number)

    def _frame(self, number: int, offset: int, size: int) -> Iterator[IndexFault]:
        if self.alien:
            if not self.faults:
                yield IndexFault(1, None, None, self.alien)
            return
        if self._line and self._next and self._next.offset == offset + size and self._line.offset != offset:
            yield _fault(self._line, f"record {number} begins at byte {offset} and takes {size} bytes with its framing")
            self._advance()
            return
        yield from self._before(offset, None)
        while (line := self._line) and line.offset is not None and line.offset > offset and self._out_of_order(line):
            yield _fault(line, "a smaller offset follows, and the lines have to be in the order of the file")
            self._advance()
            yield from self._before(offset, None)
        if line is None or line.offset != offset:
            yield IndexFault(
                self._index.lines + 1, None, None, f"record {number}, {size} bytes at byte {offset}, has no line"
            )
            return
        if line.size != size:
            yield _fault(line, f"the record at byte {offset} takes {size} bytes with its framing")
        self._advance()

    def _out_of_order(self, line: Line) -> bool:
        after = self._next
        return after is not None and after.offset is not None and after.offset <= (line.offset or 0)

    def _before(self, offset: int, damage: Damage | None) -> Iterator[IndexFault]:
        """The lines that come before an offset, none of which is right."""
        while (line := self._line) is not None and (line.offset is None or line.offset < offset):
            if line.offset is None:
                yield _fault(line, "these are not two numbers, an offset and a size")
            elif damage is not None and line.offset >= damage.begin:
                yield _fault(line, f"bytes {damage.begin} to {damage.end} are damaged: {damage.fault}")
            elif line.offset <= self._passed:
                yield _fault(
                    line, f"byte {self._passed} was reached above: each line has to lead farther than the last"
                )
            else:
                yield _fault(line, f"no sound record begins at byte {line.offset}")
            self._advance()

    def _rest(self, size: int) -> Iterator[IndexFault]:
        yield from self._before(size, None)
        while (line := self._line) is not None:
            if line.offset is None:
                yield from self._before(0, None)
                continue
            yield _fault(line, f"the file ends at byte {size}")
            self._advance()


def _why_alien(first: Line | None, second: Line | None) -> str | None:
    if first is None:
        return "the index is empty, and the file holds records"
    if first.offset is not None or (second is not None and second.offset is not None):
        return None
    return f"'{first.text}': the file begins so, and is no index"


def _fault(line: Line, message: str) -> IndexFault:
    said = f"'{line.text}': " if line.offset is None else ""
    return IndexFault(line.number, line.offset, line.size, said + message)
