"""The least, the greatest and the odd ones of many packed numbers, most of it in C: bytes become machine words at once.

A varint's bytes, read as one little-endian word, order as its value does among varints of the same length. So only the
extremes are decoded, and the different ones where they are few.

What bytes values hold: the answer of `content_of`, fast for many at a time.

Most values of a feature are plain text or images. A run of them is told to be text by looking at all beginnings as one
piece of memory; what is not so told is looked at one by one.

The lists of one feature and kind in a batch of records: how long each is, and what their values are.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, islice
from math import inf, isfinite
from operator import itemgetter

from tfrtool.payload.schema.feature import ListSummary
from tfrtool.payload.schema.values import DISTINCT, Blobs, ContentCount, Numbers, RecordPlace
from tfrtool.payload.text import HEAD, has_no_control, is_text, is_utf8
from tfrtool.payload.wire.example import EntryHeader, sized_values
from tfrtool.payload.wire.reader import Buffer, count_varints, signed32, signed64

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
    """What the values hold; `shortest` is the least size of one."""
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


CONTINUED = bytes(range(0x80, 0x100))
_CHUNK = 1 << 18
_SWAP = sys.byteorder == "big"
_TOKENS = re.compile(rb"[\x80-\xff]*[\x00-\x7f]").findall
_WORDS = {2: ("H", 0), 3: ("I", 1), 4: ("I", 0), 5: ("Q", 3), 6: ("Q", 2), 7: ("Q", 1), 8: ("Q", 0)}
"""Length of a varint -> the type of a word that holds it, and the bytes to fill it up."""


class Broken(ValueError):
    """A run of varints that is not one: a number that is cut off, or too long. Which, the careful reader tells."""


def decode(token: bytes) -> int:
    """The unsigned value of one varint, cut to 64 bits."""
    value = 0
    for byte in reversed(token):
        value = value << 7 | byte & 0x7F
    return value & 0xFFFFFFFFFFFFFFFF


def scalars(values: Sequence[bytes], size: int, into: Numbers, narrow: bool) -> bool:
    """Add varints of `size` bytes each. False, and nothing is added, where one of them is a list of several.

    `narrow` is for int32. `into.distinct` is added to unless it is None already.
    """
    joined = b"".join(values)
    if not joined[size - 1 :: size].isascii():
        raise Broken
    if size > 1 and len(joined.translate(None, CONTINUED)) != len(values):
        return False
    if size > 10:
        raise Broken
    if size == 1:
        _add(into, len(values), joined, narrow)
    elif size in _WORDS:
        code, fill = _WORDS[size]
        words = array(code, bytes(fill).join(values) + bytes(fill) if fill else joined)
        if _SWAP:
            words.byteswap()
        _add(into, len(values), words, narrow, size)
    else:
        _tokens(values, into, narrow)
    return True


def _add(into: Numbers, count: int, words: Sequence[int], narrow: bool, size: int = 1) -> None:
    """Add words that are varints of one length below 9 bytes, so that none is negative."""
    low, high = min(words), max(words)
    if size > 1:
        low, high = (decode(word.to_bytes(size, "little")) for word in (low, high))
    if narrow and high > 0x7FFFFFFF:
        _tokens([word.to_bytes(size, "little") for word in words], into, narrow)
        return
    into.values += count
    into.least, into.greatest = min(into.least, low), max(into.greatest, high)
    if into.distinct is not None:
        different = set(words)
        if len(different) > DISTINCT:
            into.distinct = None
        else:
            many = different if size == 1 else {decode(word.to_bytes(size, "little")) for word in different}
            into.distinct |= many
            if len(into.distinct) > DISTINCT:
                into.distinct = None


def _tokens(tokens: Sequence[bytes], into: Numbers, narrow: bool) -> None:
    """Add varints of any length up to 10 bytes."""
    different = set(tokens)
    into.values += len(tokens)
    signed = signed32 if narrow else signed64
    if narrow or len(different) <= DISTINCT:
        found = [signed(decode(token)) for token in different]
    else:
        found = [signed(decode(token)) for token in _extremes(different)]
    into.least, into.greatest = min(into.least, *found), max(into.greatest, *found)
    if into.distinct is not None:
        for token in different:
            into.distinct.add(signed(decode(token)))
            if len(into.distinct) > DISTINCT:
                into.distinct = None
                break


def _extremes(different: set[bytes]) -> Iterator[bytes]:
    """Some varints among which the least and the greatest of all are, with their sign.

    Among those of one length and one last byte, which in ten bytes has the sign, the bytes in reverse order as the
    digits of the number do. More than 64 bits are cut, so that a last byte can be any.
    """
    for size in {len(token) for token in different}:
        turned = [token[::-1] for token in different if len(token) == size]
        low, high = min(turned), max(turned)
        groups = {low[0]: (low, high)}
        if size == 10 and low[0] != high[0]:
            by_last: dict[int, list[bytes]] = {}
            for token in turned:
                by_last.setdefault(token[0], []).append(token)
            groups = {last: (min(alike), max(alike)) for last, alike in by_last.items()}
        for low, high in groups.values():
            yield low[::-1]
            yield high[::-1]


def integers(runs: Iterable[Buffer], into: Numbers, narrow: bool) -> None:
    """Add all varints of runs of packed ones, however long, a piece at a time."""
    for piece in _joined(runs):
        if not piece:
            continue
        if piece.isascii():
            _add(into, len(piece), piece, narrow)
            continue
        tokens = _TOKENS(piece)
        if sum(map(len, tokens)) != len(piece) or max(map(len, tokens)) > 10:
            raise Broken
        _tokens(tokens, into, narrow)


def _joined(runs: Iterable[Buffer]) -> Iterator[bytes]:
    """Runs put together into pieces of a good size, or cut into such, always between two varints."""
    held: list[Buffer] = []
    size = 0
    for run in runs:
        at = 0
        while len(run) - at > _CHUNK:
            stop = at + _CHUNK
            while stop < len(run) and run[stop - 1] >= 0x80:
                stop += 1
            yield bytes(run[at:stop])
            at = stop
        held.append(run[at:])
        size += len(run) - at
        if size > _CHUNK or len(held) > _CHUNK >> 4:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def floats(runs: Iterable[Buffer], code: str, into: Numbers) -> None:
    """Add all numbers of runs of packed floats (`f`) or doubles (`d`)."""
    for piece in _floats(runs):
        numbers: array[float] = array(code, piece)
        if _SWAP:
            numbers.byteswap()
        if not numbers:
            continue
        into.values += len(numbers)
        sound: Sequence[float] = numbers
        if not isfinite(sum(numbers)):
            sound = list(filter(isfinite, numbers))
            infinite = numbers.count(inf) + numbers.count(-inf)
            into.infinite += infinite
            into.nan += len(numbers) - len(sound) - infinite
        into.least = min(into.least, min(sound, default=inf))
        into.greatest = max(into.greatest, max(sound, default=-inf))


def _floats(runs: Iterable[Buffer]) -> Iterator[bytes]:
    """Runs put together into pieces of a good size, or cut into such."""
    if isinstance(runs, list) and sum(map(len, runs)) <= _CHUNK:
        yield b"".join(runs)
        return
    held: list[Buffer] = []
    size = 0
    for run in runs:
        if len(run) > _CHUNK:
            yield from (bytes(run[at : at + _CHUNK]) for at in range(0, len(run), _CHUNK))
            continue
        held.append(run)
        size += len(run)
        if size > _CHUNK or len(held) > _CHUNK >> 4:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


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
    """The values of lists of any length, each with the number of its list."""
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
