"""Check where outputs go: files that differ from all others of the run, or standard output. Locate indexes."""

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
    """Return whether this name is standard output: `-`, `/dev/stdout` or an open file that stands for it."""
    if name == "-":
        return True
    with suppress(OSError, ValueError):
        target = os.stat(name)
        if os.path.samestat(target, os.fstat(1)):
            is_file = stat.S_ISREG(target.st_mode)
            return stands_for_open_file(name) if is_file else stat.S_ISFIFO(target.st_mode) or os.isatty(1)
    return False


def refuse_json_with_records(json: bool) -> None:
    """Raise `UsageError` if records and JSON Lines would both go to standard output."""
    if json:
        raise click.UsageError("-o - and --json would both write to standard output: choose one")


def refuse_terminal(dry_run: bool) -> None:
    """Raise `UsageError` if records would go to a terminal."""
    if sys.stdout.isatty() and not dry_run:
        raise click.UsageError("-o - writes binary data: redirect it to a file or a pipe")


class RunFiles:
    """The files of one run, identified by location and, where they exist, by device and inode."""

    def __init__(self, inputs: Iterable[str]) -> None:
        self._inputs = {key: name for name in inputs for key in _keys(name)}
        self._written: dict[object, str] = {}
        with suppress(OSError):
            printed = os.fstat(1)
            if stat.S_ISREG(printed.st_mode):
                self._written[printed.st_dev, printed.st_ino] = "standard output"

    def read(self, name: str, option: str) -> None:
        """Register a file that is read but is not an input."""
        self._written.update(dict.fromkeys(_keys(name), f"the file that {option} reads"))

    def make(self, directory: str) -> None:
        """Register a directory that will be made."""
        self._written[_place(directory)] = f"the directory '{directory}'"

    def write(self, name: str, called: str = "the output") -> None:
        """Register a file that will be written. Raises `UsageError` if it is another file of the run."""
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
    """Raise `UsageError` if an output is another file of the run, under any name.

    The other files are the inputs, the lists that name them, and the `indexes`, which are read or `written`.
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
    """Return what identifies a file: its location and, if it exists, device and inode. Empty for a device."""
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
"""Suffix of an index in a directory, as in the scripts of NVIDIA DALI."""


def index_places(index: str, names: Sequence[str]) -> dict[str, str]:
    """Return the index of each input: `index` itself, or a file in it if it is a directory.

    Raises `UsageError` if several inputs would share one.
    """
    import click

    if not (index.endswith("/") or os.path.isdir(index)):
        if len(names) > 1:
            raise click.UsageError(
                f"--index names one file, but there are {len(names)} inputs: name a directory, such as '{index}/'"
            )
        return dict.fromkeys(names, index)
    places: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        if name == "-":
            raise click.UsageError("standard input has no name for its index: use --index FILE, not a directory")
        place = os.path.join(index, os.path.basename(name) + SUFFIX)
        if place in taken:
            raise click.UsageError(
                f"the indexes of '{taken[place]}' and '{name}' would both be '{place}': write them one at a time"
            )
        places[name], taken[place] = place, name
    return places
