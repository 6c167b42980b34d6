"""Write several outputs that get their names together.

All files are written under hidden names and flushed to the disk before the first gets its name. Names are given from
the last to the first, so that a set that a crash cuts short lacks its first member, which every reader notices.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import BinaryIO, Self, cast

from tfrtool.errors import WriteError
from tfrtool.sources.os_text import reason
from tfrtool.sources.sinks.atomic import (
    Output,
    atomic_output,
    check_target,
    create,
    flush_to_disk,
    publish,
    remove,
    stat_or_none,
    sync_directory,
)
from tfrtool.sources.sinks.same_file import FileIds


class OutputSet:
    """The outputs of one run, beside `path`; a context manager that removes them unless `publish` was called.

    `path` is the one output, or one of that directory and of a name like those of the members. `-`, a pipe or a device
    can only be the one output, and is written directly. With `make_directory` the directory of the members is made if
    it alone is missing, and goes again if nothing is published. `same_as` names the inputs, none of which may be an
    output; `text` is that of `atomic_output`. Raises `WriteError`, or `BrokenPipeError` if the reader of
    standard output closed the pipe.
    """

    def __init__(
        self,
        path: str,
        *,
        force: bool = False,
        same_as: Iterable[str] = (),
        make_directory: bool = False,
        text: bool = False,
    ) -> None:
        self.path = path
        self.direct = is_direct(path)
        self._force = force
        self._text = text
        self._same_as = (FileIds(same_as),)
        self._make = make_directory
        self._made = False
        self._stack = ExitStack()
        self._members: list[str] = []
        self._open: Output | None = None
        self._direct: BinaryIO | None = None
        self._published = False

    def __enter__(self) -> Self:
        directory = os.path.dirname(self.path) or "."
        if self._make and not self.direct and not os.path.lexists(directory):
            try:
                os.mkdir(directory)
            except OSError as error:
                raise WriteError(f"cannot make the directory '{directory}': {reason(error)}") from error
            self._made = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stack.__exit__(kind, error, trace)
            if self._open is not None:
                self._open.abandon()
                self._open.close()
        finally:
            for temporary in self._members:
                remove(temporary)
            if self._made and not self._published:
                with suppress(OSError):
                    os.rmdir(os.path.dirname(self.path))

    def check_target(self, names: Iterable[str]) -> None:
        """Raise `WriteError` for a name that must not be written: taken already, an input, a directory."""
        for name in names:
            directory = os.path.dirname(name) or "."
            if self._make and not os.path.lexists(directory):
                try:
                    os.stat(os.path.dirname(directory) or ".")
                except OSError as error:
                    raise WriteError(f"cannot make the directory '{directory}': {reason(error)}") from error
            elif not is_direct(name):
                check_target(name, self._force, self._same_as)

    def open(self, beside: str | None = None) -> BinaryIO:
        """The next output of the set, which will stand in the directory of `beside`; the one before it is finished."""
        self._finish()
        if self.direct:
            if self._members:
                raise WriteError(f"'{self.path}' is no file, and takes one output alone")
            self._members.append("")
            self._direct = self._stack.enter_context(atomic_output(self.path, same_as=self._same_as, text=self._text))
            return self._direct
        path = self.path if beside is None else beside
        directory, name = os.path.split(path)
        temporary, fd = create(directory, name, path, None)
        self._members.append(temporary)
        self._open = Output(fd, f"'{path}'")
        return cast(BinaryIO, self._open)

    @property
    def sent(self) -> int:
        """Bytes written to a pipe or a device."""
        return cast(Output, self._direct).written if self._direct is not None else 0

    def finish(self) -> str | None:
        """Complete the output that is open, and give the name under which it lies until it is published, if it does."""
        self._finish()
        return None if self.direct or not self._members else self._members[-1]

    def _finish(self) -> None:
        out = self._open
        if out is None:
            return
        try:
            out.flush()
            flush_to_disk(out.fileno(), self.path, None)
        except BaseException:
            out.abandon()
            raise
        finally:
            out.close()
            self._open = None

    def publish(self, names: Sequence[str]) -> None:
        """Give the outputs, in the order in which they were opened, these names.

        Raises `WriteError`; then names that were free are free again. A file that `force` replaced before the failure
        stays replaced: its new content is whole.
        """
        if len(names) != len(self._members):
            raise ValueError(f"{len(names)} names for {len(self._members)} outputs")
        if self.direct:
            self._stack.close()
            self._published = True
            return
        first: dict[tuple[str, str], int] = {}
        places = [(os.path.realpath(os.path.dirname(name)), os.path.basename(name)) for name in names]
        for number, name in enumerate(names):
            if first.setdefault(places[number], number) != number:
                raise WriteError(f"'{name}' would be written twice: choose another name for one of the outputs")
        self._finish()
        members = list(zip(self._members, names, strict=True))
        for temporary, name in members:
            old = check_target(name, self._force, self._same_as)
            if old is not None:
                os.chmod(temporary, stat.S_IMODE(old.st_mode) & 0o777)
        new: list[tuple[str, os.stat_result]] = []
        try:
            for temporary, name in reversed(members):
                if not os.path.lexists(name):
                    new.append((name, os.stat(temporary)))
                publish(temporary, name, self._force)
        except BaseException:
            for name, ours in new:
                _take_back(name, ours)
            raise
        self._published = True
        for directory in {os.path.dirname(name) or "." for name in names}:
            sync_directory(directory)


def is_direct(path: str) -> bool:
    """Return whether `path` is standard output, a pipe or a device, which takes one output, written directly."""
    if path == "-":
        return True
    found = stat_or_none(path)
    return found is not None and (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode))


def _take_back(name: str, ours: os.stat_result) -> None:
    """Remove a name if it was given to our file."""
    with suppress(OSError):
        if os.path.samestat(os.lstat(name), ours):
            os.unlink(name)
