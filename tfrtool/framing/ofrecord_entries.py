"""How the map entries of an OFRecord message follow one another, for payloads that are too large to be held.

    entry    tag 10 | its size, a varint | its name (tag 10) and its value (tag 18), in either order

One flipped bit can make the length of a small record lead far behind it. Then its entries end where the next record
begins, and that does not begin as an entry does.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.framing.recovery.budget import WorkBudget
from tfrtool.framing.stream import Window

TAG = 10
"""The first byte of an OFRecord message that has features: the tag of a map entry."""
_PARTS = b"\n\x12"
"""The tags of the name and of the value in an entry."""
_HEAD = 12
"""Bytes of an entry that tell its size and how it goes on: a tag, a size of at most five bytes, another tag."""
_STEP = 256
"""What looking at one entry costs, in bytes."""
_LINKS = 1 << 14
"""Entries of one payload that are looked at."""


def chained(window: Window, budget: WorkBudget, begin: int, length: int) -> bool:
    """Whether the payload `[begin, begin + length)` is entries, one behind the other to its end; moves the window.

    Looks at the first `_LINKS` alone, and at none that the budget cannot pay for.
    """
    at, end, paid = begin, begin + length, 0
    while at < end and paid < _LINKS * _HEAD:
        index = window.load(at, _HEAD)
        size = _entry(window.view[index : min(index + _HEAD, window.fill)])
        if size is None or at + size > end:
            return False
        at += size
        if not budget.try_spend(_HEAD):
            break
        paid += _HEAD
    budget.refund(paid)
    return True


def entry_ends(window: Window, budget: WorkBudget, begin: int) -> Iterator[int]:
    """Where the entries end that follow one another from `begin` on; moves the window. Bounded as `chained` is."""
    for _ in range(_LINKS):
        index = window.load(begin, _HEAD)
        size = _entry(window.view[index : min(index + _HEAD, window.fill)])
        if size is None or not budget.try_spend(_STEP):
            return
        begin += size
        yield begin


def _entry(head: memoryview) -> int | None:
    """The bytes of the map entry that begins so, with its tag and its size; None if none does.

    It has a name, and a value behind it, or the other way round; an entry that lacks one is no common writer's.
    """
    if len(head) < 4 or head[0] != TAG:
        return None
    size = at = 0
    for at in range(1, min(6, len(head) - 1)):
        size |= (head[at] & 0x7F) << 7 * (at - 1)
        if head[at] < 0x80:
            return at + 1 + size if size > 1 and head[at + 1] in _PARTS else None
    return None
