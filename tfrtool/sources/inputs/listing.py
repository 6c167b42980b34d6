"""List directories: the record files below one, the names that a pattern matches.

Links are followed, and the work stays linear however they lead in circles.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from tfrtool.sources.os_text import reason

MAGIC = "*?["
"""The characters that make a text a pattern."""

Problem = tuple[str, str]
"""A directory, and why it could not be listed."""


def has_magic(text: str) -> bool:
    """Return whether `text` is a pattern."""
    return any(character in text for character in MAGIC)


def kind_of(path: str) -> str:
    """Return what a path is: `file`, `directory`, `special`, `nothing`, or `broken` (a link that leads nowhere)."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "broken" if os.path.lexists(path) else "nothing"
    if stat.S_ISREG(mode):
        return "file"
    return "directory" if stat.S_ISDIR(mode) else "special"


class Lister:
    """Lists directories for one input; each real directory is entered once, so links in circles end.

    What could not be listed is in `problems`, and the rest is listed all the same.
    """

    def __init__(self, *, rows: bool = False) -> None:
        """`rows`: files of rows below directories are wanted, too."""
        self._rows = rows
        self.problems: list[Problem] = []
        self.passed_over = 0
        """Files below directories that were not taken for record files."""
        self._entered: set[tuple[int, int]] = set()

    def files_below(self, directory: str) -> Iterator[str]:
        """The record files below a directory, in no order. Links are followed; a link that leads nowhere counts too.

        Skips names that begin with `_` or `.` with all that is below them, names of other kinds of files (see
        `is_record_name`), and pipes, devices and sockets, which could block forever.
        """
        from tfrtool.sources.inputs.side_files import is_record_name

        waiting = [directory]
        while waiting:
            here = waiting.pop()
            if not self._enter(here):
                continue
            for name, kind in self._entries(here):
                path = os.path.join(here, name)
                if kind == "directory":
                    if not name.startswith(("_", ".")):
                        waiting.append(path)
                    continue
                if kind != "special" and is_record_name(name, rows=self._rows):
                    yield path
                else:
                    self.passed_over += 1

    def matches(self, pattern: str) -> Iterator[str]:
        """The paths that a pattern matches, in no order; `**` stands for any number of directories.

        As in a shell, a leading `.` must be written. Wildcards in a directory part match directories only.
        """
        root = "/" if pattern.startswith("/") else ""
        parts = [p for p in pattern.split("/") if p]
        paths: Iterator[str] = iter([root])
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1 and not pattern.endswith("/")
            if part == "**":
                paths = self._all_below(paths, with_files=is_last)
            elif has_magic(part):
                paths = self._matching(paths, part, directories_only=not is_last)
            else:
                paths = self._named(paths, part)
        return paths

    def _named(self, paths: Iterator[str], part: str) -> Iterator[str]:
        return (p for p in (os.path.join(path, part) for path in paths) if os.path.lexists(p))

    def _matching(self, paths: Iterator[str], part: str, *, directories_only: bool) -> Iterator[str]:
        fits = matcher(part)
        for path in paths:
            for name, kind in self._entries(path or "."):
                if fits(name) and (kind == "directory" or not directories_only):
                    yield os.path.join(path, name)

    def _all_below(self, paths: Iterator[str], *, with_files: bool) -> Iterator[str]:
        entered: set[tuple[int, int]] = set()
        for path in paths:
            waiting = [path]
            while waiting:
                here = waiting.pop()
                if not self._enter(here or ".", entered):
                    continue
                if not with_files:
                    yield here
                for name, kind in self._entries(here or "."):
                    if name.startswith("."):
                        continue
                    if kind == "directory":
                        waiting.append(os.path.join(here, name))
                    elif with_files:
                        yield os.path.join(here, name)

    def _enter(self, directory: str, entered: set[tuple[int, int]] | None = None) -> bool:
        """Note a directory as entered; False when it was before, or cannot be."""
        entered = self._entered if entered is None else entered
        try:
            found = os.stat(directory)
        except OSError as error:
            self.problems.append((directory, reason(error)))
            return False
        identity = (found.st_dev, found.st_ino)
        if identity in entered:
            return False
        entered.add(identity)
        return True

    def _entries(self, directory: str) -> list[tuple[str, str]]:
        """Names and kinds in a directory."""
        try:
            with os.scandir(directory) as entries:
                return [(entry.name, _kind_of_entry(entry)) for entry in entries]
        except NotADirectoryError:
            return []
        except OSError as error:
            self.problems.append((directory, reason(error)))
            return []


def matcher(part: str) -> Callable[[str], bool]:
    """A test for file names by one part of a pattern."""
    import fnmatch
    import re

    fits = re.compile(fnmatch.translate(part)).match
    hidden = part.startswith(".")
    return lambda name: fits(name) is not None and (hidden or not name.startswith("."))


def _kind_of_entry(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir():
            return "directory"
        if entry.is_file():
            return "file"
    except OSError:
        return "broken"
    return "broken" if entry.is_symlink() and not os.path.exists(entry.path) else "special"
