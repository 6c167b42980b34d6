"""Read the features of Examples and OFRecords in the form that all common writers use.

In this form a record holds entries and nothing else, and an entry a name and then a value, which is one list or empty:

    0A size  0A size name  12 size  KIND size  0A size | value

`entries` reads a batch of records into columns; it is the pure twin of a compiled function to come. Whatever has
another form may still be legal: it is reported as uncommon, and `reader.fields`, which knows every form, decides.

Data sets repeat the bytes before a value, but for sizes that vary in a few ways. So they are parsed once, and known by
their bytes ever after: one look-up an entry tells which feature it is, where its value lies, and where the next entry
begins. How many bytes to look up is told by the size of the name. Figures are nanoseconds an entry, CPython 3.11.

The numbers of the lists are those of TensorFlow's feature.proto and OneFlow's record.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tfrtool.payload.wire.reader import LEN, LONG_NAME, Buffer, WireError, read_size

ListKind = Literal["bytes", "float", "int64", "double", "int32"]
Layout = Literal["example", "ofrecord"]
"""How features are laid out: as Examples and SequenceExamples have them, or as OFRecords do."""

LISTS: dict[Layout, dict[int, ListKind]] = {
    "example": {1: "bytes", 2: "float", 3: "int64"},
    "ofrecord": {1: "bytes", 2: "float", 3: "double", 4: "int32", 5: "int64"},
}
"""Field of a feature -> the kind of its list."""
TAGS: dict[Layout, dict[int, ListKind]] = {
    layout: {number << 3 | LEN: kind for number, kind in lists.items()} for layout, lists in LISTS.items()
}
"""The same by the tag of the field, which takes one byte."""
WIDTHS: dict[ListKind, int] = {"float": 4, "double": 8}
"""Bytes of a number, for the kinds whose numbers are all of one size."""

PACKED = -1
"""Count of a run of varints, whose bytes tell how many there are."""
_ONE, _TWO = 1 << 3 | LEN, 2 << 3 | LEN  # the tags of fields 1 and 2
_KNOWN_MOST = 1 << 16
_ENTRIES_MOST = 1 << 16  # entries of one record that are held; a record of more is uncommon


class Column:
    """A feature and a kind. `note` is free for the owner of the cache, and None at first."""

    __slots__ = ("kind", "name", "note")

    def __init__(self, name: bytes, kind: ListKind | None) -> None:
        self.name = name
        self.kind = kind
        self.note: Any = None


class EntryHeader:
    """What the first bytes of an entry say; all offsets count from its first byte.

    The tag of the list is at `tag`, and the value, of `count` values, lies in `[head, total)`. `several`: that is a run
    of bytes values, each behind its size. `shortest`: no size before the value takes more bytes than it needs. `known`
    is how many bytes the header is known by, 0 if it is not.
    """

    __slots__ = ("column", "count", "head", "known", "several", "shortest", "tag", "total")

    def __init__(
        self, column: Column, tag: int, head: int, total: int, count: int, several: bool, shortest: bool
    ) -> None:
        self.column = column
        self.tag = tag
        self.head = head
        self.total = total
        self.count = count
        self.several = several
        self.shortest = shortest
        self.known = 0


class CommonList(NamedTuple):
    """The list of a feature: its kind, where its values begin, how many they are, and the rest as in `EntryHeader`."""

    kind: ListKind
    begin: int
    values: int
    several: bool
    shortest: bool


class Entries(NamedTuple):
    """The entries of a batch of records, as columns: the header and the offset of each.

    The entries of record i end before `marks[i]`. `uncommon` has the numbers of the records in another form, which
    have no entries here.
    """

    headers: list[EntryHeader]
    offsets: list[int]
    marks: list[int]
    uncommon: list[int]


def sized(p: Buffer, at: int, end: int, tag: int) -> tuple[int, int]:
    """Return where the value of the field at `at` ends and begins. Raise WireError unless it has this tag and fits."""
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


def is_shortest(p: Buffer, at: int, begin: int) -> bool:
    """Return whether the size between the tag at `at` and the value at `begin` takes no more bytes than it needs."""
    return begin - at == 2 or p[begin - 1] != 0


def sized_values(p: Buffer, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each value of a list of bytes that lies in `[at, end)`."""
    while at < end:
        stop, begin = sized(p, at, end, _ONE)
        yield begin, stop
        at = stop


def read_entry(p: Buffer, at: int, end: int) -> tuple[int, int, int, int, bool]:
    """Return the bounds of the name of the entry at `at`, those of its value, and whether all sizes are the shortest.

    The entry ends where its value does. Raise WireError or IndexError for another form.
    """
    stop, inner = sized(p, at, end, _ONE)
    name_end, name = sized(p, inner, stop, _ONE)
    value_end, value = sized(p, name_end, stop, _TWO)
    if value_end != stop:
        raise WireError(name_end, "more than a name and a value")
    shortest = is_shortest(p, at, inner) and is_shortest(p, inner, name) and is_shortest(p, name_end, value)
    return name, name_end, value, stop, shortest


