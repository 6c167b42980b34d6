"""Read again what a walk has already discarded from a stream."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tfrtool.framing.stream import ByteStream
from tfrtool.sources.source import Source

_HELD = 1 << 30
"""Bytes of a decompressed stream that are held, in temporary files, to be read again."""


class ReplayStream:
    """The decoded stream of a source that can be opened twice, as a `ByteStream` and a context manager.

    A walk discards what it has searched, and only then may find that a record lies there, whose bytes are wanted.
    A plain file still has them; of a compressed one they are unpacked once more, from a second opening that
    follows the walk where it has to, and holds what was not `released`.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = source.data
        self._stack = ExitStack()
        self._second: ByteStream | None = None
        self._forgotten = self._released = self._lost = 0

    @property
    def size(self) -> int | None:
        """Bytes of the stream where that is known beforehand, else None."""
        return self._data.size

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; fewer bytes than asked for come only at the end of the stream."""
        if offset >= self._forgotten or self._source.seekable:
            return self._data.read_into(offset, view)
        if self._second is None or offset < self._lost:
            self._stack.close()
            self._second = self._stack.enter_context(self._source.reopen()).data
            self._lost = 0
        self._lost = max(self._lost, min(offset, max(self._released, offset - _HELD)))
        self._second.discard_before(self._lost)
        return self._second.read_into(offset, view)

    def discard_before(self, offset: int) -> None:
        """The walk needs nothing before `offset` any more."""
        self._forgotten = max(self._forgotten, offset)
        self._data.discard_before(offset)

    def release(self, offset: int) -> None:
        """Let go of the bytes before `offset`: what was found there is done with."""
        self._released = offset

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
