"""Several outputs that take their names together, or none of them.

Every file is written whole under a hidden name first. Names are then given from the last to the first, so that a set
that a crash cuts short lacks its first member, which no reader can miss; whatever else goes wrong takes back the names
that were given.
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
from tfrtool.sources.sinks.temp_files import locks_to_spare, sweep, temporary_name


class OutputSet:
    """The outputs of one run, beside `path`; a context manager that leaves nothing behind unless `publish` was called.

    `path` is the one output, or one of that directory and of a name like those of the members. `-`, a pipe or a device
    can only be the one output, and is written directly. With `make_directory` the directory of the members is made if
    it alone is missing, and goes again if nothing is published. `same_as` names the inputs, none of which may be an
    output; `text` is that of `atomic_output`. Failures are `WriteError`; a reader of standard output who went away is
    `BrokenPipeError`.
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
        self._claims: list[int] = []  # descriptors that keep the locks of finished members
        self._most_claims = locks_to_spare()
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
        if not self.direct:
            sweep(directory)
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
            for claim in self._claims:
                os.close(claim)
            self._claims.clear()
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
        if len(self._claims) < self._most_claims:
            self._claims.append(os.dup(fd))
        self._open = Output(fd, f"'{path}'")
        return cast(BinaryIO, self._open)

    @property
    def sent(self) -> int:
        """Bytes that went into a pipe or a device."""
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
        """Give the outputs, in the order in which they were opened, these names: all, or none."""
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
        given: list[tuple[str, os.stat_result, tuple[str, ...]]] = []
        try:
            for temporary, name in reversed(list(zip(self._members, names, strict=True))):
                old = check_target(name, self._force, self._same_as)
                if old is not None:
                    os.chmod(temporary, stat.S_IMODE(old.st_mode) & 0o777)
                backups = None if old is None else _backup_names(name)
                given.append((name, os.stat(temporary), backups or ()))
                if backups:
                    _back_up(name, *backups)
                publish(temporary, name, self._force)
        except BaseException:
            for name, ours, names_of_old in reversed(given):
                _take_back(name, ours, names_of_old)
            raise
        for _, _, names_of_old in given:
            for backup in names_of_old:
                remove(backup)
        self._published = True
        for directory in {os.path.dirname(name) or "." for name in names}:
            sync_directory(directory)


def is_direct(path: str) -> bool:
    """Whether a name is that of standard output, a pipe or a device, which takes one output, as it is written."""
    if path == "-":
        return True
    found = stat_or_none(path)
    return found is not None and (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode))


def _backup_names(name: str) -> tuple[str, str]:
    """Two hidden names to bring back by the file that will be replaced: for a link to it, and for itself.

    The latter is none that is cleared away once its process is dead: there the file has no other name for a moment.
    """
    directory, base = os.path.split(name)
    linked = os.path.join(directory, temporary_name(base))
    return linked, linked.removesuffix(".tmp") + ".old"


def _back_up(name: str, linked: str, moved: str) -> None:
    """Give a file the one name too or, on a file system without hard links, the other in place of its own."""
    try:
        os.link(name, linked, follow_symlinks=False)
    except OSError:
        try:
            os.rename(name, moved)
        except OSError as error:
            raise WriteError(f"cannot replace '{name}': {reason(error)}; nothing was published") from error


def _take_back(name: str, ours: os.stat_result, backups: tuple[str, ...]) -> None:
    """Take a name back, if it was given, and give it to the file that had it before."""
    with suppress(OSError):
        present = os.lstat(name) if os.path.lexists(name) else None
        if present is not None and not os.path.samestat(present, ours):
            for backup in backups:
                remove(backup)
            return
        for backup in filter(os.path.lexists, backups):
            os.replace(backup, name)
            return
        if present is not None:
            os.unlink(name)
