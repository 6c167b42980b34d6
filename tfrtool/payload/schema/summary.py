"""A batch of payloads as a table: the pure twin of `kernel.summarise`.

The walk gives the entries of all records in one row. Where every record has the same features in the same order, which
is how most writers write, each feature is every n-th of them, and its values are taken together; else they are sorted
by feature first. Records of an unusual form are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import sub

from tfrtool.payload.schema.again import add_again
from tfrtool.payload.schema.batch import Batch
from tfrtool.payload.schema.numbers import Broken
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Place
from tfrtool.payload.schema.walker import Header, Known, gather, gather_large
from tfrtool.payload.wire import Buffer, WireError

Misfit = tuple[int, WireError]
"""The number of a record in its batch, and why it does not parse."""

LARGE = 1 << 13
"""Bytes of a record from which on nothing of it is copied that need not be."""
_STRETCH = 1 << 20
_SPARE = 1 << 12  # bytes before the first record that are rather copied than offsets counted anew
_ODD = 8
"""Where one record in so many is of an unusual form, all are read one by one."""


def add(
    total: Table, view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str, known: Known
) -> Sequence[Misfit]:
    """Add the payloads to a table, and give those that are not in it, as `summarise` does."""
    one_large = len(begins) == 1 and ends[0] - begins[0] >= LARGE
    if one_large and add_again(total, view, begins[0], ends[0], Place(path, first), known):
        return ()
    table, misfits = summarise(view, begins, ends, first, path, known)
    total.merge(table, spent=True)
    return misfits


def summarise(
    view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str, known: Known
) -> tuple[Table, list[Misfit]]:
    """The table of the payloads `view[begins[i]:ends[i]]`, which are records `first`, `first + 1` … of the file.

    Those that do not parse (see `read_record`) are not in the table, but in the list.
    """
    total: Table | None = None
    misfits: list[Misfit] = []
    at, count = 0, len(begins)
    all_small = count > 0 and ends[-1] - begins[0] <= _STRETCH and max(map(sub, ends, begins)) < LARGE
    while at < count:
        small = all_small or ends[at] - begins[at] < LARGE
        stop = count if all_small else at + 1
        while stop < count and (ends[stop] - begins[stop] < LARGE) == small and ends[stop] - begins[at] < _STRETCH:
            stop += 1
        stretch = _Stretch(view, begins[at:stop], ends[at:stop], first + at, path, known, small)
        for table, bad in stretch.tables():
            if total is None or not total.records:
                total = table
            else:
                total.merge(table)
            misfits += ((at + number, error) for number, error in bad)
        at = stop
    if total is None:
        return Table(), misfits
    total.cut()
    return total, misfits


class _Stretch:
    """Records of like size that follow one another."""

    def __init__(
        self,
        view: memoryview,
        begins: Sequence[int],
        ends: Sequence[int],
        first: int,
        path: str,
        known: Known,
        small: bool,
    ) -> None:
        self.first = first
        self.path = path
        self.known = known
        self.p: Buffer = view
        self.begins, self.ends = begins, ends
        if small:
            base = begins[0]
            if base > _SPARE:
                self.begins, self.ends = [begin - base for begin in begins], [end - base for end in ends]
            else:
                base = 0
            p = self.p = bytes(view[base : ends[-1]])
            found = gather(p, self.begins, self.ends, known)
        else:
            found = gather_large(view, begins, ends, known)
        self.headers, self.offsets, self.marks, self.odd = found

    def tables(self) -> Iterator[tuple[Table, list[Misfit]]]:
        """The tables of the records, in order, and those that do not parse."""
        count = len(self.begins)
        if len(self.odd) * _ODD > count:
            yield self._one_by_one(0, count)
            return
        at = 0
        for number in [*self.odd, count]:
            if at < number:
                yield self._together(at, number)
            if number < count:
                yield self._one_by_one(number, number + 1)
            at = number + 1

    def _one_by_one(self, begin: int, end: int) -> tuple[Table, list[Misfit]]:
        from tfrtool.payload.schema.single import one_by_one  # which most files do not need

        begins, ends = self.begins[begin:end], self.ends[begin:end]
        table, bad = one_by_one(self.p, begins, ends, self.first + begin, self.path, self.known.family)
        return table, [(begin + number, error) for number, error in bad]

    def _together(self, begin: int, end: int) -> tuple[Table, list[Misfit]]:
        """Records of the usual form, whose entries are gathered."""
        before = self.marks[begin - 1] if begin else 0
        headers, offsets, marks = self.headers, self.offsets, self.marks
        if begin or end < len(self.marks):
            headers, offsets = headers[before : marks[end - 1]], offsets[before : marks[end - 1]]
            marks = [mark - before for mark in marks[begin:end]]
        try:
            return self._batch(headers, offsets, marks, range(self.first + begin, self.first + end)), []
        except Broken:
            return self._one_by_one(begin, end)

    def _batch(self, headers: list[Header], offsets: list[int], marks: list[int], records: range) -> Table:
        width = marks[0]
        regular = range(width, len(headers) + 1, width or 1)
        if len(headers) == width * len(marks) and (len(marks) == 1 or marks == list(regular)):
            batch = Batch(self.p, self.path, records)
            if batch.even(headers, offsets, width):
                return batch.table()
        batch = Batch(self.p, self.path, records)
        batch.uneven(headers, offsets, marks)
        return batch.table()
