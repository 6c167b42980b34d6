"""Writing records in a program."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import BinaryIO, Literal, Self

from tfrtool.framing.encode import footer, header
from tfrtool.sources.sink import atomic_output

_WBITS = {"gzip": 31, "zlib": 15}


class RecordWriter:
    """Write a TFRecord file that appears whole or not at all.

    Records go to a temporary file beside `path`, which takes its name in `close`. Used as a context manager it closes
    at the end of the block, and discards everything where the block raises. `compression` is None, "gzip" or "zlib",
    in either case of letters; gzip is one member, which is all that TensorFlow up to 2.4 reads. An existing file is
    refused with `WriteError` unless `force`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        compression: Literal["gzip", "zlib", "GZIP", "ZLIB", "none", "NONE", ""] | None = None,
        level: int = 6,
        force: bool = False,
    ) -> None:
        codec = (compression or "none").lower()
        if codec not in ("none", *_WBITS):
            raise ValueError(f"compression is gzip, zlib or None, not {compression!r}")
        self._stack = ExitStack()
        self._out: BinaryIO | None = self._stack.enter_context(atomic_output(os.fspath(path), force=force))
        self._deflate = None
        if codec in _WBITS:
            import zlib

            self._deflate = zlib.compressobj(level, zlib.DEFLATED, _WBITS[codec])
        self.records = 0

    def write(self, payload: bytes | bytearray | memoryview) -> None:
        """Append one record."""
        if self._out is None:
            raise ValueError("the writer is closed")
        for part in (header(len(payload)), payload, footer(payload)):
            self._out.write(part if self._deflate is None else self._deflate.compress(part))
        self.records += 1

    def close(self) -> None:
        """Publish the file. A second call does nothing."""
        if self._out is None:
            return
        try:
            if self._deflate is not None:
                self._out.write(self._deflate.flush())
        except BaseException as error:
            self._out = None
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise
        self._out = None
        self._stack.close()

    def discard(self) -> None:
        """Drop everything that was written; whatever stood at the path still stands there."""
        if self._out is not None:
            self._out = None
            error = _Discarded()
            with suppress(_Discarded):
                self._stack.__exit__(_Discarded, error, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


class _Discarded(Exception):
    pass
