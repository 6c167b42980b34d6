"""Bytes by offset: a reused buffer that slides over a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tfrtool.framing.crc import crc32c

CAPACITY = 1 << 18
"""Bytes of a window. Measured: 256 KiB stays in the processor's cache; larger ones were slower on small records."""
ROOMY = 1 << 20
"""Bytes of a window that few records fill, so that what is done once a batch is done for more of them. Measured: as
fast to fill and to check as the smaller one; beyond that nothing is gained.
"""


class ByteStream(Protocol):
    """A decoded stream that can be read by offset; the sources implement it."""

    @property
    def size(self) -> int | None:
        """Bytes of the stream where that is known beforehand, else None."""

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; return how many bytes were put in, fewer only at the end of the stream."""

    def discard_before(self, offset: int) -> None:
        """Promise that no byte before `offset` will be asked for again."""


class MemoryStream:
    """A `ByteStream` over bytes that are already in memory."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        self._view = memoryview(data)
        self.size: int | None = len(self._view)

    def read_into(self, offset: int, view: memoryview) -> int:
        part = self._view[offset : offset + len(view)]
        view[: len(part)] = part
        return len(part)

    def discard_before(self, offset: int) -> None:
        pass


class Window:
    """A buffer over a `ByteStream`, of a capacity that only `grow` changes.

    `buffer[i]` holds the byte at `base + i` for `0 <= i < fill`. `load` slides it; nothing else moves it. It learns the
    end of the stream when it meets it, and shares it through `end`.
    """

    __slots__ = ("base", "buffer", "data", "end", "fill", "view")

    def __init__(self, data: ByteStream, capacity: int = CAPACITY) -> None:
        self.data = data
        self.buffer = bytearray(capacity)
        self.view = memoryview(self.buffer)
        self.base = 0
        self.fill = 0
        self.end = data.size

    @property
    def capacity(self) -> int:
        """The most bytes that are held at once."""
        return len(self.buffer)

    def grow(self, capacity: int = ROOMY) -> None:
        """Make the buffer larger. Views of it stay good, and as they are; `buffer` and `view` are new ones."""
        buffer = bytearray(capacity)
        buffer[: self.fill] = self.view[: self.fill]
        self.buffer, self.view = buffer, memoryview(buffer)

    def load(self, offset: int, need: int, fetch: int = ROOMY) -> int:
        """Make `need` bytes from `offset` on available and return the index of `offset` in the buffer.

        Fewer are there only where the stream ends: ask `fill`. Where bytes must be read, up to `fetch` are, as far as
        the capacity goes. `need` is at most the capacity.
        """
        index = offset - self.base
        if index >= 0 and index + need <= self.fill:
            return index
        view = self.view
        if 0 <= index < self.fill:
            kept = self.fill - index
            if index:
                view[:kept] = view[index : self.fill]
        else:
            kept = 0
        self.base = offset
        want = min(len(view), max(need, fetch))
        got = self.data.read_into(offset + kept, view[kept:want]) if want > kept else 0
        self.fill = kept + got
        if self.fill < want:
            self._meet_end(offset + self.fill)
        return 0

    def restart(self, offset: int, data: memoryview) -> None:
        """Hold the bytes that stand at `offset`, which were read elsewhere, and nothing else; at most the capacity."""
        self.base, self.fill = offset, len(data)
        self.view[: len(data)] = data

    def _meet_end(self, end: int) -> None:
        # A local file may have shrunk since it was opened: the nearest end that was met is the true one.
        if self.end is None or end < self.end:
            self.end = end

    def peek(self, offset: int, n: int) -> memoryview:
        """Up to `n` bytes at `offset`, from the buffer where they are there, else read apart without moving it."""
        index = offset - self.base
        if index >= 0 and index + n <= self.fill:
            return self.view[index : index + n]
        view = memoryview(bytearray(n))
        got = self.data.read_into(offset, view)
        if got < n and got:
            self._meet_end(offset + got)
        return view[:got]

    def holds(self, end: int) -> bool:
        """Whether the stream reaches at least to `end` (of at least 1)."""
        if self.end is not None:
            return end <= self.end
        return len(self.peek(end - 1, 1)) == 1

    def ends_at(self, offset: int) -> bool:
        """Whether the stream ends exactly at `offset`, which it is known to reach."""
        if self.end is not None:
            return offset == self.end
        if len(self.peek(offset, 1)):
            return False
        self._meet_end(offset)
        return True

    def crc(self, begin: int, end: int, function: Callable[..., int] = crc32c) -> int:
        """The bare CRC (by `function`) of `[begin, end)`, which the stream must hold; moves the window along."""
        value = 0
        while begin < end:
            index = self.load(begin, 1)
            stop = min(self.fill, index + end - begin)
            if stop <= index:
                break
            value = function(self.view[index:stop], value)
            begin += stop - index
        return value
