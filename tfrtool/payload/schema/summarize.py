"""Summarize a batch of payloads as a table.

The entries of all records come in one row. Where every record has the same features in the same order, which is how
most writers write, each feature is every n-th of them, and its values are taken together; else they are sorted by
feature first. Records of an uncommon form are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import sub

from tfrtool.payload.schema.columns import CODES, add_lists
from tfrtool.payload.schema.feature import Feature, Key, ListSummary
from tfrtool.payload.schema.packed_numbers import CONTINUED, Broken, floats, scalars
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, ContentCount, Numbers, RecordPlace
from tfrtool.payload.wire.example import PACKED, Column, EntryHeader, HeaderCache, entries, record_entries
from tfrtool.payload.wire.reader import Buffer, WireError


class FeatureBatch:
    """Gathers the features of some records, all from one buffer."""

    def __init__(self, p: Buffer, path: str, records: Sequence[int]) -> None:
        self.p = p
        self.path = path
        self.records = records
        self.features: dict[Key, Feature] = {}

    def place(self, number: int) -> RecordPlace:
        """Return the record of that number in the batch."""
        return RecordPlace(self.path, self.records[number])

    def table(self) -> Table:
        return Table(len(self.records), self.place(0), 0, self.features)

    def even(self, headers: list[EntryHeader], offsets: list[int], width: int) -> bool:
        """Add records that have `width` entries each. False if they do not have the same features in the same order."""
        columns = []
        for i in range(width):
            row = headers[i::width]
            kinds = set(row)
            column = row[0].column
            if len(kinds) > 1 and {header.column for header in kinds} != {column}:
                return False
            columns.append((column, row, kinds))
        if len({column.name for column, _, _ in columns}) < width:
            return False
        for i, (column, row, kinds) in enumerate(columns):
            feature = self.features[False, column.name] = Feature(column.name)
            feature.present = len(row)
            self._column(feature, column, row, kinds, offsets[i::width], None)
        return True

    def uneven(self, headers: list[EntryHeader], offsets: list[int], marks: list[int]) -> None:
        """Add records of any features in any order."""
        rows: dict[Column, tuple[list[EntryHeader], list[int], list[int]]] = {}
        records_of: dict[bytes, list[int]] = {}
        repeats: list[tuple[int, list[bytes]]] = []
        begin = 0
        for number, end in enumerate(marks):
            last = {headers[i].column.name: i for i in range(begin, end)}
            if len(last) < end - begin:
                repeats.append((number, [headers[i].column.name for i in range(begin, end)]))
            for name, i in last.items():
                of_column = rows.get(headers[i].column)
                if of_column is None:
                    of_column = rows[headers[i].column] = ([], [], [])
                of_column[0].append(headers[i])
                of_column[1].append(offsets[i])
                of_column[2].append(number)
                records_of.setdefault(name, []).append(number)
            begin = end
        count = len(marks)
        for name, numbers_of in records_of.items():
            self._add_feature(name, numbers_of, count)  # in the order in which they first occur
        for number, names in repeats:
            self._repeated(names, number)
        for column, (row, at, which) in rows.items():
            self._column(self.features[False, column.name], column, row, set(row), at, which)

    def _add_feature(self, name: bytes, which: list[int], count: int) -> None:
        feature = self.features[False, name] = Feature(name)
        feature.present = len(which)
        if len(which) < count:
            gap = next((i for i, number in enumerate(which) if i != number), len(which))
            feature.missing = self.place(gap)

    def _repeated(self, names: Iterable[bytes], number: int) -> None:
        seen: set[bytes] = set()
        twice: set[bytes] = set()
        for name in names:
            (twice if name in seen else seen).add(name)
        for name in twice:
            feature = self.features[False, name]
            feature.repeated += 1
            feature.first_repeated = feature.first_repeated or self.place(number)

    def _column(
        self,
        feature: Feature,
        column: Column,
        row: list[EntryHeader],
        kinds: set[EntryHeader],
        offsets: list[int],
        which: list[int] | None,
    ) -> None:
        """Add the entries of one feature and kind; `which` are their records, None for all."""
        lists = feature.lists(column.kind, self.place(which[0] if which else 0))
        lists.records += len(row)
        if isinstance(lists.values, Numbers) and column.note:
            lists.values.distinct = None

        def place(i: int) -> RecordPlace:
            return self.place(which[i] if which else i)

        found = add_lists(self.p, lists, row, kinds, offsets, place)
        shortest, longest = (found, found) if isinstance(found, int) else (min(found), max(found))
        if shortest < lists.shortest:
            lists.shortest = shortest
            lists.short_at = place(0 if isinstance(found, int) else found.index(shortest))
        if longest > lists.longest:
            lists.longest = longest
            lists.long_at = place(0 if isinstance(found, int) else found.index(longest))


_VARINT = 10  # bytes of the longest one
_MOST_FEATURES = 64  # so few that no bound of a table is near
_MARKED_MOST = 1 << 11  # columns that are looked through after each batch

Misfit = tuple[int, WireError]
"""The number of a record in its batch, and why it does not parse."""

LARGE = 1 << 13
"""Bytes of a record from which on nothing of it is copied that need not be."""
_STRETCH = 1 << 20
_SPARE = 1 << 12  # bytes before the first record that are rather copied than offsets counted anew
_ODD = 8
"""Where one record in so many is of an unusual form, all are read one by one."""


def add(
    total: Table,
    view: memoryview,
    begins: Sequence[int],
    ends: Sequence[int],
    first: int,
    path: str,
    known: HeaderCache,
) -> Sequence[Misfit]:
    """Add the payloads to a table, and give those that are not in it, as `summarise` does."""
    one_large = len(begins) == 1 and ends[0] - begins[0] >= LARGE
    if one_large and add_in_place(total, view, begins[0], ends[0], RecordPlace(path, first), known):
        return ()
    table, misfits = summarise(view, begins, ends, first, path, known)
    total.merge(table, spent=True)
    return misfits


def stop_counting(known: HeaderCache, table: Table) -> None:
    """Mark the columns of which too many different integers are known already, so that none need be told apart."""
    if len(known.columns) > _MARKED_MOST:
        return
    for column in known.columns.values():
        if column.note is None and column.kind in ("int64", "int32"):
            feature = table.features.get((False, column.name))
            lists = feature.kinds.get(column.kind) if feature else None
            if lists is not None and isinstance(lists.values, Numbers) and lists.values.distinct is None:
                column.note = True


def add_in_place(total: Table, view: memoryview, begin: int, end: int, place: RecordPlace, known: HeaderCache) -> bool:
    """Add a large record of the features that all before it have, each with one value, and return whether it is one.

    A table of one record and its merge take 22 us, as long as reading 200 KB; this takes a third of that.
    """
    features = total.features
    if not 0 < len(features) <= _MOST_FEATURES:
        return False
    try:
        found = record_entries(view, begin, end, known)
    except (IndexError, WireError):
        return False
    if len(found) != len(features):
        return False
    values: dict[bytes, tuple[Feature, ListSummary, int, int]] = {}
    for at, header in found:
        feature = features.get((False, header.column.name))
        if feature is None:
            return False
        lists = feature.kinds.get(header.column.kind)
        if lists is None:
            return False
        a, b = at + header.head, at + header.total
        if header.count == PACKED and isinstance(lists.values, Numbers):
            run = bytes(view[a : min(b, a + _VARINT)])
            if b - a > _VARINT or run[-1] >= 0x80 or len(run.translate(None, CONTINUED)) > 1:
                return False
        elif header.count != 1:
            return False
        values[header.column.name] = feature, lists, a, b
    if len(values) < len(found):
        return False
    for feature, lists, a, b in values.values():
        feature.present += 1
        lists.records += 1
        if lists.shortest > 1:
            lists.shortest, lists.short_at = 1, place
        if lists.longest < 1:
            lists.longest, lists.long_at = 1, place
        if isinstance(lists.values, Blobs):
            _add_blob(lists.values, view[a:b], place)
        elif isinstance(lists.values, Numbers):
            if lists.kind in CODES:
                floats([view[a:b]], CODES[lists.kind], lists.values)
            else:
                scalars([bytes(view[a:b])], b - a, lists.values, lists.kind == "int32")
    total.records += 1
    return True


def _add_blob(blobs: Blobs, value: memoryview, place: RecordPlace) -> None:
    from tfrtool.payload.content.detect import identify_content

    size = len(value)
    blobs.values += 1
    blobs.bytes += size
    if size < blobs.shortest:
        blobs.shortest = size
    if size > blobs.longest:
        blobs.longest = size
    kind, detail, form = identify_content(value)
    held = blobs.contents.get(kind)
    if held is None:
        held = blobs.contents[kind] = ContentCount(0, place)
    held.count(detail, form)
    held.cut()


def summarise(
    view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str, known: HeaderCache
) -> tuple[Table, list[Misfit]]:
    """Return the table of the payloads `view[begins[i]:ends[i]]`, which are records `first`, `first + 1` … of the file.

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
        known: HeaderCache,
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
            self.headers, self.offsets, self.marks, self.odd = entries(p, self.begins, self.ends, known)
        else:
            self.headers, self.offsets, self.marks, self.odd = entries(view, begins, ends, known)

    def tables(self) -> Iterator[tuple[Table, list[Misfit]]]:
        """Yield the tables of the records, in order, and those that do not parse."""
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
        from tfrtool.payload.schema.slow_walk import one_by_one  # which most files do not need

        begins, ends = self.begins[begin:end], self.ends[begin:end]
        table, bad = one_by_one(self.p, begins, ends, self.first + begin, self.path, self.known.layout)
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

    def _batch(self, headers: list[EntryHeader], offsets: list[int], marks: list[int], records: range) -> Table:
        width = marks[0]
        regular = range(width, len(headers) + 1, width or 1)
        if len(headers) == width * len(marks) and (len(marks) == 1 or marks == list(regular)):
            batch = FeatureBatch(self.p, self.path, records)
            if batch.even(headers, offsets, width):
                return batch.table()
        batch = FeatureBatch(self.p, self.path, records)
        batch.uneven(headers, offsets, marks)
        return batch.table()
