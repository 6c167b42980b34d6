"""Sound frames in bytes that are dropped: content of a damaged record, or records that nothing tells from it."""

from __future__ import annotations

from struct import Struct

from tfrtool.framing import kernel
from tfrtool.framing.layout import FRAMING
from tfrtool.framing.window import Readable
from tfrtool.report import Range

LARGEST = 16 << 20
"""Largest range that is looked through, in bytes: it is held in memory."""
_WORK = 4
"""How often a range may be read over for headers that lead to nothing."""
_LENGTH = Struct("<Q")


def sound_within(data: Readable, span: Range) -> int:
    """How many frames whose checksums hold, none in another, stand in a range of a stream; 0 for one that is too large.

    Work is linear in the range: the search ends where too many headers in it are sound and their payloads are not.
    """
    begin, end = span
    if not FRAMING <= end - begin <= LARGEST:
        return 0
    buffer = bytearray(end - begin)
    with memoryview(buffer) as view:
        size = data.read_into(begin, view)
        return _count(buffer, view, size)


def _count(buffer: bytearray, view: memoryview, size: int) -> int:
    count, at, behind, left = 0, 0, 0, _WORK * size
    known: kernel.Known = {}
    while at + FRAMING <= size and left >= 0:
        headers, at = kernel.scan(buffer, at, size)
        for header in headers:
            length = _LENGTH.unpack_from(buffer, header)[0]
            stop = header + FRAMING + length
            if header < behind or stop > size or left < 0:
                continue
            if kernel.walk(buffer, view, header, stop, known)[0]:
                count, behind = count + 1, stop
            else:
                left -= FRAMING + length
        at = max(at, behind)
    return count
