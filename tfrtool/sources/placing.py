"""The steps by which a file gets its name, each of them safe wherever it is cut off: looking at what stands there, a
hidden file beside it, bringing that to the disk, and the name."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress

from tfrtool.errors import WriteError
from tfrtool.report import FORCE
from tfrtool.sources.debris import claim, temporary_name
from tfrtool.sources.identities import Identities
from tfrtool.sources.reasons import input_called, reason

_DESCRIPTORS = re.compile(r"/dev|/dev/fd|/proc/.*")
"""Directories whose entries stand for open files; nothing must be renamed there."""
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EINVAL})
"""How file systems without hard links (FAT, some network and FUSE ones) answer."""


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
    present = look(path)
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
        raise WriteError(f"'{path}' exists already", FORCE)
    return present


def stands_for_open_file(path: str) -> bool:
    """Whether a name is one of those of open files, such as `/dev/stdout`, which may lead to a regular file."""
    return bool(_DESCRIPTORS.fullmatch(os.path.realpath(os.path.dirname(path) or ".")))


def refuse_inputs(path: str, target: os.stat_result, same_as: Iterable[str | Identities]) -> None:
    for given in same_as:
        name = (Identities([given]) if isinstance(given, str) else given).name_of(target)
        if name is not None:
            output = "standard output" if path == "-" else f"the output '{path}'"
            raise WriteError(f"{output} is {input_called(name)}; an input is never written to")


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
        raise WriteError(f"'{path}' was made by somebody else meanwhile", FORCE) from error
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
