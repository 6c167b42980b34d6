"""Define `tfrtool stat`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tfrtool.cli.options import Common, check_page, file_option, page_options, reading_command
from tfrtool.cli.streams import OutputError

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event, SilentPrinter
    from tfrtool.cli.printers.stat import StatJson, StatTerminal, StatText
    from tfrtool.verbs.options import Options


@reading_command("stat")
@click.option("--duplicates", is_flag=True, help="Read all payloads and count those that repeat an earlier one.")
@file_option(
    "--index",
    metavar="FILE",
    help="Write a line <offset> <size> for each intact record to FILE; with several inputs, FILE is a directory.",
)
@page_options("Replace an existing index or page.")
def stat(common: Common, duplicates: bool, index: str | None, html: str | None, force: bool) -> int:
    """Show record sizes, framing overhead, compression and shard balance of each INPUT and of all of them.

    Reads only the record headers where the input is seekable. --duplicates and --index read the payloads too, and check
    both checksums of every record. Percentiles use the nearest-rank method.

    An index is the file that NVIDIA DALI and the PyPI package tfrecord read: the offset and the size of each whole
    frame, in bytes. In a directory, an index is named after its input, with .idx appended.
    """
    from tfrtool.cli.paths import is_standard_output

    if force and index is None and html is None:
        raise click.UsageError("--force replaces an index or a page: add --index FILE or --html FILE")
    if index is not None and not common.quiet and is_standard_output(index):
        raise click.UsageError(
            f"--index {index} and the report would both go to standard output: add -q, or name a file"
        )
    check_page(common, html, force, replaces=True)
    return run_stat(common, duplicates, index, force, html)


def run_stat(
    common: Common,
    duplicates: bool = False,
    index: str | None = None,
    force: bool = False,
    html: str | None = None,
) -> int:
    """Run the command with options that do not conflict, and return the exit code."""
    from tfrtool.cli.printers.base import SilentPrinter
    from tfrtool.cli.session import run
    from tfrtool.sources.inputs.resolve import resolve
    from tfrtool.sources.sinks.same_file import FileIds
    from tfrtool.verbs.stat.job import StatOptions, stat_file

    resolution = resolve(common.inputs)
    names = resolution.names
    places: dict[str, str] = {}
    if index is not None:
        from tfrtool.cli.paths import index_places, refuse_inputs

        places = index_places(index, names)
        if len(names) == 1:  # with many inputs each index is checked as it is written: not all of them at each
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
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.stat import StatJson, StatTerminal, StatText

    return choose(common, json=StatJson, text=StatText, terminal=StatTerminal)
