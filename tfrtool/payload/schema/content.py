"""What bytes values hold: the answer of `content_of`, by the beginning of each value, and fast for many at a time.

Most values of a feature are plain text or images. A run of them is told to be text by looking at all beginnings as one
piece of memory; what is not so told is looked at one by one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence
from operator import itemgetter

from tfrtool.payload.schema.values import Held, Place
from tfrtool.payload.wire import Buffer

HEAD = 128
"""Bytes of a long value that are looked at for text."""
_TEXT = "utf-8"
_CONTROL = bytes([*range(9), *range(14, 27), *range(28, 32), 127])
_FIRST = b"GRBIMfO{[x"
SPECIAL = re.compile(rb"GIF8|RIFF|BM|II\*|MM\x00|OggS|ID3|fLaC|[\[{]|x[\x01^\x9c\xda]")
"""What text can begin with that may be more than text: every magic of printable bytes, JSON, and zlib."""
_MANY = 1024  # details of one content that are held while a run of values is looked at


def contents(
    p: Buffer, spans: Sequence[tuple[int, int]], shortest: int, place: Callable[[int], Place]
) -> dict[str, Held]:
    """What the values in these `(begin, end)` of a buffer hold, summed; `place` gives the record of a value.

    `shortest` is the least size of a value.
    """
    if shortest >= HEAD:
        heads = [p[begin : begin + HEAD] for begin, _ in spans]
    else:
        heads = [p[begin:end] if end - begin <= HEAD else p[begin : begin + HEAD] for begin, end in spans]
    joined = b"".join(heads)
    odd: list[int] = []
    if shortest and joined.isascii() and is_text(joined):
        first_bytes = joined[::HEAD] if shortest >= HEAD else bytes(map(itemgetter(0), heads))
        if len(first_bytes.translate(None, _FIRST)) < len(first_bytes):
            odd = [i for i, head in enumerate(heads) if SPECIAL.match(head)]
    else:
        odd = [i for i, head in enumerate(heads) if not _plain(head, spans[i][1] - spans[i][0] <= HEAD)]
    found: dict[str, Held] = {}
    firsts: dict[str, int] = {}
    if odd:
        from tfrtool.payload.schema.held import held

        view = memoryview(p)
    for i in odd:
        kind, detail, form = held(view[spans[i][0] : spans[i][1]])
        one = found.get(kind)
        if one is None:
            firsts[kind] = i
            one = found[kind] = Held(0, place(i))
        one.values += 1
        if form:
            one.forms[form] = one.forms.get(form, 0) + 1
        if detail:
            one.details[detail] = one.details.get(detail, 0) + 1
            if len(one.details) > _MANY:
                one.cut()
    plain = len(heads) - len(odd)
    if plain:
        apart = set(odd)
        first = next(i for i in range(len(heads)) if i not in apart) if odd else 0
        one = found.setdefault(_TEXT, Held(0, place(first)))
        one.values += plain
        if first < firsts.get(_TEXT, first):
            one.first = place(first)
    for one in found.values():
        one.cut()
    return found


def is_text(data: bytes) -> bool:
    """Is it without the control characters that text does not use? Deleting them is five times faster than a search."""
    return len(data.translate(None, _CONTROL)) == len(data)


def _plain(head: Buffer, all_of_it: bool) -> bool:
    """Is it text that nothing else begins with?"""
    if not head or not is_text(bytes(head)) or (head[0] in _FIRST and SPECIAL.match(head)):
        return False
    try:
        codecs.utf_8_decode(head, "strict", all_of_it)
    except UnicodeDecodeError:
        return False
    return True
