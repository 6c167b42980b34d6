"""A buffered writer that says in a sentence why it failed, and loses nothing in silence."""

from __future__ import annotations

import io
import os
import select
from typing import TYPE_CHECKING, cast

from tfrtool.errors import WriteError
from tfrtool.sources.reasons import reason

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_BUFFER = 256 << 10


class _Descriptor(io.FileIO):
    """A descriptor whose write errors are `WriteError`; `BrokenPipeError` stays what it is, for the caller to judge."""

    def __init__(self, fd: int, called: str, closes: bool) -> None:
        super().__init__(fd, "wb", closefd=closes)
        self._called = called
        self.written = 0
        self.is_abandoned = False

    def write(self, data: ReadableBuffer, /) -> int:
        if self.is_abandoned:
            return memoryview(data).nbytes
        while True:
            try:
                count = os.write(self.fileno(), data)
            except BlockingIOError:  # whoever shares the descriptor made it non-blocking
                select.select([], [self.fileno()], [])
            except BrokenPipeError:
                raise
            except OSError as error:
                raise WriteError(
                    f"cannot write {self._called}: {reason(error)}, after {self.written} bytes were written"
                ) from error
            else:
                self.written += count
                return count


class Output(io.BufferedWriter):
    """A buffered binary writer over a descriptor.

    Every byte is written or an error is raised, which an unbuffered `sys.stdout` does not promise: it drops what a
    short write leaves over.
    """

    def __init__(self, fd: int, called: str, *, closes: bool = True) -> None:
        """`called` names the output in errors; `close` closes `fd` only if `closes`."""
        super().__init__(_Descriptor(fd, called, closes), _BUFFER)

    @property
    def written(self) -> int:
        """Bytes that have left the buffer."""
        return cast(_Descriptor, self.raw).written

    def abandon(self) -> None:
        """Drop what is in the buffer and whatever comes, so that closing cannot fail."""
        cast(_Descriptor, self.raw).is_abandoned = True
