"""A regular local file as a readable stream: positioned reads, no copies, nothing held.

A thread that reads one half of a large piece of a file while its owner reads the other.

Copying from the page cache is bound by one core, and a request to a file server by its way there and back: both take
half as long in two. Handing over takes 30 us, as long as reading 300 KB, so that only large pieces are worth it.
"""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock, start_new_thread
from contextlib import suppress
from typing import Literal

from tfrtool.errors import ReadError
from tfrtool.sources.os_text import quoted, reason


class Beside:
    """Reads for one owner, until `close`, or until an exception such as KeyboardInterrupt ends one of its reads.

    An interrupt can come between any two steps, so nothing that it may have left half done is ever waited for: what was
    interrupted reads no more. The module `threading` is not used: importing it takes as long as a small file.
    """

    def __init__(self) -> None:
        """Start the thread. Raises RuntimeError where none can be had."""
        self._process = os.getpid()
        self._reads = True
        self._ended = False
        self._job: tuple[int, memoryview, int, LockType] | None = None
        self._got = 0
        self._asked = allocate_lock()
        self._asked.acquire()
        start_new_thread(self._serve, ())

    def read(self, fd: int, view: memoryview, offset: int) -> int:
        """Fill `view` from `offset` of a file on; the result is how many bytes from its beginning are in it.

        Fewer where a read came short or failed, which reading on will tell; 0 where the thread reads no more.
        """
        if not self._reads or self._process != os.getpid():  # a fork has no thread but the one that forked
            return 0
        half, done = len(view) // 2, allocate_lock()
        done.acquire()
        self._reads = False
        self._job = fd, view[half:], offset + half, done
        self._asked.release()
        got = 0
        with suppress(OSError):
            got = os.preadv(fd, [view[:half]], offset)
        done.acquire()  # whatever became of this half: the thread must not write into a view that is used again
        self._reads = True
        return got + self._got if got == half else got

    def _serve(self) -> None:
        while True:
            self._asked.acquire()
            if self._ended or self._job is None:
                return
            fd, view, offset, done = self._job
            try:
                self._got = os.preadv(fd, [view], offset)
            except OSError:
                self._got = 0
            done.release()

    def close(self) -> None:
        """Let the thread end when it has read what it reads; harmless the second time."""
        self._reads, self._ended = False, True
        with suppress(RuntimeError):  # it was asked, and has not begun
            self._asked.release()


def beside() -> Beside | None:
    """One, where there is a second processor for it, and a thread can be had."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        return Beside() if count > 1 else None
    except RuntimeError:
        return None


_LARGE = 3 << 19
"""Bytes of a piece from which on it is worth while to read it in two halves at once."""


class LocalFile:
    """Bytes `[base, base + size)` of an open regular file.

    The size is fixed at open, and bytes that are appended later are not looked at. A file that gets shorter meanwhile
    cannot be read to the end that it had: that is a `ReadError`, never an early end.
    """

    def __init__(self, fd: int, name: str, *, base: int = 0, closes: bool = True) -> None:
        """Take over `fd`, which `close` closes unless `closes` is false; the stream begins at `base` in the file."""
        self._fd = fd
        self._name = name
        self._base = base
        self._closes = closes
        self._opened = os.fstat(fd)
        self.size: int = max(0, self._opened.st_size - base)
        self.position = 0
        """The byte behind the last one read, for progress."""
        self._beside: Beside | Literal[False] | None = None

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; fewer bytes than asked for come only at the end. Raises `ReadError`."""
        wanted = min(len(view), self.size - offset)
        got = 0
        if wanted >= _LARGE:
            got = self._in_halves(view[:wanted], offset)
        while got < wanted:
            try:
                n = os.preadv(self._fd, [view[got:wanted]], self._base + offset + got)
            except OSError as error:
                raise ReadError(f"cannot read {quoted(self._name)} at byte {offset + got}: {reason(error)}") from error
            if n == 0:
                raise ReadError(self._cut_off(offset + got))
            got += n
        self.position = offset + got if got else self.position
        return got

    def _in_halves(self, view: memoryview, offset: int) -> int:
        """How much of `view` two threads could fill, 0 if there is but one; what stops them is met again by one."""
        if self._beside is None:
            self._beside = beside() or False
        return self._beside.read(self._fd, view, self._base + offset) if self._beside else 0

    def forget(self, offset: int) -> None:
        """Nothing is held, so nothing is let go."""

    def sharing(self) -> LocalFile:
        """The same bytes of the same open file once more; closing that one leaves this one open."""
        other = LocalFile(self._fd, self._name, base=self._base, closes=False)
        other.size, other._opened = self.size, self._opened  # the file may have changed since
        return other

    def _cut_off(self, at: int) -> str:
        now = max(0, os.fstat(self._fd).st_size - self._base)
        if now < self.size:
            return (
                f"{quoted(self._name)} shrank from {self.size:,} to {now:,} bytes while it was read; "
                "run this again once nothing writes to it"
            )
        said = f"it ends there, though it says that it has {self.size:,} bytes"
        return f"cannot read {quoted(self._name)} at byte {at:,}: {said}"

    def grown_by(self) -> int:
        """How many bytes longer the file is now than when it was opened: somebody may still be writing it."""
        return max(0, os.fstat(self._fd).st_size - self._base - self.size)

    def was_rewritten(self) -> bool:
        """Whether the file was written to since it was opened, other than by adding to its end.

        Told by its size and the time of its last change, so a change within one tick of the file system's clock is
        not seen.
        """
        now = os.fstat(self._fd)
        return now.st_size <= self._opened.st_size and now.st_mtime_ns != self._opened.st_mtime_ns

    def close(self) -> None:
        """Close the file; harmless the second time."""
        if self._beside:
            self._beside.close()
        self._beside = False
        if self._closes and self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
