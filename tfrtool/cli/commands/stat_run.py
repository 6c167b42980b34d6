"""What `tfrtool stat` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.session import run
from tfrtool.cli.streams import OutputError
from tfrtool.sources.sinks.same_file import FileIds
from tfrtool.verbs.stat.job import StatOptions, stat_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Event
    from tfrtool.cli.printers.stat import StatJson, StatTerminal, StatText
    from tfrtool.verbs.options import Options


def stat(
    common: Common,
    duplicates: bool = False,
    index: str | None = None,
    force: bool = False,
    html: str | None = None,
) -> int:
    """Say how each input is made; the result is the exit code."""
    from tfrtool.sources.inputs.resolve import resolve

    resolution = resolve(common.inputs)
    names = resolution.names
    places: dict[str, str] = {}
    if index is not None:
        from tfrtool.cli.paths import index_places, refuse_inputs

        places = index_places(index, names)
        if len(names) == 1:  # of many, each of which is told when it is written, every one would be looked up again
            refuse_inputs("--index", places.values(), resolution)
    inputs = FileIds([*names, *resolution.lists])

    def job(name: str, options: Options) -> Iterator[Event]:
        given = vars(options)
        own: dict[str, Any] = {"duplicates": duplicates, "write_index": places.get(name), "force": force}
        try:
            yield from stat_file(name, StatOptions(**given, **own, inputs=(inputs,)))
        except BrokenPipeError as error:
            if index != "-":
                raise
            raise OutputError(error) from None

    printer = _printer(common)

    def finish() -> None:
        if not isinstance(printer, SilentPrinter) and printer.total.undigested:
            raise printer.total.undigested

    if html is None:
        return run(common, job, printer, resolution=resolution, finish=finish)
    from tfrtool.cli.html.printing import run_with_page
    from tfrtool.cli.html.stat import StatPage

    page = StatPage(None if isinstance(printer, SilentPrinter) else printer.total)
    how: dict[str, Any] = {"indexes": places.values(), "written": True, "finish": finish}
    return run_with_page(common, job, printer, page, html, force, resolution=resolution, **how)


def _printer(common: Common) -> SilentPrinter | StatJson | StatTerminal | StatText:
    if common.json:
        from tfrtool.cli.printers.stat import StatJson

        return StatJson()
    if common.quiet:
        return SilentPrinter()
    from tfrtool.cli.text import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if on_terminal():
        from tfrtool.cli.printers.stat import StatTerminal

        return StatTerminal(color)
    from tfrtool.cli.printers.stat import StatText

    return StatText(color)
