"""Caution for files whose records hold TFRecord data: the one place that keeps inner records apart.

In an ordinary file every intact frame of a damaged stretch is a record of the file. Where intact records hold frames
themselves, frames in a damaged record may be its content; then a chain of them counts as content where it breaks off
and no record of the file follows it.
"""

from __future__ import annotations

from struct import Struct

from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.lookahead import Ending, Lookahead

_LENGTH = Struct("<Q")
_NEAR = 1 << 20
"""Bytes on either side of the first damage that are searched for records in records."""
_WORK = 4
"""How often these bytes may be read for headers that lead to nothing."""


class NestedRecords:
    """Whether the file is known to hold TFRecord data in its records, decided at its first damage."""

    def __init__(self) -> None:
        self._known: bool | None = None

    def decide(self, ahead: Lookahead, before: int, damage: int) -> None:
        """Search the intact records near the first damage, from `before` on, once a file."""
        if self._known is None:
            front = ahead.read(max(before, damage - _NEAR), damage)
            self._known = holds_nested(front) or holds_nested(ahead.read(damage, damage + _NEAR))

    def are_content(
        self, ahead: Lookahead, start: int, declared: int | None, chain: tuple[int, int], ending: Ending
    ) -> bool:
        """Whether the chain of frames is content of the damaged record at `start`, which has a valid header only if
        `declared` is the end that it tells.
        """
        if not self._known or ending == "far":
            return False
        begin, end = chain
        size = _prefixed_size(ahead, start, begin)
        torn = declared is not None and not ahead.in_stream(declared)
        if ending == "end":
            # The stream may have been cut between two records of the content.
            return torn and (begin == start + HEADER or (size or 0) >= end - begin)
        if declared is not None and not torn and end <= declared:
            return True
        return (
            size == end - begin or not ahead.header_at(end) or (torn and not ahead.in_stream(ahead.declared_end(end)))
        )


def holds_nested(data: bytes) -> bool:
    """Whether an intact frame in these bytes holds another in its payload."""
    buffer = bytearray(data)
    known: kernel.Known = {}
    at, outer_end, left = 0, 0, _WORK * len(buffer)
    with memoryview(buffer) as view:
        while at + FRAMING <= len(buffer) and left >= 0:
            headers, at = kernel.scan(buffer, at, len(buffer))
            for header in headers:
                end = header + FRAMING + _LENGTH.unpack_from(buffer, header)[0]
                inside = header < outer_end
                if end > (outer_end - 4 if inside else len(buffer)):
                    continue
                left -= end - header
                if left < 0:
                    return False
                if kernel.walk(buffer, view, header, end, known)[0]:
                    if inside:
                        return True
                    outer_end = end
    return False


def _prefixed_size(ahead: Lookahead, start: int, begin: int) -> int | None:
    """The size that a message tells for its value at `begin`: a tag of wire type 2 and a varint stand before it."""
    first = max(start, begin - 6)
    before = ahead.peek(first, begin - first)
    if len(before) < 2 or before[-1] & 0x80:
        return None
    size, width = before[-1], 1
    while width < len(before) and before[-1 - width] & 0x80:
        size = size << 7 | before[-1 - width] & 0x7F
        width += 1
    return size if width < len(before) and before[-1 - width] & 7 == 2 else None
