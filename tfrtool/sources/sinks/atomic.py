"""Write outputs that appear whole or not at all.

A file is written under a hidden name in the directory of its target, flushed to the disk, checked, and only then given
its name. A failure or a signal removes the hidden file; only a killed process leaves it behind.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from tfrtool.errors import WriteError
from tfrtool.sources.os_text import input_called, reason
from tfrtool.sources.sinks.same_file import FileIds
from tfrtool.suggestion import USE_FORCE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_DESCRIPTORS = re.compile(r"/dev|/dev/fd|/proc/.*")
"""Directories whose entries stand for open files; nothing must be renamed there."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL})
"""How file systems without hard links (FAT, some network and FUSE ones) answer."""
_LONGEST = 150
"""Bytes of the output's name in the name of its temporary file: names have at most 255."""


def temporary_name(name: str) -> str:
    """Return a new hidden name that begins with the output's own."""
    start = os.fsdecode(os.fsencode(name)[:_LONGEST])
    return f".{start}.tfrtool-{os.getpid()}-{os.urandom(4).hex()}.tmp"


def stat_or_none(path: str) -> os.stat_result | None:
    """Return the status of the file at `path`, links followed; None if there is none, or the link is dead."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def check_target(path: str, force: bool, same_as: Iterable[str | FileIds]) -> os.stat_result | None:
    """Return the status of the file that will be replaced, or None. Raises `WriteError` for a forbidden target."""
    directory, name = os.path.split(path)
    try:
        above = os.stat(directory or ".")
    except (OSError, ValueError) as error:
        first = "; make that directory first" if isinstance(error, FileNotFoundError) else ""
        raise WriteError(f"cannot write '{path}': the directory '{directory}': {reason(error)}{first}") from error
    if not stat.S_ISDIR(above.st_mode):
        raise WriteError(f"cannot write '{path}': '{directory}' is not a directory")
    if not name:
        raise WriteError(f"cannot write '{path}': it is the name of a directory")
    try:
        os.lstat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WriteError(f"cannot write '{path}': {reason(error)}") from error
    present = stat_or_none(path)
    if present is None:
        raise WriteError(f"cannot write '{path}': it is a symbolic link that leads nowhere; remove it first")
    if stat.S_ISDIR(present.st_mode):
        raise WriteError(f"cannot write '{path}': it is a directory")
    if not stat.S_ISREG(present.st_mode):
        raise WriteError(f"cannot write '{path}': it is a socket or a block device")
    if stands_for_open_file(path):
        what = "it stands for a file that is open already; give its own name, or `-` for standard output"
        raise WriteError(f"cannot write '{path}': {what}")
    refuse_inputs(path, present, same_as)
    if not force:
        raise WriteError(f"'{path}' exists already", USE_FORCE)
    return present


def stands_for_open_file(path: str) -> bool:
    """Return whether `path` names an open file, such as `/dev/stdout`, which may lead to a regular file."""
    return bool(_DESCRIPTORS.fullmatch(os.path.realpath(os.path.dirname(path) or ".")))


def refuse_inputs(path: str, target: os.stat_result, same_as: Iterable[str | FileIds]) -> None:
    for given in same_as:
        name = (FileIds([given]) if isinstance(given, str) else given).name_of(target)
        if name is not None:
            output = "standard output" if path == "-" else f"the output '{path}'"
            raise WriteError(f"{output} is {input_called(name)}; an input is never written to")


def create(directory: str, name: str, path: str, old: os.stat_result | None) -> tuple[str, int]:
    """Create a hidden file beside the target; private if it will take over the permissions of an `old` file."""
    temporary = os.path.join(directory, temporary_name(name))
    try:
        return temporary, os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
    except (OSError, ValueError) as error:
        raise WriteError(f"cannot write '{path}': {reason(error)}") from error
    except BaseException:  # a signal whose handler raises, once the file is made
        remove(temporary)
        raise


def remove(temporary: str) -> None:
    try:
        with suppress(OSError):
            os.unlink(temporary)
    except BaseException:  # a signal whose handler raises, before the file is gone
        with suppress(OSError):
            os.unlink(temporary)
        raise


def flush_to_disk(fd: int, path: str, old: os.stat_result | None) -> None:
    """Flush a file to the disk, with the permissions of the file that it will replace."""
    try:
        if old is not None:
            os.fchmod(fd, stat.S_IMODE(old.st_mode) & 0o777)
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot be told to wait
            raise WriteError(f"cannot write '{path}' to the disk: {reason(error)}; nothing was published") from error


def publish(temporary: str, path: str, force: bool) -> None:
    try:
        if force:
            os.replace(temporary, path)
        else:
            _link(temporary, path)
    except FileExistsError as error:
        raise WriteError(f"'{path}' was made by somebody else meanwhile", USE_FORCE) from error
    except OSError as error:
        raise WriteError(f"cannot give '{path}' its name: {reason(error)}; nothing was published") from error


def _link(temporary: str, path: str) -> None:
    """Give the file its name unless the name is taken, which only a hard link does atomically."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        # Over NFS a link can succeed and its answer be lost; the second attempt then meets the first.
        present = stat_or_none(path)
        if present is None or not os.path.samestat(present, os.stat(temporary)):
            raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            os.replace(temporary, path)
        except BaseException:
            os.unlink(path)
            raise


