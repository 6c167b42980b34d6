"""The fast walk over the features of many small records, in Python: the reference twin of a compiled one.

An entry in its usual form begins with a header: the name, and the sizes around the one value behind it.

    0A size  0A size name  12 size  KIND size  0A size | value

Data sets repeat these headers, but for sizes that vary in a few ways. So a header is parsed once, and known by its
bytes ever after: one look-up an entry tells which feature it is, where its value lies, and where the next entry begins.
How many bytes to look up is told by the size of the name. Figures are nanoseconds an entry, CPython 3.11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrtool.payload.schema.family import LISTS, WIDTHS, MessageLayout
from tfrtool.payload.schema.feature import Key
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Numbers
from tfrtool.payload.wire.reader import LONG_NAME, Buffer, WireError, read_size

_KNOWN_MOST = 1 << 16
_HEEDED = 1 << 10  # columns of integers that are looked through after each batch
_ENTRIES_MOST = 1 << 16  # entries of one record that are held; a record of more is read one by one
PACKED = -1
"""Count of a run of varints, which its bytes must tell."""


class FeatureColumn:
    """A feature and a kind. `counted`: more different integers are known than are told apart, so that none need be."""

    __slots__ = ("counted", "key", "kind")

    def __init__(self, key: Key, kind: str | None) -> None:
        self.key = key
        self.kind = kind
        self.counted = False


class EntryHeader:
    """The entries that begin with the same bytes: the value lies in `[head, total)` of each, `count` values in all.

    `several` marks the header of one entry alone, whose bytes values lie there, each behind its size. `known` is how
    many bytes it is known by, 0 if it is not.
    """

    __slots__ = ("column", "count", "head", "known", "several", "total")

    def __init__(self, column: FeatureColumn, head: int, total: int, count: int, several: bool = False) -> None:
        self.several = several
        self.column = column
        self.head = head
        self.total = total
        self.count = count
        self.known = 0


class HeaderCache:
    """What was learnt of the headers of one kind of file; bounded, and good for as many batches as one likes."""

    def __init__(self, family: MessageLayout) -> None:
        self.family = family
        self.headers: dict[bytes, EntryHeader] = {}
        self.columns: dict[tuple[Key, str | None], FeatureColumn] = {}
        self._uncounted: list[FeatureColumn] = []  # of integers, that are still to be counted
        self._kinds = {number << 3 | 2: kind for number, kind in LISTS[family].items()}

    def column(self, key: Key, kind: str | None) -> FeatureColumn:
        """The column of a feature and a kind, always the same one as long as it is known."""
        if len(key[1]) > LONG_NAME:
            return FeatureColumn(key, kind)
        found = self.columns.get((key, kind))
        if found is None:
            if len(self.columns) >= _KNOWN_MOST:
                self.columns.clear()
                self.headers.clear()
                self._uncounted.clear()
            found = self.columns[key, kind] = FeatureColumn(key, kind)
            if kind is not None and kind.startswith("int"):
                self._uncounted.append(found)
        return found

    def update(self, table: Table) -> None:
        """Learn from what is known so far which integers need not be told apart, there being too many."""
        if not 0 < len(self._uncounted) <= _HEEDED:
            return
        for column in self._uncounted:
            feature = table.features.get(column.key)
            lists = feature.kinds.get(column.kind) if feature else None
            values = None if lists is None else lists.values
            column.counted = isinstance(values, Numbers) and values.distinct is None
        self._uncounted = [column for column in self._uncounted if not column.counted]

    def learn(self, p: Buffer, at: int, end: int, sample: bytes) -> EntryHeader:
        """The header of the entry at `at`, of which `sample` was looked up in vain; raises as `parse` does."""
        if p[at + 1] < 0x80 and p[at + 1] + 2 < len(sample):
            # Shorter than that: what was looked up reaches into the next entry.
            sample = bytes(p[at : at + p[at + 1] + 2])
            if sample in self.headers:
                return self.headers[sample]
        header = self.parse(p, at, end)
        if header.head <= len(sample) and not header.several:
            if len(self.headers) >= _KNOWN_MOST:
                self.headers.clear()
            self.headers[sample] = header
            header.known = len(sample)
        return header

    def parse(self, p: Buffer, at: int, end: int) -> EntryHeader:
        """The header of the entry at `at`; raises WireError or IndexError if its form is not usual."""
        stop, inner = _sized(p, at, end, 0x0A)
        begin, inner = _sized(p, inner, stop, 0x0A)
        value, here = _sized(p, begin, stop, 0x12)
        if value != stop:
            raise WireError(begin, "more than a name and a value")
        key = (False, bytes(p[inner:begin]))
        if here == stop:
            return EntryHeader(self.column(key, None), stop - at, stop - at, 0)
        kind = self._kinds.get(p[here])
        end, here = _sized(p, here, stop, p[here])
        if kind is None or end != stop:
            raise WireError(here, "not one list")
        if here == stop:
            return EntryHeader(self.column(key, kind), stop - at, stop - at, 0)
        value, first = _sized(p, here, stop, 0x0A)
        if value != stop:
            if kind == "bytes":
                return EntryHeader(self.column(key, kind), here - at, stop - at, _count_sized(p, here, stop), True)
            raise WireError(here, "not one value")
        here = first
        count = 1 if kind == "bytes" else PACKED
        if kind in WIDTHS:
            count, odd = divmod(stop - here, WIDTHS[kind])
            if odd:
                raise WireError(here, "part of a number")
        elif kind != "bytes" and here == stop:
            count = 0
        return EntryHeader(self.column(key, kind), here - at, stop - at, count)


def _sized(p: Buffer, at: int, end: int, tag: int) -> tuple[int, int]:
    """The end and the begin of the value of a field with this tag, which lies in `[at, end)`."""
    if p[at] != tag:
        raise WireError(at, "another field")
    size, begin = p[at + 1], at + 2
    if size >= 0x80:
        more = p[begin]
        size += (more << 7) - 0x80
        begin += 1
        if more >= 0x80:
            more = p[begin]
            size += (more << 14) - (0x80 << 7)
            begin += 1
            if more >= 0x80:
                size, begin = read_size(p, at + 1, end)
    if begin + size > end:
        raise WireError(at, "too long")
    return begin + size, begin


def _count_sized(p: Buffer, at: int, end: int) -> int:
    return sum(1 for _ in sized_values(p, at, end))


def sized_values(p: Buffer, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The begin and the end of each value of a list of bytes that lies in `[at, end)`."""
    while at < end:
        stop, begin = _sized(p, at, end, 0x0A)
        yield begin, stop
        at = stop


