"""Find names that lead to the same file, so that many outputs are checked against many inputs in linear time."""

from __future__ import annotations

import os
from collections.abc import Iterable


class FileIds:
    """The files that some names lead to, looked up at the first request; `-` is standard input.

    Names that lead nowhere by then are ignored.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._found: dict[tuple[int, int], str] | None = None

    def name_of(self, file: os.stat_result) -> str | None:
        """Return the first name that leads to this file, or None."""
        if self._found is None:
            self._found = {}
            for name in self._names:
                try:
                    found = os.fstat(0) if name == "-" else os.stat(name)
                except (OSError, ValueError):
                    continue
                self._found.setdefault((found.st_dev, found.st_ino), name)
        return self._found.get((file.st_dev, file.st_ino))