def read_list(p: Buffer, at: int, end: int, tags: Mapping[int, ListKind]) -> CommonList:
    """Return the one list of the feature in `[at, end)`, which is not empty; `tags` are those of its layout.

    Raise WireError or IndexError for another form. Varints are not looked at.
    """
    kind = tags.get(p[at])
    stop, here = sized(p, at, end, p[at])
    if kind is None or stop != end:
        raise WireError(here, "not one list")
    shortest = is_shortest(p, at, here)
    if here == end:
        return CommonList(kind, end, 0, False, shortest)
    stop, first = sized(p, here, end, _ONE)
    if stop != end:
        if kind == "bytes":
            return CommonList(kind, here, sum(1 for _ in sized_values(p, here, end)), True, shortest)
        raise WireError(here, "not one value")
    shortest = shortest and is_shortest(p, here, first)
    if kind == "bytes":
        return CommonList(kind, first, 1, False, shortest)
    if first == end:  # a run of no numbers, which need not be there
        return CommonList(kind, end, 0, False, False)
    if kind not in WIDTHS:
        return CommonList(kind, first, PACKED, False, shortest)
    count, rest = divmod(end - first, WIDTHS[kind])
    if rest:
        raise WireError(first, "part of a number")
    return CommonList(kind, first, count, False, shortest)


class HeaderCache:
    """The headers and columns of one layout that are known. Bounded, and good for as many batches as one likes."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.headers: dict[bytes, EntryHeader] = {}
        self.columns: dict[tuple[bytes, ListKind | None], Column] = {}
        self._tags = TAGS[layout]

    def column(self, name: bytes, kind: ListKind | None) -> Column:
        """Return the column of a feature and a kind, always the same one as long as it is known."""
        if len(name) > LONG_NAME:
            return Column(name, kind)
        found = self.columns.get((name, kind))
        if found is None:
            if len(self.columns) >= _KNOWN_MOST:
                self.columns.clear()
                self.headers.clear()
            found = self.columns[name, kind] = Column(name, kind)
        return found

    def learn(self, p: Buffer, at: int, end: int, sample: bytes) -> EntryHeader:
        """Return the header of the entry at `at`, of which `sample` was looked up in vain. Raise as `parse` does."""
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
        """Return the header of the entry at `at`. Raise WireError or IndexError if it has another form."""
        name, name_end, value, stop, shortest = read_entry(p, at, end)
        key, total = bytes(p[name:name_end]), stop - at
        if value == stop:
            return EntryHeader(self.column(key, None), total, total, total, 0, False, shortest)
        kind, begin, count, several, short = read_list(p, value, stop, self._tags)
        return EntryHeader(self.column(key, kind), value - at, begin - at, total, count, several, shortest and short)


def entries_within(p: Buffer, at: int, end: int, cache: HeaderCache) -> list[tuple[int, EntryHeader]]:
    """Return where each of the entries that fill `[at, end)` begins, and its header. Nothing large is copied.

    Raise WireError or IndexError if something there has another form.
    """
    found: list[tuple[int, EntryHeader]] = []
    get = cache.headers.get
    while at < end:
        header = None
        if p[at + 1] < 0x80:
            sample = bytes(p[at : at + p[at + 3] + 10])
            header = get(sample) or cache.learn(p, at, end, sample)
        if header is None:
            header = cache.parse(p, at, end)
        found.append((at, header))
        if len(found) > _ENTRIES_MOST:
            raise WireError(at, "too many entries")
        at += header.total
    if at != end:
        raise WireError(end, "too long")
    return found


def record_entries(p: Buffer, begin: int, end: int, cache: HeaderCache) -> list[tuple[int, EntryHeader]]:
    """Return the entries of the record in `[begin, end)`, as `entries_within` does."""
    if cache.layout == "example":
        stop, begin = sized(p, begin, end, _ONE)
        if stop != end:
            raise WireError(begin, "not one field")
    return entries_within(p, begin, end, cache)


def entries(p: Buffer, begins: Sequence[int], ends: Sequence[int], cache: HeaderCache) -> Entries:
    """Return the entries of the records `p[begins[i]:ends[i]]`. Varints and the text of names are not looked at.

    Of bytes, which are twice as fast to look into, short pieces are copied; of a memoryview nothing large is.
    """
    if not isinstance(p, bytes):
        return _entries_in_place(p, begins, ends, cache)
    headers: list[EntryHeader] = []
    offsets: list[int] = []
    marks: list[int] = []
    uncommon: list[int] = []
    header_is, offset_is, mark = headers.append, offsets.append, marks.append
    get = cache.headers.get
    wrapped = cache.layout == "example"
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
                if at + size != end or p[begin] != _ONE:
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
                # 260 ns. Two bytes tell how long a header is if its sizes take one byte each, or two bytes each:
                # 10 and 14 are the tags and sizes around the name and before the value.
                while at < end:
                    sample = p[at : at + p[at + 3] + 10] if p[at + 1] < 0x80 else p[at : at + p[at + 4] + 14]
                    header = get(sample)
                    if header is None:
                        header = cache.learn(p, at, end, sample)
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
            uncommon.append(len(marks))
        mark(len(headers))
    return Entries(headers, offsets, marks, uncommon)


def _entries_in_place(view: Buffer, begins: Sequence[int], ends: Sequence[int], cache: HeaderCache) -> Entries:
    found = Entries([], [], [], [])
    for begin, end in zip(begins, ends, strict=True):
        try:
            record = record_entries(view, begin, end, cache)
        except (IndexError, WireError):
            found.uncommon.append(len(found.marks))
        else:
            found.offsets.extend(at for at, _ in record)
            found.headers.extend(header for _, header in record)
        found.marks.append(len(found.headers))
    return found
