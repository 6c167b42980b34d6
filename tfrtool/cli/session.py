"""Run the loop that all reading commands share: jobs on inputs, results to a printer, an exit code."""

from __future__ import annotations

import gc
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tfrtool.cli.streams import OutputError, say
from tfrtool.cli.text import plural
from tfrtool.errors import TfrtoolError
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.options import Common
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.verbs.options import Options


def run(
    common: Common,
    job: Callable[[str, Options], Iterable[Event]],
    printer: Printer,
    *,
    only_one: str = "",
    resolution: Resolution | None = None,
    finish: Callable[[], bool | None] | None = None,
    passes: int = 1,
    **settings: Any,
) -> int:
    """Run `job` on every input in order, print what it yields, and return the exit code.

    `settings` are more fields of the job's `Options`. An input that fails is reported, and does not stop the others.
    `only_one` is the reason why only one input is allowed, if so. `resolution` is what the inputs resolve to, if it is
    known already. `finish` is called after all inputs, before the totals are printed; it returns True if its result is
    incomplete, which is a finding. `passes` is how often the job reads all inputs.
    """
    from tfrtool.sources.inputs.resolve import resolve
    from tfrtool.verbs.options import Options

    gc.freeze()  # collection skips what was imported
    gc.enable()
    if resolution is None:
        resolution = resolve(common.inputs)
    missing = [shard.name for shard in resolution.missing]
    names = resolution.names
    _refuse_report_into_input([*names, *resolution.lists])
    if common.verbose and resolution.passed_over:
        files = plural(resolution.passed_over, "file")
        say(
            f"{files} in directories skipped, because their names are not those of record files; name a file to read it"
        )
    if resolution.mixed and not common.quiet:
        from tfrtool.cli.warnings import warn_mixed

        warn_mixed(resolution.mixed)
    if only_one and len(names) > 1:
        import click

        raise click.UsageError(f"{only_one}, but there are {len(names)} inputs")
    progress = None
    if common.progress and not common.quiet and sys.stderr.isatty():
        from tfrtool.cli.terminal.progress import Progress

        progress = Progress(names, passes)
    options = Options(
        format=common.format,
        compression=common.compression,
        progress=progress.advance if progress else None,
        **settings,
    )
    summary = Summary(missing=sum(shard.count for shard in resolution.missing))
    try:
        with closing(_events(resolution, job, options, common.verbose)) as events:
            for name, event in events:
                if progress:
                    progress.hide()
                printer.show(name, event)
                if isinstance(event, FileReport):
                    sys.stdout.flush()
                    _remark(event, common.verbose)
                    summary = summary.merge(Summary.of([event]))
    finally:
        if progress:
            progress.close()
    if finish is not None:
        try:
            summary.incomplete = bool(finish())
        except TfrtoolError as error:
            from tfrtool.cli.suggestions import error_text

            say(error_text(error))
            summary.failed = True
    printer.end(summary, missing)
    return summary.exit


def _refuse_report_into_input(names: Sequence[str]) -> None:
    """Raise `WriteError` if standard output goes to an input, as with `>>`."""
    try:
        target = os.fstat(1)
    except OSError:  # it is closed
        return
    if stat.S_ISREG(target.st_mode):
        from tfrtool.sources.sinks.atomic import refuse_inputs
        from tfrtool.sources.sinks.same_file import FileIds

        refuse_inputs("-", target, [FileIds(names)])


def _events(
    resolution: Resolution, job: Callable[[str, Options], Iterable[Event]], options: Options, verbose: int
) -> Generator[tuple[str, Event], None, None]:
    """Yield what `job` yields for each input.

    A job reports what it expects to go wrong. Any other exception becomes the report of its input here, so that the
    other inputs have their turn.
    """
    for entry in resolution.entries:
        if not isinstance(entry, str):
            yield entry.input, FileReport(entry.input, "error", message=entry.message, error=("open", entry.message))
            continue
        try:
            for event in job(entry, options):
                yield entry, event
        except OutputError:
            raise
        except Exception as error:
            from tfrtool.cli.suggestions import failure, say_traceback

            kind, message = failure(error)
            if verbose > 1:
                say_traceback(error)
            yield entry, FileReport(entry, "error", message=message, error=(kind, message))


def _remark(report: FileReport, verbose: int) -> None:
    """Report errors and, if `verbose`, what an input is, on standard error."""
    if report.error:
        from tfrtool.cli.suggestions import advice

        say(report.error[1], report.path, advice(report))
    elif verbose:
        compression = "not compressed" if report.compression == "none" else report.compression
        taken = (report.format or report.diagnosis or "unknown format", compression, report.kind)
        say(", ".join(filter(None, taken)), report.path)
