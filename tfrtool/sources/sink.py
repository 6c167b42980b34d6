"""Outputs that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

from tfrtool.errors import WriteError
from tfrtool.sources.debris import claim, sweep, temporary_name
from tfrtool.sources.identities import Identities
from tfrtool.sources.reasons import reason
from tfrtool.sources.writer import Output, stdout_binary

__all__ = ["atomic_output", "stdout_binary"]

_DESCRIPTORS = re.compile(r"/dev|/dev/fd|/proc/.*")
"""Directories whose entries stand for open files; nothing must be renamed there."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL})
"""How file systems without hard links (FAT, some network and FUSE ones) answer."""


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
    if path == "-":
        with _direct(1, "standard output", same_as, text) as out:
            yield out
        return
    present = look(path)
    if present is not None and (stat.S_ISFIFO(present.st_mode) or stat.S_ISCHR(present.st_mode)):
        with _special(path) as out:
            yield out
        return
    old = admit(path, force, same_as)
    directory, name = os.path.split(path)
    sweep(directory or ".")
    temporary, fd = create(directory, name, path, old)
    claimed = os.dup(fd)
    try:
        out = Output(fd, f"'{path}'")
        try:
            yield cast(BinaryIO, out)
            out.flush()
            settle(fd, path, old)
        except BaseException:
            out.abandon()
            raise
        finally:
            out.close()
        if check is not None:
            check(temporary)
        publish(temporary, path, force)
    finally:
        remove(temporary)
        os.close(claimed)
    sync_directory(directory or ".")


def look(path: str) -> os.stat_result | None:
    """What stands at the path, links followed; None for nothing, or for a link that leads nowhere."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def admit(path: str, force: bool, same_as: Iterable[str | Identities]) -> os.stat_result | None:
    """Refuse what must not be written; the file that will be replaced, if any."""
    directory, name = os.path.split(path)
    try:
        above = os.stat(directory or ".")
    except (OSError, ValueError) as error:
        raise WriteError(f"cannot write '{path}': the directory '{directory}': {reason(error)}") from error
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
    present = look(path)
    if present is None:
        raise WriteError(f"cannot write '{path}': it is a symbolic link that leads nowhere; remove it first")
    if stat.S_ISDIR(present.st_mode):
        raise WriteError(f"cannot write '{path}': it is a directory")
    if not stat.S_ISREG(present.st_mode):
        raise WriteError(f"cannot write '{path}': it is a socket or a block device")
    if _DESCRIPTORS.fullmatch(os.path.realpath(directory or ".")):  # /dev/stdout may lead to a regular file
        raise WriteError(f"cannot write '{path}' whole or not at all; for standard output use `-`")
    _refuse_inputs(path, present, same_as)
    if not force:
        raise WriteError(f"'{path}' exists already; say --force to replace it")
    return present


def _refuse_inputs(path: str, target: os.stat_result, same_as: Iterable[str | Identities]) -> None:
    for given in same_as:
        name = (Identities([given]) if isinstance(given, str) else given).name_of(target)
        if name is not None:
            raise WriteError(f"the output '{path}' is the input '{name}'; an input is never written to")


def create(directory: str, name: str, path: str, old: os.stat_result | None) -> tuple[str, int]:
    """A new hidden file beside the target, private where it will take over the permissions of another."""
    for _ in range(100):
        temporary = os.path.join(directory, temporary_name(name))
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600)
        except FileExistsError:
            continue
        except (OSError, ValueError) as error:
            raise WriteError(f"cannot write '{path}': {reason(error)}") from error
        except BaseException:  # a signal whose handler raises, once the file is made
            remove(temporary)
            raise
        if claim(fd):
            return temporary, fd
        os.close(fd)
    raise WriteError(f"cannot write '{path}': no free name for a temporary file beside it")


def remove(temporary: str) -> None:
    try:
        with suppress(OSError):
            os.unlink(temporary)
    except BaseException:  # a signal whose handler raises, before the file is gone
        with suppress(OSError):
            os.unlink(temporary)
        raise


def settle(fd: int, path: str, old: os.stat_result | None) -> None:
    """Bring the bytes to the disk, under the permissions of the file that is replaced."""
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
        raise WriteError(f"'{path}' was made by somebody else meanwhile; say --force to replace it") from error
    except OSError as error:
        raise WriteError(f"cannot give '{path}' its name: {reason(error)}; nothing was published") from error


def _link(temporary: str, path: str) -> None:
    """Give the file its name unless the name is taken, which only a hard link does in one step."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        # Over NFS a link can succeed and its answer be lost; the second attempt then meets the first.
        present = look(path)
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
    """Bring the new name to the disk; some file systems cannot, and the file is whole all the same."""
    with suppress(OSError):
        fd = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


@contextmanager
def _special(path: str) -> Iterator[BinaryIO]:
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as error:
        raise WriteError(f"cannot write '{path}': {reason(error)}") from error
    try:
        with _direct(fd, f"'{path}'", ()) as out:
            yield out
    finally:
        os.close(fd)


@contextmanager
def _direct(fd: int, called: str, same_as: Iterable[str | Identities], text: bool = False) -> Iterator[BinaryIO]:
    """Write to an open descriptor, which stays open."""
    try:
        target = os.fstat(fd)
    except OSError as error:
        raise WriteError(f"cannot write {called}: {reason(error)}") from error
    if os.isatty(fd) and not text:
        raise WriteError(f"{called} is a terminal, and records are not text: redirect it to a file or a pipe")
    if stat.S_ISREG(target.st_mode):
        _refuse_inputs("-", target, same_as)
    out = Output(fd, called, closes=False)
    try:
        yield cast(BinaryIO, out)
        out.flush()
    except BaseException:
        out.abandon()
        raise
    finally:
        out.close()
