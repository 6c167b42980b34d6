"""Run a command that also writes a page; the page is complete or absent."""

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
    """Passes everything to two printers."""

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
    """Run a command as `tfrtool.cli.session.run` does, and write the page to `path`; `force` replaces an existing file.

    `indexes` are those that the command reads or, if `written`, writes. Raises `UsageError` if the page is one of them
    or an input, and `WriteError` if it cannot be written, before anything is read if possible.
    """
    if resolution is None:
        from tfrtool.sources.inputs.resolve import resolve

        resolution = resolve(common.inputs)  # before the page exists, which may be in a directory that is read
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