def sync_directory(directory: str) -> None:
    """Flush the directory entry to the disk. Some file systems cannot; the file is whole all the same."""
    with suppress(OSError):
        fd = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


_BUFFER = 256 << 10


class _Descriptor(io.FileIO):
    """A descriptor whose write errors are `WriteError`, except `BrokenPipeError`, which the caller handles."""

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
            except BlockingIOError:  # another holder of the descriptor made it non-blocking
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

    Every byte is written or an error is raised. An unbuffered `sys.stdout` drops the rest of a short write.
    """

    def __init__(self, fd: int, called: str, *, closes: bool = True) -> None:
        """`called` names the output in errors; `close` closes `fd` only if `closes`."""
        super().__init__(_Descriptor(fd, called, closes), _BUFFER)

    @property
    def written(self) -> int:
        """Bytes that have left the buffer."""
        return cast(_Descriptor, self.raw).written

    def abandon(self) -> None:
        """Drop the buffer and all later writes, so that closing cannot fail."""
        cast(_Descriptor, self.raw).is_abandoned = True


@contextmanager
def atomic_output(
    path: str,
    *,
    force: bool = False,
    same_as: Iterable[str | FileIds] = (),
    check: Callable[[str], None] | None = None,
    text: bool = False,
) -> Iterator[BinaryIO]:
    """Write a file that gets its name when the block succeeds, and is removed when it fails.

    The bytes go to a hidden file beside `path`, are flushed to the disk, and only then get the name: never over an
    existing file, except with `force`, which replaces it atomically (a symbolic link: the link itself) and keeps its
    permissions. `same_as` names the inputs, one by one or as the `FileIds` of many; an output that is one of them
    is refused. `check` is called with the name of the complete hidden file before that is published, and stops it by
    raising.

    `-` is standard output, which is refused on a terminal unless `text` that it can show is written; pipes and
    character devices are written directly. Raises `WriteError` for all refusals and failures, and `BrokenPipeError`
    if the reader of standard output closed the pipe.
    """
    sink = open_output(path, force=force, same_as=same_as, text=text)
    try:
        yield sink.out
        sink.finish(check)
        sink.publish()
    finally:
        sink.discard()


class PendingOutput(Protocol):
    """The steps of `atomic_output`, for callers that do something between them; `discard` always comes last."""

    out: BinaryIO

    def finish(self, check: Callable[[str], None] | None = None) -> None:
        """Flush all bytes to the disk, close `out`, and have the file checked."""

    def publish(self) -> None:
        """Give the file its name, and flush that to the disk."""

    def name(self) -> str | None:
        """Give the file its name. Returns the directory that is still to be flushed to the disk, if any."""

    def discard(self) -> None:
        """Remove a file that has no name yet. A second call does nothing."""


def open_output(
    path: str, *, force: bool = False, same_as: Iterable[str | FileIds] = (), text: bool = False
) -> PendingOutput:
    """The arguments are those of `atomic_output`."""
    if path == "-":
        return _DirectOutput(1, "standard output", same_as, text=text)
    present = stat_or_none(path)
    if present is None or not (stat.S_ISFIFO(present.st_mode) or stat.S_ISCHR(present.st_mode)):
        return _HiddenFile(path, force, same_as)
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as error:
        raise WriteError(f"cannot write '{path}': {reason(error)}") from error
    try:
        return _DirectOutput(fd, f"'{path}'", (), closes=True)
    except BaseException:
        os.close(fd)
        raise


class _HiddenFile:
    """A hidden file in the directory of its target."""

    def __init__(self, path: str, force: bool, same_as: Iterable[str | FileIds]) -> None:
        self._path, self._force = path, force
        self._old = check_target(path, force, same_as)
        directory, name = os.path.split(path)
        self._directory = directory or "."
        self._hidden, fd = create(directory, name, path, self._old)
        try:
            self._out = Output(fd, f"'{path}'")
        except BaseException:
            remove(self._hidden)
            raise
        self._fd, self.out = fd, cast(BinaryIO, self._out)

    def finish(self, check: Callable[[str], None] | None = None) -> None:
        try:
            self._out.flush()
            flush_to_disk(self._fd, self._path, self._old)
        except BaseException:
            self._out.abandon()
            raise
        finally:
            self._out.close()
        if check is not None:
            check(self._hidden)

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

    def __del__(self) -> None:
        if hasattr(self, "out"):
            self.discard()


class _DirectOutput:
    """Standard output, a pipe or a device: written directly."""

    def __init__(
        self, fd: int, called: str, same_as: Iterable[str | FileIds], *, text: bool = False, closes: bool = False
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

    def finish(self, check: Callable[[str], None] | None = None) -> None:
        self._out.flush()
        self._out.close()

    def publish(self) -> None:
        pass

    def name(self) -> None:
        pass

    def discard(self) -> None:
        if not self._out.closed:
            self._out.abandon()
            self._out.close()
