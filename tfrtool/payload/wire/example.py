"""The short way through features as every common writer lays them out; several times faster than the strict walk.

The usual form of an entry: name, then value; of a value: one list or nothing; of numbers: one packed list. What is
not of that form may still be legal: `strict` decides. So this can only say yes, never no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tfrtool.payload.wire.reader import LEN, Buffer, WireError, check_text, check_varints, read_size

ListKind = Literal["bytes", "float", "int64", "double", "int32"]

BYTES, VARINTS = -1, 0
EXAMPLE_LISTS = {0x0A: BYTES, 0x12: 4, 0x1A: VARINTS}
"""Tag of a list in a feature -> what it holds: BYTES, VARINTS, or elements of so many bytes."""
OFRECORD_LISTS = {0x0A: BYTES, 0x12: 4, 0x1A: 8, 0x22: VARINTS, 0x2A: VARINTS}

_ONE, _TWO = 1 << 3 | LEN, 2 << 3 | LEN  # the tags of fields 1 and 2
WINDOW = 128
"""Bytes of a packed list of varints, and values of a list of bytes, that are looked at to learn the kind."""


def usual_example(p: Buffer, full: bool) -> int:
    """How many features of a set kind the Example has, or -1 if it is not of the usual form."""
    try:
        end = len(p)
        if p[0] != _ONE:
            return -1
        at = 2
        size = p[1]
        if size > 0x7F:
            size, at = read_size(p, 1, end)
        return usual_features(p, at, end, EXAMPLE_LISTS, full) if at + size == end else -1
    except (IndexError, WireError):
        return -1


def usual_ofrecord(p: Buffer, full: bool) -> int:
    """How many features of a set kind the OFRecord has, or -1 if it is not of the usual form."""
    try:
        return usual_features(p, 0, len(p), OFRECORD_LISTS, full) if p[0] == _ONE else -1
    except (IndexError, WireError):
        return -1


def usual_features(p: Buffer, at: int, end: int, lists: Mapping[int, int], full: bool) -> int:
    """Walk the entries in `[at, end)`: the number of features of a set kind, -1 if something is not of the usual form.

    `full` also checks that names are UTF-8, and every packed varint instead of the first ones. Raises IndexError or
    WireError on some bytes that are cut or broken. A size past its message needs no test of its own where the end
    of the inner thing is compared with the end of the outer one.
    """
    found = 0
    while at < end:
        if p[at] != _ONE:
            return -1
        size = p[at + 1]
        at += 2
        if size > 0x7F:
            size, at = read_size(p, at - 1, end)
        stop = at + size
        if stop > end or p[at] != _ONE:
            return -1
        size = p[at + 1]
        at += 2
        if size > 0x7F:
            size, at = read_size(p, at - 1, stop)
        name = at
        at += size
        if at >= stop or p[at] != _TWO:
            return -1
        if full:
            check_text(p, name, at)
        size = p[at + 1]
        at += 2
        if size > 0x7F:
            size, at = read_size(p, at - 1, stop)
        if at + size != stop:
            return -1
        if size:
            if not usual_list(p, at, stop, lists, full):
                return -1
            found += 1
        at = stop
    return found


def usual_list(p: Buffer, at: int, end: int, lists: Mapping[int, int], full: bool) -> bool:
    """Is `[at, end)`, not empty, a feature with one list in the usual form? Raises as `usual_features` does."""
    element = lists.get(p[at])
    if element is None:
        return False
    size = p[at + 1]
    at += 2
    if size > 0x7F:
        size, at = read_size(p, at - 1, end)
    if at + size != end:
        return False
    if size == 0:
        return True
    if element == BYTES:
        for _ in range(size if full else WINDOW):
            if p[at] != _ONE:
                return False
            size = p[at + 1]
            at += 2
            if size > 0x7F:
                size, at = read_size(p, at - 1, end)
            at += size
            if at >= end:
                return at == end
        return True
    if p[at] != _ONE:
        return False
    size = p[at + 1]
    at += 2
    if size > 0x7F:
        size, at = read_size(p, at - 1, end)
    if at + size != end:
        return False
    if element:
        return size % element == 0
    if size > 9:
        check_varints(p, at, end, None if full else WINDOW)
    return size == 0 or p[end - 1] < 0x80
