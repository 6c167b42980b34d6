"""A regular local file as a readable stream: positioned reads, no copies, nothing held."""

from __future__ import annotations

import os

from tfrtool.errors import ReadError
from tfrtool.sources.reasons import reason


class LocalFile:
    """Bytes `[base, base + size)` of an open regular file.

    The size is fixed at open. Bytes that are appended later are not looked at. A file that shrinks meanwhile ends
    early: reads come back short, and `shrunk_to` says where.
    """

    def __init__(self, fd: int, name: str, *, base: int = 0, closes: bool = True) -> None:
        """Take over `fd`, which `close` closes unless `closes` is false; the stream begins at `base` in the file."""
        self._fd = fd
        self._name = name
        self._base = base
        self._closes = closes
        self.size: int = max(0, os.fstat(fd).st_size - base)
        self.shrunk_to: int | None = None
        self.position = 0
        """The byte behind the last one read, for progress."""

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; fewer bytes than asked for come only at the end. Raises `ReadError`."""
        wanted = min(len(view), self.size - offset)
        got = 0
        while got < wanted:
            try:
                n = os.preadv(self._fd, [view[got:wanted]], self._base + offset + got)
            except OSError as error:
                raise ReadError(f"cannot read '{self._name}' at byte {offset + got}: {reason(error)}") from error
            if n == 0:
                self.shrunk_to = offset + got
                break
            got += n
        self.position = offset + got if got else self.position
        return got

    def forget(self, offset: int) -> None:
        """Nothing is held, so nothing is let go."""

    def sharing(self) -> LocalFile:
        """The same bytes of the same open file once more; closing that one leaves this one open."""
        other = LocalFile(self._fd, self._name, base=self._base, closes=False)
        other.size = self.size  # the file may have grown since
        return other

    def grew(self) -> bool:
        """Whether the file is longer now than when it was opened: somebody may still be writing it."""
        return os.fstat(self._fd).st_size - self._base > self.size

    def close(self) -> None:
        """Close the file; harmless the second time."""
        if self._closes and self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
