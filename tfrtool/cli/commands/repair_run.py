"""What `tfrtool repair` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.cli.commands.repair_outputs import RepairPlan, Wish, plan
from tfrtool.cli.main import defer_signals
from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.printers.repair_summary import repair_command
from tfrtool.cli.session import run
from tfrtool.cli.streams import OutputError, say
from tfrtool.cli.text import plural
from tfrtool.errors import WriteError
from tfrtool.report import RepairReport
from tfrtool.sources.inputs.resolve import resolve
from tfrtool.suggestion import USE_FORCE
from tfrtool.verbs.repair.job import failed, repair_file
from tfrtool.verbs.repair.options import RepairOptions
from tfrtool.verbs.repair.side_files import SideFiles

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Printer
    from tfrtool.report import Outcome
    from tfrtool.verbs.options import Options


def run_repair(wish: Wish) -> int:
    """Save what can be saved of each input; the result is the exit code."""
    resolution = resolve(wish.common.inputs)
    planned = plan(wish, resolution)
    quarantine, report = (None, None) if wish.dry_run else (wish.quarantine, wish.report)
    inputs = tuple(resolution.names)
    told_of_failure = False
    with planned.directory_made(), SideFiles(quarantine, report, force=wish.force, inputs=inputs) as side_files:
        for unmatched in resolution.unmatched:
            side_files.failed(unmatched.input, unmatched.message)

        def job(name: str, options: Options) -> Iterator[Outcome | RepairReport]:
            nonlocal told_of_failure
            for event in _repaired(name, planned, options, side_files):
                if isinstance(event, RepairReport) and name == inputs[-1]:
                    error = _published(side_files).get(name)
                    event = event if error is None else failed(name, error)
                if isinstance(event, RepairReport) and event.error and side_files.failure:
                    told_of_failure = True
                yield event

        def finish() -> None:
            untold = [error.facts for name, error in _published(side_files).items() if name != inputs[-1]]
            if side_files.failure:
                if untold:
                    outputs = plural(len(untold), "output")
                    raise WriteError(f"not published after all: {outputs} told of above; {side_files.failure.facts}")
                if not told_of_failure:
                    raise side_files.failure
            elif untold:
                raise WriteError("; ".join(untold))

        return run(wish.common, job, _printer(planned), resolution=resolution, finish=finish)


def _published(side_files: SideFiles) -> dict[str, WriteError]:
    """Publish what waits for its name, in one go; the inputs whose outputs could not be published."""
    side_files.finish()
    with defer_signals():
        return side_files.publish()


def _repaired(
    name: str, planned: RepairPlan, options: Options, side_files: SideFiles
) -> Iterator[Outcome | RepairReport]:
    """What became of the damage of one input, then its report."""
    wish, output = planned.wish, planned.outputs.get(name, "")
    chosen = RepairOptions(
        format=options.format,
        progress=options.progress,
        output_compression=wish.common.compression,
        keep=wish.keep,
        fix_bits=wish.fix_bits,
        keep_unverified=wish.keep_unverified,
        force=wish.force,
        dry_run=wish.dry_run,
    )
    try:
        for event in repair_file(name, output, chosen, side_files):
            if isinstance(event, RepairReport) and event.suggestion == USE_FORCE:  # here the whole command is known
                event.hint, event.suggestion = f"to {USE_FORCE.aim}, run: {repair_command(planned, event)}", None
            if isinstance(event, RepairReport) and event.output and len(planned.outputs) == 1 and not wish.common.quiet:
                _remark_on_name(event.output, wish.common.compression, event.compression)
            yield event
    except BrokenPipeError as error:
        if planned.to_stdout:
            raise OutputError(error) from None
        yield RepairReport(name, "error", error=("write", f"cannot write '{output}': its reader went away"))


def _remark_on_name(output: str, asked: str, of_input: str | None) -> None:
    """Tell where the end of an output's name promises another compression than that of its bytes."""
    from tfrtool.verbs.convert.shards import packing_told

    packed = (of_input or "none") if asked == "auto" else asked
    told = packing_told(output) or "none"
    if told != packed and output != "-":
        how = "not compressed" if packed == "none" else f"compressed by {packed}"
        like = ", like its input" if asked == "auto" else ""
        promise = "does not say so" if told == "none" else f"says {told}"
        say(f"'{output}' is {how}{like}, and its name {promise}; -z {told} would agree with it")


def _printer(planned: RepairPlan) -> Printer:
    common = planned.wish.common
    if common.json:
        from tfrtool.cli.printers.repair import RepairJson

        return RepairJson(planned)
    if common.quiet:
        return SilentPrinter()
    from tfrtool.cli.text import on_terminal, wants_color

    stream = sys.stderr if planned.to_stdout else sys.stdout
    color = wants_color(common.color, on_terminal(stream))
    if on_terminal(stream):
        from tfrtool.cli.printers.repair import RepairTerminal

        return RepairTerminal(planned, color, stream)
    from tfrtool.cli.printers.repair import RepairText

    return RepairText(planned, color, stream)
