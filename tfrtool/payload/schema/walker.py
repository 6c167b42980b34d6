"""The fast walk over the features of many small records, in Python: the reference twin of a compiled one.

An entry in its usual form begins with a header: the name, and the sizes around the one value behind it.

    0A size  0A size name  12 size  KIND size  0A size | value

Data sets repeat these headers, but for sizes that vary in a few ways. So a header is parsed once, and known by its
bytes ever after: one look-up an entry tells which feature it is, where its value lies, and where the next entry begins.
How many bytes to look up is told by the size of the name. Figures are nanoseconds an entry, CPython 3.11.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfrtool.payload.schema.entries import LISTS, Family
from tfrtool.payload.schema.feature import Key
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Numbers
from tfrtool.payload.wire import WireError, read_size

_KNOWN_MOST = 1 << 14
_WIDTHS = {"float": 4, "double": 8}
PACKED = -1
"""Count of a run of varints, which its bytes must tell."""


class Column:
    """A feature and a kind. `counted`: more different integers are known than are told apart, so that none need be."""

    __slots__ = ("counted", "key", "kind")

    def __init__(self, key: Key, kind: str | None) -> None:
        self.key = key
        self.kind = kind
        self.counted = False


class Header:
    """The entries that begin with the same bytes: the value lies in `[head, total)` of each, `count` values in all."""

    __slots__ = ("column", "count", "head", "total")

    def __init__(self, column: Column, head: int, total: int, count: int) -> None:
        self.column = column
        self.head = head
        self.total = total
        self.count = count


class Known:
    """What was learnt of the headers of one kind of file; bounded, and good for as many batches as one likes."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.headers: dict[bytes, Header] = {}
        self.columns: dict[tuple[Key, str | None], Column] = {}
        self._kinds = {number << 3 | 2: kind for number, kind in LISTS[family].items()}

    def column(self, key: Key, kind: str | None) -> Column:
        """The column of a feature and a kind, always the same one as long as it is known."""
        found = self.columns.get((key, kind))
        if found is None:
            if len(self.columns) >= _KNOWN_MOST:
                self.columns.clear()
                self.headers.clear()
            found = self.columns[key, kind] = Column(key, kind)
        return found

    def heed(self, table: Table) -> None:
        """Count no more of the different integers of features that have too many of them already."""
        for (key, kind), column in self.columns.items():
            if not column.counted and (feature := table.features.get(key)):
                lists = feature.kinds.get(kind)
                values = None if lists is None else lists.values
                column.counted = isinstance(values, Numbers) and values.distinct is None

    def learn(self, p: bytes, at: int, end: int, sample: bytes) -> Header | None:
        """The header of the entry at `at`, of which `sample` was looked up in vain; None if its form is not usual."""
        try:
            stop, inner = _sized(p, at, end, 0x0A)
            whole = p[at:stop] if stop - at < len(sample) else sample
            if whole is not sample and whole in self.headers:
                return self.headers[whole]
            begin, inner = _sized(p, inner, stop, 0x0A)
            name = p[inner:begin]
            value, at_list = _sized(p, begin, stop, 0x12)
            if value != stop:
                return None
            header = self._header(p, at, at_list, stop, name)
        except (IndexError, WireError):
            return None
        if header is not None and at + header.head <= at + len(whole):
            if len(self.headers) >= _KNOWN_MOST:
                self.headers.clear()
            self.headers[whole] = header
        return header

    def _header(self, p: bytes, at: int, here: int, stop: int, name: bytes) -> Header | None:
        key = (False, name)
        if here == stop:
            return Header(self.column(key, None), stop - at, stop - at, 0)
        kind = self._kinds.get(p[here])
        end, here = _sized(p, here, stop, p[here])
        if kind is None or end != stop:
            return None
        if here == stop:
            return Header(self.column(key, kind), stop - at, stop - at, 0)
        end, here = _sized(p, here, stop, 0x0A)
        if end != stop:
            return None
        count = 1 if kind == "bytes" else PACKED
        if kind in _WIDTHS:
            count, odd = divmod(stop - here, _WIDTHS[kind])
            if odd:
                return None
        elif kind != "bytes" and here == stop:
            count = 0
        return Header(self.column(key, kind), here - at, stop - at, count)


def _sized(p: bytes, at: int, end: int, tag: int) -> tuple[int, int]:
    """The end and the begin of the value of a field with this tag, which lies in `[at, end)`."""
    if p[at] != tag:
        raise WireError(at, "another field")
    size, begin = (p[at + 1], at + 2) if p[at + 1] < 0x80 else read_size(p, at + 1, end)
    if begin + size > end:
        raise WireError(at, "too long")
    return begin + size, begin


def gather(
    p: bytes, begins: Sequence[int], ends: Sequence[int], known: Known
) -> tuple[list[Header], list[int], list[int], list[int]]:
    """The entries of records in their usual form: header and offset of each, and how many there are up to each record.

    The last of the results are the numbers of those records that are not of that form, and have no entry in the others.
    """
    headers: list[Header] = []
    offsets: list[int] = []
    marks: list[int] = []
    odd: list[int] = []
    header_is, offset_is, mark = headers.append, offsets.append, marks.append
    get = known.headers.get
    wrapped = known.family == "example"
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
            # 260 ns. Two bytes tell how long the header is if its sizes take one byte each, or two bytes each.
            while at < end:
                sample = p[at : at + p[at + 3] + 10] if p[at + 1] < 0x80 else p[at : at + p[at + 4] + 14]
                header = get(sample)
                if header is None:
                    header = known.learn(p, at, end, sample)
                    if header is None:
                        raise WireError(at, "not usual")
                header_is(header)
                offset_is(at)
                at += header.total
            if at != end:
                raise WireError(at, "too long")
        except (IndexError, WireError):
            done = marks[-1] if marks else 0
            del headers[done:], offsets[done:]
            odd.append(len(marks))
        mark(len(headers))
    return headers, offsets, marks, odd
