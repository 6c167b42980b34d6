"""Define `tfrtool verify`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import Common, check_page, file_option, page_options, reading_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.verbs.options import Options


@reading_command("verify")
@click.option("--quick", is_flag=True, help="Check the structure and the length checksums, but not the payloads.")
@click.option("--payload", is_flag=True, help="Also parse every payload.")
@file_option(
    "--index",
    metavar="FILE",
    help="Compare an index file with the input, line by line; with several inputs, FILE is a directory.",
)
@page_options()
def verify(common: Common, quick: bool, payload: bool, index: str | None, html: str | None, force: bool) -> int:
    """Check every byte of each INPUT, including both checksums of every record.

    All damage in all inputs is reported in one pass. Offsets count bytes of the uncompressed stream.

    With --index, the first lines that do not match the file are reported too. An index has no line for a damaged
    record, so --quick also checks the payloads of records that have no line.
    """
    if quick and payload:
        raise click.UsageError("--quick skips payloads and --payload parses them: choose one")
    check_page(common, html, force)
    from tfrtool.cli.session import run
    from tfrtool.verbs.verify import verify_file

    resolution, places = None, dict[str, str]()
    if index is not None:
        from tfrtool.cli.paths import index_places
        from tfrtool.sources.inputs.resolve import resolve

        resolution = resolve(common.inputs)
        places = index_places(index, resolution.names)

    def job(name: str, options: Options) -> Iterable[Event]:
        return verify_file(name, options if index is None else replace(options, index=places[name]))

    printer = _printer(common, quick, index is not None)
    if html is None:
        return run(common, job, printer, resolution=resolution, quick=quick, payload=payload)
    from tfrtool.cli.html.printing import run_with_page
    from tfrtool.cli.html.verify import VerifyPage

    checks = {"quick": quick, "payload": payload}
    page, indexes = VerifyPage(quick), places.values()
    return run_with_page(common, job, printer, page, html, force, resolution=resolution, indexes=indexes, **checks)


def _printer(common: Common, quick: bool, index: bool) -> Printer:
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.verify import IndexTerminal, IndexText, VerifyTerminal, VerifyText

    def json() -> Printer:
        from tfrtool.cli.printers.jsonl import JsonPrinter
        from tfrtool.cli.printers.verify import IndexJson

        fields = ("bytes", "damaged_bytes", "restorable")
        return IndexJson((*fields, "index_faults")) if index else JsonPrinter(fields)

    def text(color: bool) -> Printer:
        return (IndexText if index else VerifyText)(color, quick)

    def terminal(color: bool) -> Printer:
        return (IndexTerminal if index else VerifyTerminal)(color, quick)

    return choose(common, json=json, text=text, terminal=terminal)
