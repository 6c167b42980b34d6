"""The features of a batch of records, gathered from their entries: which stand where, then all values of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfrtool.payload.schema.agree import FEATURES, Agreement, Lengths
from tfrtool.payload.schema.feature import Feature, Key, Met, within
from tfrtool.payload.schema.lists import add_lists
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Numbers, Place
from tfrtool.payload.schema.walker import Column, Header
from tfrtool.payload.wire import Buffer


class Batch:
    """Gathers the features of some records, all from one buffer."""

    def __init__(self, p: Buffer, path: str, records: Sequence[int]) -> None:
        self.p = p
        self.path = path
        self.records = records
        self.features: dict[Key, Feature] = {}
        self.lengths: dict[Key, Lengths] = {}

    def place(self, number: int) -> Place:
        """The record of that number in the batch."""
        return Place(self.path, self.records[number])

    def table(self) -> Table:
        count = len(self.records)
        agreement = Agreement.of(self.lengths, count, self.place)
        return Table(count, self.place(0), 0, self.features, agreement)

    def even(self, headers: list[Header], offsets: list[int], width: int) -> bool:
        """Add records that have `width` entries each. False if they do not have the same features in the same order."""
        columns = []
        for i in range(width):
            row = headers[i::width]
            kinds = set(row)
            column = row[0].column
            if len(kinds) > 1 and {header.column for header in kinds} != {column}:
                return False
            columns.append((column, row, kinds))
        if len({column.key for column, _, _ in columns}) < width:
            return False
        for i, (column, row, kinds) in enumerate(columns):
            feature = self.features[column.key] = Feature(column.key[1])
            feature.present = len(row)
            self.lengths[column.key] = self._column(feature, column, row, kinds, offsets[i::width], None)
        return True

    def uneven(self, headers: list[Header], offsets: list[int], marks: list[int]) -> None:
        """Add records of any features in any order."""
        rows: dict[Column, tuple[list[Header], list[int], list[int]]] = {}
        stands: dict[Key, list[int]] = {}
        repeats: list[tuple[int, list[Key]]] = []
        begin = 0
        for number, end in enumerate(marks):
            last = {headers[i].column.key: i for i in range(begin, end)}
            if len(last) < end - begin:
                repeats.append((number, [headers[i].column.key for i in range(begin, end)]))
            for key, i in last.items():
                of_column = rows.get(headers[i].column)
                if of_column is None:
                    of_column = rows[headers[i].column] = ([], [], [])
                of_column[0].append(headers[i])
                of_column[1].append(offsets[i])
                of_column[2].append(number)
                stands.setdefault(key, []).append(number)
            begin = end
        count = len(marks)
        for key, numbers_of in stands.items():
            self._stands(key, numbers_of, count)  # in the order in which they are first met
        for number, keys in repeats:
            self._repeated(keys, number)
        compared = within(stands, FEATURES)
        for column, (row, at, which) in rows.items():
            found = self._column(self.features[column.key], column, row, set(row), at, which)
            if column.key in compared:
                self._lengths(column.key, found, which, count)

    def _stands(self, key: Key, which: list[int], count: int) -> None:
        feature = self.features[key] = Feature(key[1], key[0])
        feature.present = len(which)
        if len(which) < count:
            gap = next((i for i, number in enumerate(which) if i != number), len(which))
            feature.missing = self.place(gap)

    def _repeated(self, keys: Iterable[Key], number: int) -> None:
        seen: set[Key] = set()
        twice: set[Key] = set()
        for key in keys:
            (twice if key in seen else seen).add(key)
        for key in twice:
            feature = self.features[key]
            feature.repeated += 1
            feature.first_repeated = feature.first_repeated or self.place(number)

    def _lengths(self, key: Key, found: Lengths, which: Sequence[int], count: int) -> None:
        """Keep the lengths that a column gives: those of some records, if other kinds or gaps have the others."""
        if isinstance(found, int) and len(which) == count:
            self.lengths[key] = found
            return
        known = self.lengths.setdefault(key, [0] * count)
        assert isinstance(known, list)
        if isinstance(found, int):
            for number in which:
                known[number] = found
        else:
            for number, length in zip(which, found, strict=True):
                known[number] = length

    def _column(
        self,
        feature: Feature,
        column: Column,
        row: list[Header],
        kinds: set[Header],
        offsets: list[int],
        which: list[int] | None,
    ) -> Lengths:
        """Add the entries of one feature and kind, and give their lengths; `which` are their records, None for all."""
        lists = feature.lists(column.kind, self.place(which[0] if which else 0))
        lists.records += len(row)
        if isinstance(lists.values, Numbers) and column.counted:
            lists.values.distinct = None

        def place(i: int) -> Place:
            return self.place(which[i] if which else i)

        found = add_lists(self.p, lists, row, kinds, offsets, place)
        shortest, longest = (found, found) if isinstance(found, int) else (min(found), max(found))
        if shortest < lists.shortest:
            lists.shortest = shortest
            lists.short_at = place(0 if isinstance(found, int) else found.index(shortest))
        if longest > lists.longest:
            lists.longest = longest
            lists.long_at = place(0 if isinstance(found, int) else found.index(longest))
        if longest:
            at = 0 if isinstance(found, int) else next(i for i, length in enumerate(found) if length)
            number = which[at] if which else at
            if feature.filled is None or number < feature.filled.at:
                feature.filled = Met(number, self.place(number))
        return found
