"""Make streams that can only be read forwards readable again, in memory and in nameless temporary files.

Also reads lines from a stream, in linear time and with no more memory than the longest line.
"""

from __future__ import annotations

import os
import select
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from tfrtool.errors import ReadError
from tfrtool.sources.os_text import quoted, reason

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream


SEGMENT = 64 << 20
"""Bytes of the smallest segment; later ones are an eighth of what is held, so that few files are open at once."""


@dataclass(slots=True)
class _Segment:
    begin: int
    end: int
    file: BinaryIO


class DiskBuffer:
    """Bytes `[begin, end)` of a stream, appended at the end and forgotten from the front.

    The files have no name, so nothing is left behind by a killed process. Disk use is bounded by what is held: a
    segment is given back as soon as its last byte is forgotten.
    """

    def __init__(self, name: str, *, segment: int = SEGMENT) -> None:
        self._name = name
        self._smallest = segment
        self._segments: list[_Segment] = []

    @property
    def end(self) -> int:
        """End offset of the bytes held; 0 if none are."""
        return self._segments[-1].end if self._segments else 0

    @property
    def held(self) -> int:
        """Bytes on disk."""
        return sum(s.end - s.begin for s in self._segments)

    def append(self, offset: int, data: memoryview) -> None:
        """Add the stream's bytes from `offset` on, which continue what is held. Raises `ReadError` on a full disk."""
        try:
            last = self._segments[-1] if self._segments else None
            if last is None or last.end - last.begin >= max(self._smallest, self.held // 8):
                last = _Segment(offset, offset, _nameless())
                self._segments.append(last)
            done = 0
            while done < len(data):
                done += os.pwrite(last.file.fileno(), data[done:], last.end - last.begin + done)
            last.end += done
        except OSError as error:
            raise ReadError(
                f"cannot keep {self.held + len(data)} bytes of '{self._name}' in the temporary directory: "
                f"{reason(error)}; set TMPDIR to a directory with more space"
            ) from error

    def read(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on as far as bytes are held; returns how many were put in."""
        got = 0
        for s in self._segments:
            while got < len(view) and s.begin <= offset + got < s.end:
                at = offset + got
                part = view[got : got + s.end - at]
                try:
                    n = os.preadv(s.file.fileno(), [part], at - s.begin)
                except OSError as error:
                    raise ReadError(f"cannot read back '{self._name}' at byte {at}: {reason(error)}") from error
                if n == 0:
                    raise ReadError(f"the temporary file of '{self._name}' lost the bytes from {at} on")
                got += n
        return got

    def discard_before(self, offset: int) -> None:
        """Give back every segment that ends at or before `offset`."""
        while self._segments and self._segments[0].end <= offset:
            self._segments.pop(0).file.close()

    def close(self) -> None:
        """Close all files."""
        for s in self._segments:
            s.file.close()
        self._segments.clear()


def _nameless() -> BinaryIO:
    import tempfile  # late: it pulls in random and shutil, and few runs need it

    return tempfile.TemporaryFile(buffering=0, prefix="tfrtool-")


MEMORY = 8 << 20
"""Bytes that a spool keeps in memory before it turns to the disk."""
_PIECE = 256 << 10
"""Bytes asked of a descriptor at once; a pipe holds 64 KiB unless told otherwise, so most reads come back with less."""
_STEP = 1 << 20
"""Bytes asked of a stream at once where all of it is wanted."""
_SMALL = 16 << 10
"""Chunks smaller than this are copied together, since each kept chunk costs some bytes of its own."""


def read_all(data: ByteStream) -> Iterator[memoryview]:
    """Yield all bytes of a stream in views, each valid until the next is requested."""
    view, at = memoryview(bytearray(_STEP)), 0
    while got := data.read_into(at, view):
        yield view[:got]
        at += got
        data.discard_before(at)


class Spool:
    """Any forward-only producer of bytes, as a readable stream.

    Everything from the last `discard_before` on can be read again: from memory up to `memory` bytes, beyond that from
    nameless temporary files. In the straight line (read on, discard, read on) a byte is copied once, from the
    producer's chunk to the caller's view; the chunk itself is kept by reference.
    """

    size = None
    """Unknown until the end."""
    seekable = False

    def __init__(
        self,
        chunks: Iterator[bytes],
        name: str,
        *,
        memory: int = MEMORY,
        segment: int = SEGMENT,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """`chunks` gives the stream in pieces of any size; `on_close` is called once, by `close`."""
        self._chunks = chunks
        self._on_close = on_close
        self._memory = memory
        self._kept: list[bytes | bytearray] = []
        self._starts: list[int] = []
        self._held = 0
        self._overflow = DiskBuffer(name, segment=segment)
        self._forgotten = 0
        self._finished = False
        self._failure: BaseException | None = None
        self.produced = 0
        """Bytes that the producer has given so far."""

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; fewer bytes than asked for come only at the end of the stream.

        Whatever the producer raises comes out here, at this call and at every later one that asks for more: a stream
        that failed never looks like one that ended.
        """
        if offset < self._forgotten:
            raise ValueError(f"byte {offset} was forgotten: bytes before {self._forgotten} are gone")
        got = self._again(offset, view)
        while got < len(view):
            begin = self.produced
            chunk = self._next()
            if chunk is None:
                break
            low = offset + got - begin
            if low < len(chunk):
                part = memoryview(chunk)[low : low + len(view) - got]
                view[got : got + len(part)] = part
                got += len(part)
        return got

    def discard_before(self, offset: int) -> None:
        """Bytes before `offset` will never be asked for again."""
        if offset <= self._forgotten:
            return
        self._forgotten = offset
        self._overflow.discard_before(offset)
        gone = len(self._kept) if offset >= self.produced else max(0, bisect_right(self._starts, offset) - 1)
        self._held -= sum(map(len, self._kept[:gone]))
        del self._kept[:gone], self._starts[:gone]

    @property
    def position(self) -> int:
        """Bytes produced so far, for progress."""
        return self.produced

    def grown_by(self) -> int:
        """Return 0: a stream ends once."""
        return 0

    def was_rewritten(self) -> bool:
        """Return False: nothing is read twice."""
        return False

    def share(self) -> Spool:
        """Raise ValueError: a stream that can only be read forwards cannot be opened again."""
        raise ValueError("the source was not opened to be read twice")

    def close(self) -> None:
        """Drop all buffers, in memory and on disk."""
        self._kept.clear()
        self._starts.clear()
        self._overflow.close()
        self._finished = True
        if self._on_close is not None:
            self._on_close()
            self._on_close = None

    def _next(self) -> bytes | None:
        """The producer's next chunk, after keeping it; None at the end."""
        if self._failure is not None:
            raise self._failure
        if self._finished:
            return None
        try:
            chunk = next(self._chunks, None)
        except BaseException as error:
            self._failure = error
            raise
        if chunk is None:
            self._finished = True
            return None
        begin = self.produced
        self.produced += len(chunk)
        if chunk and self.produced > self._forgotten:
            self._keep(begin, chunk)
        return chunk

    def _keep(self, begin: int, chunk: bytes) -> None:
        last = self._kept[-1] if self._kept else None
        if isinstance(last, bytearray) and len(last) + len(chunk) <= 4 * _SMALL:
            last += chunk
        else:
            self._kept.append(bytearray(chunk) if len(chunk) < _SMALL else chunk)
            self._starts.append(begin)
        self._held += len(chunk)
        if self._held > self._memory:
            self._spill()

    def _spill(self) -> None:
        """Append the bytes in memory to those on disk."""
        for start, chunk in zip(self._starts, self._kept, strict=True):
            skip = max(0, self._forgotten - start)
            self._overflow.append(start + skip, memoryview(chunk)[skip:])
        self._kept.clear()
        self._starts.clear()
        self._held = 0

    def _again(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on with what is kept; returns how many bytes were put in."""
        if offset >= self.produced:
            return 0
        got = self._overflow.read(offset, view) if offset < self._overflow.end else 0
        index = max(0, bisect_right(self._starts, offset + got) - 1)
        for start, chunk in zip(self._starts[index:], self._kept[index:], strict=True):
            if got == len(view):
                break
            part = memoryview(chunk)[offset + got - start :][: len(view) - got]
            view[got : got + len(part)] = part
            got += len(part)
        return got


def chunks_of_descriptor(fd: int, name: str, size: int = _PIECE) -> Iterator[bytes]:
    """What can be read from `fd`, in the chunks in which it comes. Raises `ReadError` naming the byte."""
    at = 0
    while True:
        try:
            chunk = os.read(fd, size)
        except BlockingIOError:  # another holder of the descriptor made it non-blocking
            select.select([fd], [], [])
            continue
        except OSError as error:
            raise ReadError(f"cannot read {quoted(name)} at byte {at}: {reason(error)}") from error
        if not chunk:
            return
        at += len(chunk)
        yield chunk


MAX_LINE = 1 << 30
"""Bytes of the longest line that is read, unless told otherwise."""


class LineTooLong(ValueError):
    """Line `number`, counted from 1, has more than `limit` bytes."""

    def __init__(self, number: int, limit: int) -> None:
        super().__init__(f"line {number} has more than {limit:,} bytes")
        self.number = number


def lines(data: ByteStream, limit: int = MAX_LINE) -> Iterator[bytes]:
    """Each line without its end, which is a line feed; the last may do without. Raises LineTooLong."""
    parts: list[bytes] = []
    size, number = 0, 1
    for view in read_all(data):
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
