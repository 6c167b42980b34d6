"""Which files some names lead to, so that many outputs can be held against many inputs in linear time."""

from __future__ import annotations

import os
from collections.abc import Iterable


class FileIds:
    """The files that some names lead to, looked up when it is first asked for one; `-` is standard input.

    A name that leads nowhere by then is none of them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._found: dict[tuple[int, int], str] | None = None

    def name_of(self, file: os.stat_result) -> str | None:
        """The first of the names that leads to this file, None where none does."""
        if self._found is None:
            self._found = {}
            for name in self._names:
                try:
                    found = os.fstat(0) if name == "-" else os.stat(name)
                except (OSError, ValueError):
                    continue
                self._found.setdefault((found.st_dev, found.st_ino), name)
        return self._found.get((file.st_dev, file.st_ino))
