"""Where records may go: into files that are no other file of the run, or to standard output that holds nothing else.

Where the indexes of some inputs are.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from tfrtool.sources.os_text import input_called
from tfrtool.sources.sinks.atomic import stands_for_open_file

if TYPE_CHECKING:
    from tfrtool.sources.inputs.resolve import Resolution


def is_standard_output(name: str) -> bool:
    """Whether what is written to this name comes out where everything is printed: `-`, or `/dev/stdout`."""
    if name == "-":
        return True
    with suppress(OSError, ValueError):
        target = os.stat(name)
        if os.path.samestat(target, os.fstat(1)):
            is_file = stat.S_ISREG(target.st_mode)
            return stands_for_open_file(name) if is_file else stat.S_ISFIFO(target.st_mode) or os.isatty(1)
    return False


def refuse_json_with_records(json: bool) -> None:
    """Records and JSON Lines do not go to one place."""
    if json:
        raise click.UsageError("-o - writes records to standard output, where --json would write too: choose one")


def refuse_terminal(dry_run: bool) -> None:
    """Records are no text that a terminal can show."""
    if sys.stdout.isatty() and not dry_run:
        raise click.UsageError("-o - writes bytes that a terminal takes for commands: send them to a file or a pipe")


class RunFiles:
    """The files of one run: each is told by its place and, if it is there, by what it is, under whatever name."""

    def __init__(self, inputs: Iterable[str]) -> None:
        self._inputs = {key: name for name in inputs for key in _keys(name)}
        self._written: dict[object, str] = {}
        with suppress(OSError):
            printed = os.fstat(1)
            if stat.S_ISREG(printed.st_mode):
                self._written[printed.st_dev, printed.st_ino] = "where standard output goes"

    def read(self, name: str, option: str) -> None:
        """Note a file that an option names and that is read, though it is none of the inputs."""
        self._written.update(dict.fromkeys(_keys(name), f"what {option} reads"))

    def make(self, directory: str) -> None:
        """Note a directory that will be made."""
        self._written[_place(directory)] = f"the directory '{directory}'"

    def write(self, name: str, called: str = "the output") -> None:
        """Note a file that will be written, or raise `UsageError` where it is another one of the run."""
        keys, what = _keys(name), f"{called} '{name}'"
        for key in keys:
            if key in self._inputs:
                raise click.UsageError(f"{what} is {input_called(self._inputs[key])}; an input is never written to")
            if key in self._written:
                raise click.UsageError(f"{what} is {self._written[key]}: choose another name")
        self._written.update(dict.fromkeys(keys, what))


def refuse_inputs(
    option: str, outputs: Iterable[str], resolution: Resolution, indexes: Iterable[str] = (), *, written: bool = False
) -> None:
    """Raise `UsageError` where a file that an option names is another one of the run, under whatever name.

    Those are the inputs, the lists that name them, and the `indexes`, which are read or `written`.
    """
    files = RunFiles([*resolution.names, *resolution.lists])
    for index in indexes:
        if written:
            _write(files, index, "--index")
        else:
            files.read(index, "--index")
    for output in outputs:
        _write(files, output, option)


def _write(files: RunFiles, output: str, option: str) -> None:
    if not is_standard_output(output):
        files.write(output, option)


def _keys(name: str) -> list[object]:
    """What a file can be told by: the place of its name, and, if it is there, the file itself. None for a device."""
    keys: list[object] = [] if name == "-" else [_place(name)]
    with suppress(OSError, ValueError):
        found = os.fstat(0) if name == "-" else os.stat(name)
        if stat.S_ISCHR(found.st_mode):
            return []
        keys.append((found.st_dev, found.st_ino))
    return keys


def _place(name: str) -> tuple[str, str]:
    directory, base = os.path.split(name.rstrip("/"))
    return os.path.realpath(directory), base


SUFFIX = ".idx"
"""What the name of an index in a directory ends in, as the scripts that NVIDIA DALI comes with call them."""


def index_places(index: str, names: Sequence[str]) -> dict[str, str]:
    """The index of each input: `index` itself, or a file in it, where it is a directory.

    Raises a usage error where several inputs would share one.
    """
    import click

    if not (index.endswith("/") or os.path.isdir(index)):
        if len(names) > 1:
            raise click.UsageError(
                f"--index names one file, and there are {len(names)} inputs: name a directory, such as '{index}/'"
            )
        return dict.fromkeys(names, index)
    places: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        if name == "-":
            raise click.UsageError("standard input has no name to call its index by: say --index FILE, not a directory")
        place = os.path.join(index, os.path.basename(name) + SUFFIX)
        if place in taken:
            raise click.UsageError(
                f"the indexes of '{taken[place]}' and '{name}' would both be '{place}': index them one by one"
            )
        places[name], taken[place] = place, name
    return places
