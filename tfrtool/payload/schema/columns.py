"""Summarize the values of one feature and kind in a batch of records: how long each list is, and what it holds.

Most bytes values of a feature are plain text or images. A run of them is proved to be text by looking at all beginnings
as one piece of memory; what is not is looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, islice
from operator import itemgetter

from tfrtool.payload.schema.feature import ListSummary
from tfrtool.payload.schema.packed_numbers import CONTINUED, floats, integers, scalars
from tfrtool.payload.schema.values import Blobs, ContentCount, Numbers, RecordPlace
from tfrtool.payload.text import HEAD, has_no_control, is_text, is_utf8
from tfrtool.payload.wire.example import EntryHeader, sized_values
from tfrtool.payload.wire.reader import Buffer, count_varints

_TEXT = "utf-8"
_SPECIAL = re.compile(rb"GIF8|RIFF|BM|II\*|MM\x00|OggS|ID3|fLaC|%PDF|[\[{]|x[\x01^\x9c\xda]")
"""What text can begin with that may be more than text: every magic of printable bytes, JSON, and zlib."""
_FIRST = bytes(byte in b"GRBIMOf{[x%" for byte in range(256))
"""First byte of a value -> can it begin that way?"""
Lengths = int | list[int]
"""Length of the list in each record, or the one length that all have."""
_FEW = 3  # values that are sooner looked at one by one than put together
_MANY_BLOBS = 1024  # details of one content that are held while a run of values is looked at


def blobs_of(p: Buffer, spans: Sequence[tuple[int, int]], place: Callable[[int], RecordPlace]) -> Blobs:
    """The sum of the values in these `(begin, end)` of a buffer, at least one; `place` gives the record of a value."""
    sizes = [end - begin for begin, end in spans]
    shortest = min(sizes)
    return Blobs(len(sizes), sum(sizes), shortest, max(sizes), _contents(p, spans, shortest, place))


def _contents(
    p: Buffer, spans: Sequence[tuple[int, int]], shortest: int, place: Callable[[int], RecordPlace]
) -> dict[str, ContentCount]:
    """Return what the values hold; `shortest` is the least size of one."""
    if len(spans) < _FEW:
        return _summed(p, spans, range(len(spans)), place)
    if shortest >= HEAD:
        heads = [p[begin : begin + HEAD] for begin, _ in spans]
    else:
        heads = [p[begin:end] if end - begin <= HEAD else p[begin : begin + HEAD] for begin, end in spans]
    joined = b"".join(heads)
    if shortest and has_no_control(joined):
        first_bytes = joined[::HEAD] if shortest >= HEAD else bytes(map(itemgetter(0), heads))
        odd = [i for i in compress(range(len(heads)), first_bytes.translate(_FIRST)) if _SPECIAL.match(heads[i])]
        if not joined.isascii():
            sized = zip(heads, spans, strict=True)
            broken = [i for i, (head, (begin, end)) in enumerate(sized) if not is_utf8(head, end - begin <= HEAD)]
            odd = sorted({*odd, *broken})
    else:
        sized = zip(heads, spans, strict=True)
        odd = [i for i, (head, (begin, end)) in enumerate(sized) if not _plain(head, end - begin <= HEAD)]
    return _summed(p, spans, odd, place)


def _summed(
    p: Buffer, spans: Sequence[tuple[int, int]], odd: Sequence[int], place: Callable[[int], RecordPlace]
) -> dict[str, ContentCount]:
    """What the values hold, in the order in which it is first met, which tells apart what is as frequent as another.

    Those numbered in `odd` are looked at, all others are text.
    """
    found: dict[str, ContentCount] = {}
    firsts: dict[str, int] = {}
    if odd:
        from tfrtool.payload.content.detect import identify_content  # which plain text does not need

        view = memoryview(p)
    for i in odd:
        kind, detail, form = identify_content(view[spans[i][0] : spans[i][1]])
        one = found.get(kind)
        if one is None:
            firsts[kind] = i
            one = found[kind] = ContentCount(0, place(i))
        one.count(detail, form)
        if len(one.details) > _MANY_BLOBS:
            one.cut()
    plain = len(spans) - len(odd)
    if plain:
        apart = set(odd)
        first = next(i for i in range(len(spans)) if i not in apart) if odd else 0
        one = found.setdefault(_TEXT, ContentCount(0, place(first)))
        one.values += plain
        if first < firsts.setdefault(_TEXT, first):
            firsts[_TEXT], one.first = first, place(first)
    for one in found.values():
        one.cut()
    return found if len(found) < 2 else dict(sorted(found.items(), key=lambda item: firsts[item[0]]))


def _plain(head: Buffer, whole: bool) -> bool:
    """Is what begins like that text that nothing else begins with? `whole`: no more of it follows."""
    return bool(head) and is_text(head, whole) and not (_FIRST[head[0]] and _SPECIAL.match(head))


CODES = {"float": "f", "double": "d"}
_MANY = 1 << 12  # values that are looked at together
_LONG = 1 << 16  # bytes of a run of integers that is not copied whole


def add_lists(
    p: Buffer,
    lists: ListSummary,
    row: Sequence[EntryHeader],
    kinds: set[EntryHeader],
    offsets: Sequence[int],
    place: Callable[[int], RecordPlace],
) -> Lengths:
    """Add to `lists` the values of entries that begin at `offsets` with the headers in `row`; `kinds` is the set of it.

    The length of each list is given back. Raises `Broken` where varints are no varints.
    """
    if lists.kind is None:
        return 0
    if isinstance(lists.values, Blobs):
        _add_blobs(p, lists.values, row, kinds, offsets, place)
    elif lists.kind in CODES:
        assert isinstance(lists.values, Numbers)
        floats(_runs(p, row, kinds, offsets), CODES[lists.kind], lists.values)
    else:
        assert isinstance(lists.values, Numbers)
        return _add_integers(p, lists.values, row, kinds, offsets, lists.kind == "int32")
    counts = {header.count for header in kinds}
    return counts.pop() if len(counts) == 1 else [header.count for header in row]


def _runs(p: Buffer, row: Sequence[EntryHeader], kinds: set[EntryHeader], offsets: Sequence[int]) -> list[Buffer]:
    if len(kinds) == 1:
        head, total = row[0].head, row[0].total
        return [p[at + head : at + total] for at in offsets]
    return [p[at + header.head : at + header.total] for header, at in zip(row, offsets, strict=True)]


def _add_blobs(
    p: Buffer,
    blobs: Blobs,
    row: Sequence[EntryHeader],
    kinds: set[EntryHeader],
    offsets: Sequence[int],
    place: Callable[[int], RecordPlace],
) -> None:
    if {header.count for header in kinds} == {1}:
        spans = [(at + header.head, at + header.total) for header, at in zip(row, offsets, strict=True)]
        blobs.merge(blobs_of(p, spans, place))
        return
    found = _spans(p, row, offsets)
    while some := list(islice(found, _MANY)):
        numbers = [i for i, _ in some]
        spans = [span for _, span in some]
        blobs.merge(blobs_of(p, spans, lambda i, numbers=numbers: place(numbers[i])))  # type: ignore[misc]


def _spans(p: Buffer, row: Sequence[EntryHeader], offsets: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the values of lists of any length, each with the number of its list."""
    for i, (header, at) in enumerate(zip(row, offsets, strict=True)):
        if header.several:
            for span in sized_values(p, at + header.head, at + header.total):
                yield i, span
        elif header.count:
            yield i, (at + header.head, at + header.total)


