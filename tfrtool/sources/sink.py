"""Outputs that appear whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol, cast

from tfrtool.errors import WriteError
from tfrtool.sources.debris import sweep
from tfrtool.sources.identities import Identities
from tfrtool.sources.placing import admit, create, look, publish, refuse_inputs, remove, settle, sync_directory
from tfrtool.sources.reasons import reason
from tfrtool.sources.writer import Output


@contextmanager
def atomic_output(
    path: str,
    *,
    force: bool = False,
    same_as: Iterable[str | Identities] = (),
    check: Callable[[str], None] | None = None,
    text: bool = False,
) -> Iterator[BinaryIO]:
    """Write a file that takes its name when the block ends well, and leaves no trace when it does not.

    The bytes go to a hidden file beside `path`, are flushed to the disk, and only then get the name: never over an
    existing file, except with `force`, which replaces it in one step (of a symbolic link the link itself) and keeps its
    permissions. `same_as` names the inputs, one by one or as the `Identities` of many; an output that is one of them
    is refused. `check` is called with the name of the complete hidden file before that is published, and stops it by
    raising.

    `-` is standard output, which is refused on a terminal unless `text` that it can show is written; pipes and
    character devices are written directly. All refusals and failures are `WriteError`, but a reader of standard output
    who went away is `BrokenPipeError`.
    """
    sink = open_sink(path, force=force, same_as=same_as, text=text)
    try:
        yield sink.out
        sink.settle(check)
        sink.publish()
    finally:
        sink.discard()


class Sink(Protocol):
    """The steps of `atomic_output`, for whoever has something to do between them; `discard` always comes last."""

    out: BinaryIO

    def settle(self, check: Callable[[str], None] | None = None) -> None:
        """All bytes are written: bring them to the disk, and have them checked. `out` is closed then."""

    def unlock(self) -> None:
        """Give back what a settled file still holds open. Other processes then know by the number of this one, which
        its hidden name tells, that it is in use."""

    def publish(self) -> None:
        """Give the file its name, and bring that to the disk."""

    def name(self) -> str | None:
        """Give the file its name. The result is the directory that is still to be brought to the disk, if any."""

    def discard(self) -> None:
        """Leave no trace of a file that has no name. More than one call does no harm."""


def open_sink(path: str, *, force: bool = False, same_as: Iterable[str | Identities] = (), text: bool = False) -> Sink:
    """The arguments are those of `atomic_output`."""
    if path == "-":
        return _Direct(1, "standard output", same_as, text=text)
    present = look(path)
    if present is None or not (stat.S_ISFIFO(present.st_mode) or stat.S_ISCHR(present.st_mode)):
        return _Hidden(path, force, same_as)
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as error:
        raise WriteError(f"cannot write '{path}': {reason(error)}") from error
    try:
        return _Direct(fd, f"'{path}'", (), closes=True)
    except BaseException:
        os.close(fd)
        raise


class _Hidden:
    """A file beside the one that it will be; a lock on it tells other processes that it is in use."""

    def __init__(self, path: str, force: bool, same_as: Iterable[str | Identities]) -> None:
        self._path, self._force = path, force
        self._old = admit(path, force, same_as)
        directory, name = os.path.split(path)
        self._directory = directory or "."
        sweep(self._directory)
        self._hidden, fd = create(directory, name, path, self._old)
        self._lock = -1
        try:
            self._lock = os.dup(fd)
            self._out = Output(fd, f"'{path}'")
        except BaseException:
            remove(self._hidden)
            raise
        self._fd, self.out = fd, cast(BinaryIO, self._out)

    def settle(self, check: Callable[[str], None] | None = None) -> None:
        try:
            self._out.flush()
            settle(self._fd, self._path, self._old)
        except BaseException:
            self._out.abandon()
            raise
        finally:
            self._out.close()
        if check is not None:
            check(self._hidden)

    def unlock(self) -> None:
        lock, self._lock = self._lock, -1
        if lock != -1:
            os.close(lock)

    def publish(self) -> None:
        sync_directory(self.name())

    def name(self) -> str:
        publish(self._hidden, self._path, self._force)
        self.discard()
        return self._directory

    def discard(self) -> None:
        if not self._out.closed:
            self._out.abandon()
            self._out.close()
        try:
            if self._hidden:
                remove(self._hidden)
        finally:
            self._hidden = ""
            self.unlock()

    def __del__(self) -> None:
        if hasattr(self, "out"):
            self.discard()


class _Direct:
    """An open descriptor, which has its name already."""

    def __init__(
        self, fd: int, called: str, same_as: Iterable[str | Identities], *, text: bool = False, closes: bool = False
    ) -> None:
        try:
            target = os.fstat(fd)
        except OSError as error:
            raise WriteError(f"cannot write {called}: {reason(error)}") from error
        if os.isatty(fd) and not text:
            raise WriteError(f"{called} is a terminal, and records are not text: redirect it to a file or a pipe")
        if stat.S_ISREG(target.st_mode):
            refuse_inputs("-", target, same_as)
        self._out = Output(fd, called, closes=closes)
        self.out = cast(BinaryIO, self._out)

    def settle(self, check: Callable[[str], None] | None = None) -> None:
        self._out.flush()
        self._out.close()

    def unlock(self) -> None:
        pass

    def publish(self) -> None:
        pass

    def name(self) -> None:
        pass

    def discard(self) -> None:
        if not self._out.closed:
            self._out.abandon()
            self._out.close()