def entries(view: Buffer, begin: int, end: int, known: HeaderCache) -> list[tuple[int, EntryHeader]]:
    """Where each entry of the record in `[begin, end)` begins, and its header, which is parsed where it lies.

    Raises WireError or IndexError if its form is not usual.
    """
    found: list[tuple[int, EntryHeader]] = []
    stop, at = _sized(view, begin, end, 0x0A) if known.family == "example" else (end, begin)
    while at < stop == end:
        header = None
        if view[at + 1] < 0x80:
            sample = bytes(view[at : at + view[at + 3] + 10])
            header = known.headers.get(sample) or known.learn(view, at, end, sample)
        if header is None:
            header = known.parse(view, at, end)
        found.append((at, header))
        if len(found) > _ENTRIES_MOST:
            raise WireError(at, "too many entries")
        at += header.total
    if stop != end:
        raise WireError(begin, "not one field")
    return found


def gather(
    p: bytes, begins: Sequence[int], ends: Sequence[int], known: HeaderCache
) -> tuple[list[EntryHeader], list[int], list[int], list[int]]:
    """The entries of records in their usual form: header and offset of each, and how many there are up to each record.

    The last of the results are the numbers of those records that are not of that form, and have no entry in the others.
    """
    headers: list[EntryHeader] = []
    offsets: list[int] = []
    marks: list[int] = []
    odd: list[int] = []
    header_is, offset_is, mark = headers.append, offsets.append, marks.append
    get = known.headers.get
    wrapped = known.family == "example"
    plan: list[int] = []  # how many bytes the headers of an earlier record were known by
    irregular_count = 0
    for begin, end in zip(begins, ends, strict=True):
        at = begin
        try:
            if wrapped:
                # The one field of an Example, whose size must be that of the record.
                size = p[begin + 1]
                if size < 0x80:
                    at = begin + 2
                elif p[begin + 2] < 0x80:
                    size += (p[begin + 2] << 7) - 0x80
                    at = begin + 3
                else:
                    size, at = read_size(p, begin + 1, end)
                if at + size != end or p[begin] != 0x0A:
                    raise WireError(begin, "not one field")
            # 180 ns. Most records have their entries in the order of the one before, and headers as long as its are.
            for size in plan:
                header = get(p[at : at + size])
                if header is None:
                    break
                header_is(header)
                offset_is(at)
                at += header.total
            if at != end:
                # 260 ns. Two bytes tell how long a header is if its sizes take one byte each, or two bytes each.
                while at < end:
                    sample = p[at : at + p[at + 3] + 10] if p[at + 1] < 0x80 else p[at : at + p[at + 4] + 14]
                    header = get(sample)
                    if header is None:
                        header = known.learn(p, at, end, sample)
                    header_is(header)
                    offset_is(at)
                    at += header.total
                if at != end:
                    raise WireError(at, "too long")
                if not irregular_count & 7:  # records of any order need no new plan each
                    plan = [header.known for header in headers[marks[-1] if marks else 0 :]]
                irregular_count += 1
        except (IndexError, WireError):
            done = marks[-1] if marks else 0
            del headers[done:], offsets[done:]
            odd.append(len(marks))
        mark(len(headers))
    return headers, offsets, marks, odd


def gather_in_place(
    view: memoryview, begins: Sequence[int], ends: Sequence[int], known: HeaderCache
) -> tuple[list[EntryHeader], list[int], list[int], list[int]]:
    """The same for records of which nothing should be copied."""
    headers: list[EntryHeader] = []
    offsets: list[int] = []
    marks: list[int] = []
    odd: list[int] = []
    for begin, end in zip(begins, ends, strict=True):
        try:
            found = entries(view, begin, end, known)
        except (IndexError, WireError):
            odd.append(len(marks))
        else:
            offsets += (at for at, _ in found)
            headers += (header for _, header in found)
        marks.append(len(headers))
    return headers, offsets, marks, odd