def _add_integers(
    p: Buffer, into: Numbers, row: Sequence[EntryHeader], kinds: set[EntryHeader], offsets: Sequence[int], narrow: bool
) -> Lengths:
    if len(kinds) == 1:
        return _add_runs(p, into, row[0], offsets, narrow)
    groups: dict[EntryHeader, list[int]] = {header: [] for header in kinds}
    for i, header in enumerate(row):
        groups[header].append(i)
    found = [(which, _add_runs(p, into, head, [offsets[i] for i in which], narrow)) for head, which in groups.items()]
    lengths = {length if isinstance(length, int) else -1 for _, length in found}
    if len(lengths) == 1 and -1 not in lengths:
        return lengths.pop()
    placed = [0] * len(row)
    for which, length in found:
        for n, i in enumerate(which):
            placed[i] = length if isinstance(length, int) else length[n]
    return placed


def _add_runs(p: Buffer, into: Numbers, header: EntryHeader, offsets: Sequence[int], narrow: bool) -> Lengths:
    head, total = header.head, header.total
    if not header.count:
        return 0
    if total - head > _LONG:
        integers((p[at + head : at + total] for at in offsets), into, narrow)
        return [count_varints(p, at + head, at + total) for at in offsets]
    if isinstance(p, bytes):
        runs = [p[at + head : at + total] for at in offsets]
    else:
        runs = [bytes(p[at + head : at + total]) for at in offsets]
    if scalars(runs, total - head, into, narrow):
        return 1
    integers(runs, into, narrow)
    return [len(run.translate(None, CONTINUED)) for run in runs]
