"""A thread that reads one half of a large piece of a file while its owner reads the other.

Copying from the page cache is bound by one core, and a request to a file server by its way there and back: both take
half as long in two. Handing over takes 30 us, as long as reading 300 KB, so that only large pieces are worth it.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread


class Beside:
    """Reads for one owner at a time, from when it is first asked until `close`.

    The module `threading` is not used: importing it takes as long as what a small file would gain.
    """

    def __init__(self) -> None:
        """Start the thread. Raises RuntimeError where none can be had."""
        self._process = os.getpid()
        self._job: tuple[int, memoryview, int] | None = None
        self._got = 0
        self._asked, self._done = allocate_lock(), allocate_lock()
        self._asked.acquire()
        self._done.acquire()
        self._busy = False
        start_new_thread(self._serve, ())

    def read(self, fd: int, view: memoryview, offset: int) -> int:
        """Fill `view` from `offset` of a file on; the result is how many bytes from its beginning are in it.

        Fewer where a read came short or failed, which reading on will tell. Raises `OSError` of the first half alone.
        """
        if self._process != os.getpid():  # a fork has no thread but the one that forked
            return 0
        half = len(view) // 2
        self._begin(fd, view[half:], offset + half)
        try:
            got = os.preadv(fd, [view[:half]], offset)
        finally:
            more = self._end()
        return got + more if got == half else got

    def _begin(self, fd: int, view: memoryview, offset: int) -> None:
        if self._busy:  # an interrupt came while the last one was waited for
            self._end()
        self._job, self._busy = (fd, view, offset), True
        self._asked.release()

    def _end(self) -> int:
        self._done.acquire()
        self._busy = False
        return self._got

    def _serve(self) -> None:
        while True:
            self._asked.acquire()
            if self._job is None:
                return
            fd, view, offset = self._job
            try:
                self._got = os.preadv(fd, [view], offset)
            except OSError:
                self._got = 0
            self._done.release()

    def close(self) -> None:
        """End the thread; nothing may be asked of it afterwards."""
        if self._process == os.getpid():
            if self._busy:
                self._end()
            self._job = None
            self._asked.release()


def beside() -> Beside | None:
    """One, where there is a second processor for it, and a thread can be had."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        return Beside() if count > 1 else None
    except RuntimeError:
        return None
