"""Read a regular local file at any offset, without copies or buffers."""

from __future__ import annotations

import os

from tfrtool.errors import ReadError
from tfrtool.sources.os_text import quoted, reason


class LocalFile:
    """Bytes `[base, base + size)` of an open regular file.

    The size is fixed at open; bytes that are appended later are not read. If the file becomes shorter, reading beyond
    its new end is a `ReadError`, never an early end.
    """

    seekable = True

    def __init__(self, fd: int, name: str, *, base: int = 0, closes: bool = True) -> None:
        """Take over `fd`, which `close` closes if `closes`; offset 0 of the stream is `base` in the file."""
        self._fd = fd
        self._name = name
        self._base = base
        self._closes = closes
        self._opened = os.fstat(fd)
        self.size: int = max(0, self._opened.st_size - base)
        self.position = 0
        """End offset of the last read, for progress."""

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset`; return fewer bytes than asked for only at the end. Raises `ReadError`."""
        wanted = min(len(view), self.size - offset)
        got = 0
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

    def discard_before(self, offset: int) -> None:
        """Do nothing: no bytes are held."""

    def share(self) -> LocalFile:
        """Return a second stream over the same open file; closing it leaves this one open."""
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
        """Return by how many bytes the file has grown since it was opened: it may still be written."""
        return max(0, os.fstat(self._fd).st_size - self._base - self.size)

    def was_rewritten(self) -> bool:
        """Return whether the file was changed since it was opened, other than by appending.

        Compares size and modification time, so a change within one tick of the file system's clock is missed.
        """
        now = os.fstat(self._fd)
        return now.st_size <= self._opened.st_size and now.st_mtime_ns != self._opened.st_mtime_ns

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._closes and self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
