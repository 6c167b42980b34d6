"""Find the next gzip member after a break, and the ends of ranges without one."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tfrtool.sources.codecs.container import GZIP_MAGIC, Container, Gzip, gzip_header, gzip_header_is_usual
from tfrtool.sources.codecs.inflate import Deflate

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream

_WINDOW = 256 << 10
_FIRST_WINDOW = 16 << 10
"""Small at first, since the next member is often near."""
RUNWAY = 9 << 10
"""Packed bytes by which a candidate is judged: 1 KiB for its header and 8 KiB of deflate data."""
_HIDDEN_TRIES = 4
_HEAD = 10
"""Bytes of a gzip header that every one has."""
_ENOUGH = 1 << 10
"""Decompressed bytes that are enough: random bytes fail earlier, since they soon refer to bytes before the start."""


def next_member(raw: ByteStream, start: int, *, forget: bool = True, stop: int | None = None) -> tuple[int | None, int]:
    """Return the offset of the next gzip member from `start` (and before `stop`), and how far was searched.

    Without one, the first is None and the second the end of `raw`. A member counts when its header is plausible and its
    data unpacks for a while. Every candidate costs a bounded amount of work, so any input costs linear time.
    """
    size = _FIRST_WINDOW
    while stop is None or start < stop:
        window = bytearray(size + RUNWAY)
        count = raw.read_into(start, memoryview(window))
        is_last = count < len(window)
        limit = count if is_last else size
        if stop is not None:
            limit = min(limit, stop - start)
        index = window.find(GZIP_MAGIC, 0, count)
        while 0 <= index < limit:
            if convinces(bytes(window[index : min(count, index + RUNWAY)]), is_last and index + RUNWAY >= count):
                return start + index, start + index
            index = window.find(GZIP_MAGIC, index + 1, count)
        if is_last:
            return None, start + count
        start += limit
        size = min(4 * size, _WINDOW)
        if forget:
            raw.discard_before(start)
    return None, start


def convinces(data: bytes, to_the_end: bool) -> bool:
    """Return whether `data` begins a gzip member, which may be cut short if nothing follows (`to_the_end`)."""
    header = gzip_header(data)
    if header.state != "sound" or not gzip_header_is_usual(data):
        return False
    return inflates(data[header.length :], to_the_end)


def inflates(packed: bytes, to_the_end: bool) -> bool:
    """Return whether deflate data decompresses for a while, or to its end and the right checksum."""
    unzip = zlib.decompressobj(-15)
    try:
        out = unzip.decompress(packed, _ENOUGH)
    except zlib.error:
        return False
    if len(out) == _ENOUGH:
        return True
    if not unzip.eof:
        return bool(out) or not to_the_end
    sums = Gzip()
    sums.add(out)
    rest = unzip.unused_data
    return (len(rest) >= 8 and sums.disagreement(rest[:8]) is None) or short_trailer(rest, sums) is not None


def short_trailer(rest: bytes, sums: Gzip) -> int | None:
    """How many of the 8 bytes behind a member's deflate data are there, where `rest` goes on with the next member
    before all of them are; None where it does not. Those that are there have to be the right ones.
    """
    for there in range(Gzip.trailer_size):
        head = rest[there : there + _HEAD]
        if rest[:there] != sums.trailer[:there]:
            return None
        if len(head) > len(GZIP_MAGIC) and gzip_header(head).state != "foreign" and gzip_header_is_usual(head):
            return there
    return None


def hidden_member(raw: ByteStream, container: Container, start: int, end: int) -> int | None:
    """Where a sound gzip member begins inside `[start, end)`, the deflate data of a member that is not sound; or None.

    Deflate falls into step again: where a whole member follows a cut one, the first can swallow the second and come to
    an end in it. A gzip file that is part of somebody's payload ends within the data, but a swallowed member goes on
    past its end, or to the end of `raw`: that is what counts.
    """
    if container is not Gzip:
        return None
    enough = end + min(_WINDOW, end - start)
    for _ in range(_HIDDEN_TRIES):
        found, _looked = next_member(raw, start, forget=False, stop=end)
        if found is None or continues_past(raw, found, end, enough):
            return found
        start = found + 1
    return None


def continues_past(raw: ByteStream, at: int, end: int, enough: int) -> bool:
    """Whether sound gzip members, zero bytes between them at most, lead from `at` past `end`, or to the end of `raw`.

    One that unpacks up to `enough` is believed without its end, so that the work is bounded.
    """
    while at <= end:
        head = bytearray(1 << 10)
        count = raw.read_into(at, memoryview(head))
        if not count:
            return True
        header = gzip_header(bytes(head[:count]))
        if header.state != "sound":
            return False
        stream, sums = Deflate(raw, at + header.length), Gzip()
        for chunk in stream.chunks():
            sums.add(chunk)
            if stream.at > enough:
                return True
        trailer = bytearray(8)
        if stream.ended != "whole" or raw.read_into(stream.at, memoryview(trailer)) < 8:
            return False
        if sums.disagreement(bytes(trailer)) is not None:
            return False
        at = zeros_end(raw, stream.at + 8)
    return True


def zeros_end(raw: ByteStream, at: int, keep: int | None = None) -> int:
    """Return the offset of the first byte from `at` on that is not zero, or the end of `raw`.

    On the way all but the last `keep` bytes are forgotten; without `keep`, none are.
    """
    size = 16
    while True:
        data = bytearray(size)
        count = raw.read_into(at, memoryview(data))
        rest = data[:count].lstrip(b"\0")
        at += count - len(rest)
        if rest or count < size:
            return at
        size = _WINDOW
        if keep is not None:
            raw.discard_before(at - keep)


def drain(raw: ByteStream, at: int) -> int:
    """Return the end of `raw`, by reading on from `at` if it is unknown."""
    if raw.size is not None:
        return raw.size
    view = memoryview(bytearray(_WINDOW))
    while count := raw.read_into(at, view):
        at += count
        raw.discard_before(at)
    return at
