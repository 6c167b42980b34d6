"""Lines of a stream, of any length up to a limit, in linear time and no more memory than the longest takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.sources.stream import whole

if TYPE_CHECKING:
    from tfrtool.framing.window import Readable

MAX_LINE = 1 << 30
"""Bytes of the longest line that is read, unless told otherwise."""


class LineTooLong(ValueError):
    """Line `number`, counted from 1, has more than `limit` bytes."""

    def __init__(self, number: int, limit: int) -> None:
        super().__init__(f"line {number} has more than {limit:,} bytes")
        self.number = number


def lines(data: Readable, limit: int = MAX_LINE) -> Iterator[bytes]:
    """Each line without its end, which is a line feed; the last may do without. Raises LineTooLong."""
    parts: list[bytes] = []
    size, number = 0, 1
    for view in whole(data):
        first, *rest = bytes(view).split(b"\n")
        parts.append(first)
        size += len(first)
        for piece in rest:
            if size > limit:
                break
            yield parts[0] if len(parts) == 1 else b"".join(parts)
            number += 1
            parts, size = [piece], len(piece)
        if size > limit:
            raise LineTooLong(number, limit)
    if size:
        yield b"".join(parts)
