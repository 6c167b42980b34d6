"""What bytes values hold: the answer of `content_of`, fast for many at a time.

Most values of a feature are plain text or images. A run of them is told to be text by looking at all beginnings as one
piece of memory; what is not so told is looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import compress
from operator import itemgetter

from tfrtool.payload.schema.values import Blobs, Held, Place
from tfrtool.payload.textual import HEAD, has_no_control, is_text, is_utf8
from tfrtool.payload.wire import Buffer

_TEXT = "utf-8"
_SPECIAL = re.compile(rb"GIF8|RIFF|BM|II\*|MM\x00|OggS|ID3|fLaC|%PDF|[\[{]|x[\x01^\x9c\xda]")
"""What text can begin with that may be more than text: every magic of printable bytes, JSON, and zlib."""
_FIRST = bytes(byte in b"GRBIMOf{[x%" for byte in range(256))
"""First byte of a value -> can it begin that way?"""
_FEW = 3  # values that are sooner looked at one by one than put together
_MANY = 1024  # details of one content that are held while a run of values is looked at


def blobs_of(p: Buffer, spans: Sequence[tuple[int, int]], place: Callable[[int], Place]) -> Blobs:
    """The sum of the values in these `(begin, end)` of a buffer, at least one; `place` gives the record of a value."""
    sizes = [end - begin for begin, end in spans]
    shortest = min(sizes)
    return Blobs(len(sizes), sum(sizes), shortest, max(sizes), _contents(p, spans, shortest, place))


def _contents(
    p: Buffer, spans: Sequence[tuple[int, int]], shortest: int, place: Callable[[int], Place]
) -> dict[str, Held]:
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
    p: Buffer, spans: Sequence[tuple[int, int]], odd: Sequence[int], place: Callable[[int], Place]
) -> dict[str, Held]:
    """What the values hold, in the order in which it is first met, which tells apart what is as frequent as another.

    Those numbered in `odd` are looked at, all others are text.
    """
    found: dict[str, Held] = {}
    firsts: dict[str, int] = {}
    if odd:
        from tfrtool.payload.content import told_of  # which plain text does not need

        view = memoryview(p)
    for i in odd:
        kind, detail, form = told_of(view[spans[i][0] : spans[i][1]])
        one = found.get(kind)
        if one is None:
            firsts[kind] = i
            one = found[kind] = Held(0, place(i))
        one.count(detail, form)
        if len(one.details) > _MANY:
            one.cut()
    plain = len(spans) - len(odd)
    if plain:
        apart = set(odd)
        first = next(i for i in range(len(spans)) if i not in apart) if odd else 0
        one = found.setdefault(_TEXT, Held(0, place(first)))
        one.values += plain
        if first < firsts.setdefault(_TEXT, first):
            firsts[_TEXT], one.first = first, place(first)
    for one in found.values():
        one.cut()
    return found if len(found) < 2 else dict(sorted(found.items(), key=lambda item: firsts[item[0]]))


def _plain(head: Buffer, whole: bool) -> bool:
    """Is what begins like that text that nothing else begins with? `whole`: no more of it follows."""
    return bool(head) and is_text(head, whole) and not (_FIRST[head[0]] and _SPECIAL.match(head))
