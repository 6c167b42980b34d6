"""The names of temporary files beside outputs, and clearing away those of processes that died.

A process holds a lock (flock) on each of its temporary files, which ends with it, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import re
import resource
import time
import zlib
from contextlib import suppress

OLD = 3600
"""Seconds since the last write before a file is removed where the file system has no locks: there the number of its
process alone tells whether that lives, and one of another container can seem dead."""

_NAME = re.compile(r"\..*\.tfrtool-(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]+)-[0-9a-f]{8}\.tmp", re.DOTALL)
_LONGEST = 150
"""Bytes of the output's own name in that of its temporary file: names may have 255 in all."""

_LOCKS = 256

_swept: set[tuple[int, int]] = set()


def temporary_name(name: str) -> str:
    """A new hidden name, which tells the output's name, this machine and this process."""
    start = os.fsdecode(os.fsencode(name)[:_LONGEST])
    return f".{start}.tfrtool-{_host()}-{os.getpid()}-{os.urandom(4).hex()}.tmp"


def locks_to_spare() -> int:
    """How many finished files of one run may keep their locks: each takes a descriptor, of which a quarter is spared.

    The number of the process speaks for the others.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _LOCKS if most == resource.RLIM_INFINITY else min(_LOCKS, most // 4)


def claim(fd: int) -> bool:
    """Mark a new temporary file as one in use, for as long as `fd` or a duplicate of it is open.

    False if somebody has cleared it away in the moment before.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return os.fstat(fd).st_nlink > 0


def sweep(directory: str, now: float | None = None) -> list[str]:
    """Remove temporary files that processes of this machine left behind when they died; once a directory and process.

    Files of other machines and of living processes stay. Returns what was removed; whatever cannot be listed or removed
    stays without a word.
    """
    removed: list[str] = []
    now = time.time() if now is None else now
    with suppress(OSError):
        found = os.stat(directory)
        if (found.st_dev, found.st_ino) in _swept:
            return removed
        _swept.add((found.st_dev, found.st_ino))
        with os.scandir(directory) as entries:
            left = [entry for entry in entries if entry.name.endswith(".tmp") and _seems_dead(entry)]
        removed = [entry.name for entry in left if _removed(entry.path, now)]
    return removed


def _seems_dead(entry: os.DirEntry[str]) -> bool:
    named = _NAME.fullmatch(entry.name)
    if named is None or named["host"] != _host() or len(named["pid"]) > 9:
        return False
    try:
        if entry.is_file(follow_symlinks=False):
            os.kill(int(named["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _removed(path: str, now: float) -> bool:
    """Remove the file of a process that seems dead, unless somebody holds it."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if not _is_free(fd, now):
                return False
            os.unlink(path)
            return True
        finally:
            os.close(fd)
    return False


def _is_free(fd: int, now: float) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return now - os.fstat(fd).st_mtime >= OLD
    return True


def _host() -> str:
    """This machine, as eight hexadecimal digits: its name may be long, or hold anything."""
    return f"{zlib.crc32(os.fsencode(os.uname().nodename)):08x}"
