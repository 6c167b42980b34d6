"""The names of temporary files beside outputs, and clearing away those of processes that died."""

from __future__ import annotations

import os
import re
import time
import zlib
from contextlib import suppress

OLD = 3600
"""Seconds since the last write before a dead process's file is removed: one of another container can seem dead."""

_NAME = re.compile(r"\..*\.tfrtool-(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]+)-[0-9a-f]{8}\.tmp", re.DOTALL)
_LONGEST = 150
"""Bytes of the output's own name in that of its temporary file: names may have 255 in all."""

_swept: set[tuple[int, int]] = set()


def temporary_name(name: str) -> str:
    """A new hidden name, which tells the output's name, this machine and this process."""
    start = os.fsdecode(os.fsencode(name)[:_LONGEST])
    return f".{start}.tfrtool-{_host()}-{os.getpid()}-{os.urandom(4).hex()}.tmp"


def sweep(directory: str, now: float | None = None) -> list[str]:
    """Remove temporary files that processes of this machine left behind when they died; once a directory and process.

    Files of other machines, of living processes and of the last hour stay. Returns what was removed; whatever cannot be
    listed or removed stays without a word.
    """
    removed: list[str] = []
    now = time.time() if now is None else now
    with suppress(OSError):
        found = os.stat(directory)
        if (found.st_dev, found.st_ino) in _swept:
            return removed
        _swept.add((found.st_dev, found.st_ino))
        with os.scandir(directory) as entries:
            left = [entry for entry in entries if entry.name.endswith(".tmp") and _is_debris(entry, now)]
        for entry in left:
            with suppress(OSError):
                os.unlink(entry.path)
                removed.append(entry.name)
    return removed


def _is_debris(entry: os.DirEntry[str], now: float) -> bool:
    named = _NAME.fullmatch(entry.name)
    if named is None or named["host"] != _host() or len(named["pid"]) > 9:
        return False
    with suppress(OSError):
        if not entry.is_file(follow_symlinks=False) or now - entry.stat(follow_symlinks=False).st_mtime < OLD:
            return False
        try:
            os.kill(int(named["pid"]), 0)
        except ProcessLookupError:
            return True
    return False


def _host() -> str:
    """This machine, as eight hexadecimal digits: its name may be long, or hold anything."""
    return f"{zlib.crc32(os.fsencode(os.uname().nodename)):08x}"
