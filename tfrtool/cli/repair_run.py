"""What `tfrtool repair` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.cli.repair_plan import Plan, Wish, plan
from tfrtool.cli.repair_toll import again
from tfrtool.cli.session import Silent, run
from tfrtool.cli.streams import OutputError
from tfrtool.cli.unbroken import unbroken
from tfrtool.errors import WriteError
from tfrtool.report import FORCE, RepairReport
from tfrtool.sources.inputs import resolve
from tfrtool.verbs.repair import RepairOptions, failed, repair_file
from tfrtool.verbs.trail import Trail

if TYPE_CHECKING:
    from tfrtool.cli.session import Printer
    from tfrtool.verbs import Options, Outcome


def run_repair(wish: Wish) -> int:
    """Save what can be saved of each input; the result is the exit code."""
    resolution = resolve(wish.common.inputs)
    planned = plan(wish, resolution)
    quarantine, report = (None, None) if wish.dry_run else (wish.quarantine, wish.report)
    inputs = tuple(resolution.names)
    with planned.directory_made(), Trail(quarantine, report, force=wish.force, inputs=inputs) as trail:

        def job(name: str, options: Options) -> Iterator[Outcome | RepairReport]:
            for event in _repaired(name, planned, options, trail):
                if isinstance(event, RepairReport) and name == inputs[-1]:
                    error = _published(trail).get(name)
                    yield event if error is None else failed(name, error)
                else:
                    yield event

        def finish() -> None:
            unpublished = _published(trail)
            told = [error.facts for name, error in unpublished.items() if name != inputs[-1]]
            if trail.failure:
                raise WriteError("; ".join([*told, trail.failure.facts]), trail.failure.remedy)
            if told:
                raise WriteError("; ".join(told))

        return run(wish.common, job, _printer(planned), resolution=resolution, finish=finish)


def _published(trail: Trail) -> dict[str, WriteError]:
    """Publish what waits for its name, in one go; the inputs whose outputs could not be published."""
    trail.settle()
    with unbroken():
        return trail.publish()


def _repaired(name: str, planned: Plan, options: Options, trail: Trail) -> Iterator[Outcome | RepairReport]:
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
        for event in repair_file(name, output, chosen, trail):
            if isinstance(event, RepairReport) and event.remedy == FORCE:  # here the whole command is known
                event.hint, event.remedy = f"to {FORCE.aim}, run: {again(planned, event)}", None
            yield event
    except BrokenPipeError as error:
        if planned.to_stdout:
            raise OutputError(error) from None
        yield RepairReport(name, "error", error=("write", f"cannot write '{output}': its reader went away"))


def _printer(planned: Plan) -> Printer:
    common = planned.wish.common
    if common.json:
        from tfrtool.cli.repair_json import RepairJson

        return RepairJson(planned)
    if common.quiet:
        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    stream = sys.stderr if planned.to_stdout else sys.stdout
    color = wants_color(common.color, on_terminal(stream))
    if on_terminal(stream):
        from tfrtool.cli.repair_terminal import RepairTerminal

        return RepairTerminal(planned, color, stream)
    from tfrtool.cli.repair_text import RepairText

    return RepairText(planned, color, stream)
