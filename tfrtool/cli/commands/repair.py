"""Define `tfrtool repair`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import click

from tfrtool.cli.options import Common, files, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.commands.repair_outputs import RepairPlan
    from tfrtool.cli.printers.base import Printer
    from tfrtool.errors import WriteError
    from tfrtool.report import Outcome, RepairReport
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.repair.side_files import SideFiles


@reading_command("repair", compression="Compression of the outputs, whatever their names; auto: that of the input.")
@click.option(
    "-o",
    "--output",
    shell_complete=files,
    metavar="OUT",
    help="Output file, or - for standard output; a directory if it exists or ends in /, which is required for several "
    "inputs and for an input that can name several files: a directory, a list, a pattern.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and write nothing.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option(
    "--fix-bits", is_flag=True, help="Try to correct a single flipped bit in damaged payloads of up to 64 KiB."
)
@click.option(
    "--keep-unverified",
    is_flag=True,
    help="Also write payloads that parse but have no valid checksum: it is missing or zero, or no checksum in the file "
    "matches its payload. Some may be incomplete: a payload that lacks four bytes can look the same.",
)
@click.option(
    "--keep",
    type=click.Choice(["all", "before", "after"]),
    default="all",
    show_default=True,
    help="Write all records, or only those before or after the first damage.",
)
@click.option("--quarantine", shell_complete=files, metavar="FILE", help="Write the dropped bytes to FILE.")
@click.option(
    "--report",
    shell_complete=files,
    metavar="FILE",
    help="Write to FILE, as JSON Lines, what was done with every byte.",
)
def repair(
    common: Common,
    output: str | None,
    dry_run: bool,
    force: bool,
    fix_bits: bool,
    keep_unverified: bool,
    keep: Literal["all", "before", "after"],
    quarantine: str | None,
    report: str | None,
) -> int:
    """Recover the intact records of each INPUT into a new file.

    Intact records are copied unchanged, and an intact file byte for byte. A damaged record is recovered if a checksum
    in the file proves it; everything else is dropped, and reported. The output is verified before it is renamed into
    place, so it is either complete or absent. Inputs are never modified.

    The exit code is 0 if nothing of the input is lost.
    """
    from tfrtool.cli.commands.repair_outputs import plan
    from tfrtool.sources.inputs.resolve import resolve
    from tfrtool.verbs.repair.options import RepairOptions

    options = RepairOptions(
        format=common.format,
        output_compression=common.compression,
        keep=keep,
        fix_bits=fix_bits,
        keep_unverified=keep_unverified,
        force=force,
        dry_run=dry_run,
    )
    resolution = resolve(common.inputs)
    return _run(plan(common, options, resolution, output, quarantine, report), resolution)


def _run(planned: RepairPlan, resolution: Resolution) -> int:
    """Repair each input, and return the exit code."""
    from tfrtool.cli.session import run
    from tfrtool.cli.text import plural
    from tfrtool.errors import WriteError
    from tfrtool.report import RepairReport
    from tfrtool.verbs.repair.job import failed
    from tfrtool.verbs.repair.side_files import SideFiles

    force, dry_run = planned.options.force, planned.options.dry_run
    quarantine, report = (None, None) if dry_run else (planned.quarantine, planned.report)
    inputs = tuple(resolution.names)
    is_reported = False  # that the side files could not be written
    with planned.directory_made(), SideFiles(quarantine, report, force=force, inputs=inputs) as side_files:
        for unmatched in resolution.unmatched:
            side_files.failed(unmatched.input, unmatched.message)

        def job(name: str, options: Options) -> Iterator[Outcome | RepairReport]:
            nonlocal is_reported
            for event in _repaired(name, planned, options, side_files):
                if isinstance(event, RepairReport) and name == inputs[-1]:
                    error = _published(side_files).get(name)
                    event = event if error is None else failed(name, error)
                if isinstance(event, RepairReport) and event.error and side_files.failure:
                    is_reported = True
                yield event

        def finish() -> None:
            unreported = [error.facts for name, error in _published(side_files).items() if name != inputs[-1]]
            if side_files.failure:
                if unreported:
                    outputs = plural(len(unreported), "output")
                    raise WriteError(f"{outputs} reported above not written after all; {side_files.failure.facts}")
                if not is_reported:
                    raise side_files.failure
            elif unreported:
                raise WriteError("; ".join(unreported))

        return run(planned.common, job, _printer(planned), resolution=resolution, finish=finish)


def _published(side_files: SideFiles) -> dict[str, WriteError]:
    """Rename all outputs into place at once, and return the errors by input."""
    from tfrtool.cli.main import defer_signals

    side_files.finish()
    with defer_signals():
        return side_files.publish()


def _repaired(
    name: str, planned: RepairPlan, options: Options, side_files: SideFiles
) -> Iterator[Outcome | RepairReport]:
    """Yield the outcomes of one input, then its report."""
    from tfrtool.cli.printers.repair_summary import repair_command
    from tfrtool.cli.streams import OutputError
    from tfrtool.report import RepairReport
    from tfrtool.suggestion import USE_FORCE
    from tfrtool.verbs.repair.job import repair_file

    output = planned.outputs.get(name, "")
    chosen = replace(planned.options, progress=options.progress)
    try:
        for event in repair_file(name, output, chosen, side_files):
            if isinstance(event, RepairReport) and event.suggestion == USE_FORCE:  # here the whole command is known
                event.hint, event.suggestion = f"to {USE_FORCE.aim}, run: {repair_command(planned, event)}", None
            if isinstance(event, RepairReport) and event.output and len(planned.outputs) == 1:
                _check_extension(planned, event.output, event.compression)
            yield event
    except BrokenPipeError as error:
        if planned.to_stdout:
            raise OutputError(error) from None
        yield RepairReport(name, "error", error=("write", f"cannot write '{output}': broken pipe"))


def _check_extension(planned: RepairPlan, output: str, of_input: str | None) -> None:
    """Warn if the extension of an output does not match its compression."""
    from tfrtool.cli.streams import say
    from tfrtool.verbs.convert.shards import compression_by_name

    asked = planned.options.output_compression
    actual = (of_input or "none") if asked == "auto" else asked
    expected = compression_by_name(output) or "none"
    if expected != actual and output != "-" and not planned.common.quiet:
        how = "not compressed" if actual == "none" else f"{actual}-compressed"
        like = ", like its input" if asked == "auto" else ""
        name = "the name does not show it" if expected == "none" else f"the name says {expected}"
        say(f"'{output}' is {how}{like}, but {name}; -z {expected} would match the name")


def _printer(planned: RepairPlan) -> Printer:
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.repair import RepairJson, RepairTerminal, RepairText

    stream = sys.stderr if planned.to_stdout else sys.stdout

    def json() -> Printer:
        return RepairJson(planned)

    def text(color: bool) -> Printer:
        return RepairText(planned, color, stream)

    def terminal(color: bool) -> Printer:
        return RepairTerminal(planned, color, stream)

    return choose(planned.common, json=json, text=text, terminal=terminal, stream=stream)
