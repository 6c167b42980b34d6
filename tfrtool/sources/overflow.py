"""What a spool cannot hold in memory: a stretch of a stream in anonymous temporary files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO

from tfrtool.errors import ReadError
from tfrtool.sources.reasons import reason

SEGMENT = 64 << 20
"""Bytes of the smallest segment; later ones are an eighth of what is held, so that few files are open at once."""


@dataclass(slots=True)
class _Segment:
    begin: int
    end: int
    file: BinaryIO


class Overflow:
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
        """The byte behind the last one held; 0 when nothing is."""
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

    def forget(self, offset: int) -> None:
        """Give back every segment that ends at or before `offset`."""
        while self._segments and self._segments[0].end <= offset:
            self._segments.pop(0).file.close()

    def close(self) -> None:
        """Give everything back."""
        for s in self._segments:
            s.file.close()
        self._segments.clear()


def _nameless() -> BinaryIO:
    import tempfile  # late: it pulls in random and shutil, and few runs need it

    return tempfile.TemporaryFile(buffering=0, prefix="tfrtool-")
