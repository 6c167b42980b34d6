"""A thread that reads one half of a large piece of a file while its owner reads the other.

Copying from the page cache is bound by one core, and a request to a file server by its way there and back: both take
half as long in two. Handing over takes 30 us, as long as reading 300 KB, so that only large pieces are worth it.
"""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock, start_new_thread
from contextlib import suppress


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
