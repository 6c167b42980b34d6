"""Runs a command with its page: what it prints stays as it is, and the page is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.cli.paths import refuse_inputs
from tfrtool.cli.session import run
from tfrtool.cli.streams import OutputError
from tfrtool.sources.sinks.atomic import atomic_output

if TYPE_CHECKING:
    from tfrtool.cli.html.page import Page
    from tfrtool.cli.options import Common
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.report import Summary
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.verbs.options import Options


class PrinterPair:
    """Shows everything to one printer, and then to the other."""

    def __init__(self, first: Printer, second: Printer) -> None:
        self._printers = first, second

    def show(self, name: str, event: Event) -> None:
        for printer in self._printers:
            printer.show(name, event)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for printer in self._printers:
            printer.end(summary, missing)


def run_with_page(
    common: Common,
    job: Callable[[str, Options], Iterable[Event]],
    printer: Printer,
    page: Page,
    path: str,
    force: bool,
    *,
    resolution: Resolution | None = None,
    indexes: Iterable[str] = (),
    written: bool = False,
    **settings: Any,
) -> int:
    """As `tfrtool.cli.session.run`, and write the page to `path`; with `force`, over a file that exists.

    `indexes` are those that the command reads or, if `written`, writes. Raises `UsageError` where the page is one of
    them, or an input, and `WriteError` where it cannot be written: before anything is read, where that can be told by
    then.
    """
    if resolution is None:
        from tfrtool.sources.inputs.resolve import resolve

        resolution = resolve(common.inputs)  # before there is a page, which may lie in a directory that is read
    refuse_inputs("--html", [path], resolution, indexes, written=written)
    try:
        with atomic_output(path, force=force, same_as=resolution.names) as out:
            code = run(common, job, PrinterPair(printer, page), resolution=resolution, **settings)
            page.write(out)
    except BrokenPipeError as error:
        if path != "-":
            raise
        raise OutputError(error) from None
    return code
