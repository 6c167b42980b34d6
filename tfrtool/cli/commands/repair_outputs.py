"""Choose where the outputs of `repair` go, and refuse conflicts before anything is read or written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from tfrtool.cli.paths import RunFiles, is_standard_output, refuse_json_with_records, refuse_terminal
from tfrtool.errors import WriteError

if TYPE_CHECKING:
    from tfrtool.cli.options import Common
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.verbs.repair.options import RepairOptions


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """The options and files of one run of `repair`.

    `outputs` holds the output of each input, and is empty without `--output`. `directory` is the one to make for them,
    if any. `to_stdout`: records go to standard output, so that nothing else may.
    """

    common: Common
    options: RepairOptions
    quarantine: str | None
    report: str | None
    outputs: dict[str, str]
    directory: str | None = None
    to_stdout: bool = False

    @contextmanager
    def directory_made(self) -> Iterator[None]:
        """Make the directory of the outputs, and remove it if none was written."""
        if self.directory is None or self.options.dry_run:
            yield
            return
        try:
            os.mkdir(self.directory)
        except OSError as error:
            from tfrtool.sources.os_text import reason

            what = reason(error)
            if isinstance(error, FileNotFoundError):
                what += "; make its parent directory first"
            elif isinstance(error, FileExistsError):
                what = "the name is taken"
            raise WriteError(f"cannot make the directory '{self.directory}': {what}") from error
        try:
            yield
        finally:
            with suppress(OSError):  # usually not empty
                os.rmdir(self.directory)


def plan(
    common: Common,
    options: RepairOptions,
    resolution: Resolution,
    output: str | None,
    quarantine: str | None,
    report: str | None,
) -> RepairPlan:
    """Choose the outputs. Raises `UsageError` if two files of the run would be one."""
    for option, name in (("--output", output), ("--quarantine", quarantine), ("--report", report)):
        if name == "":
            raise click.UsageError(f"{option} needs the name of a file, and it is empty")
    chosen = partial(RepairPlan, common, options, quarantine, report)
    names, several = resolution.names, _may_be_several(common, resolution)
    if output is None:
        if not options.dry_run:
            raise click.UsageError("missing output: add -o OUT, or --dry-run to see what would be done")
        found = chosen({})
    elif is_standard_output(output):
        _refuse_for_pipe(common, options.dry_run, len(resolution.entries))
        found = chosen(dict.fromkeys(names, "-"), to_stdout=True)
    elif output.endswith("/") or os.path.isdir(output) or (several and not os.path.lexists(output)):
        missing = bool(names) and not os.path.isdir(output)
        found = chosen(_in_directory(output, names), directory=output if missing else None)
    elif several:
        count = len(resolution.entries)
        inputs = f"{count} inputs need" if count > 1 else "an input that can name several files needs"
        raise click.UsageError(f"{inputs} a directory, and '{output}' is not one")
    else:
        found = chosen(dict.fromkeys(names, output))
    _refuse_what_is_one_file(found, [*names, *resolution.lists])
    return found


def _may_be_several(common: Common, resolution: Resolution) -> bool:
    """Return whether a directory is needed: also for a directory, a list or a pattern that matches one file today."""
    entries = resolution.entries
    known = {entry if isinstance(entry, str) else entry.input for entry in entries}
    return len(entries) > 1 or not known.issuperset(common.inputs)


def _refuse_for_pipe(common: Common, dry_run: bool, inputs: int) -> None:
    if inputs > 1:
        raise click.UsageError(f"-o - writes one file, but there are {inputs} inputs")
    refuse_json_with_records(common.json)
    refuse_terminal(dry_run)


def _in_directory(directory: str, names: list[str]) -> dict[str, str]:
    outputs: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        base = os.path.basename(name)
        if name == "-":
            raise click.UsageError(f"standard input has no name for its output in '{directory}': name a file with -o")
        if base in taken:
            raise click.UsageError(
                f"'{taken[base]}' and '{name}' would both be written as '{os.path.join(directory, base)}': "
                "repair them into separate directories"
            )
        taken[base] = name
        outputs[name] = os.path.join(directory, base)
    return outputs


def _refuse_what_is_one_file(found: RepairPlan, names: list[str]) -> None:
    """Raise `UsageError` unless inputs, outputs and side files are all different files, under any name."""
    files = RunFiles(names)
    if found.directory is not None:
        files.make(found.directory)
    for output in found.outputs.values() if not found.to_stdout else ():
        files.write(output)
    for option, side in (("--quarantine", found.quarantine), ("--report", found.report)):
        if side is None:
            continue
        if is_standard_output(side):
            raise click.UsageError(f"{option} needs a file, and {side} is standard output")
        files.write(side, option)
