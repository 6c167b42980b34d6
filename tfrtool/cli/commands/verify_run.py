"""What `tfrtool verify` does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.session import run
from tfrtool.verbs.verify import verify_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.verbs.options import Options


def verify(
    common: Common,
    quick: bool = False,
    payload: bool = False,
    index: str | None = None,
    html: str | None = None,
    force: bool = False,
) -> int:
    """Check every byte of each input; the result is the exit code."""
    job: Callable[[str, Options], Iterable[Event]] = verify_file
    resolution, places = None, dict[str, str]()
    if index is not None:
        from tfrtool.cli.paths import index_places
        from tfrtool.sources.inputs.resolve import resolve

        resolution = resolve(common.inputs)
        places = index_places(index, resolution.names)
        job = _held_against(places)
    printer = _printer(common, quick, index is not None)
    if html is None:
        return run(common, job, printer, resolution=resolution, quick=quick, payload=payload)
    from tfrtool.cli.html.printing import run_with_page
    from tfrtool.cli.html.verify import VerifyPage

    checks = {"quick": quick, "payload": payload}
    page, indexes = VerifyPage(quick), places.values()
    return run_with_page(common, job, printer, page, html, force, resolution=resolution, indexes=indexes, **checks)


def _held_against(places: Mapping[str, str]) -> Callable[[str, Options], Iterable[Event]]:
    """The job of verifying each input, and holding its index against it."""

    def job(name: str, options: Options) -> Iterable[Event]:
        return verify_file(name, replace(options, index=places[name]))

    return job


def _printer(common: Common, quick: bool, index: bool = False) -> Printer:
    if common.json:
        fields = ("bytes", "damaged_bytes", "restorable")
        if index:
            from tfrtool.cli.printers.verify import IndexJson

            return IndexJson((*fields, "index_faults"))
        from tfrtool.cli.printers.jsonl import JsonPrinter

        return JsonPrinter(fields)
    if common.quiet:
        return SilentPrinter()
    from tfrtool.cli.text import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if index:
        from tfrtool.cli.printers.verify import IndexTerminal, IndexText

        return IndexTerminal(color, quick) if on_terminal() else IndexText(color, quick)
    if on_terminal():
        from tfrtool.cli.printers.verify import VerifyTerminal

        return VerifyTerminal(color, quick)
    from tfrtool.cli.printers.verify import VerifyText

    return VerifyText(color, quick)
