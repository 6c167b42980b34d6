"""What `tfrtool head` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.verbs.options import Options

RECORDS = 5
"""Records shown unless `-n` says otherwise."""


def head(
    common: Common,
    number: int | None = None,
    skip: int = 0,
    keys: bool = False,
    values: int | None = None,
    raw: bool = False,
    record: int | None = None,
    html: str | None = None,
    force: bool = False,
) -> int:
    """Show the first records of each input; the result is the exit code."""
    from tfrtool.cli.session import run

    count = (1 if raw else RECORDS) if number is None else number

    def first(name: str, options: Options) -> Iterable[Event]:
        from tfrtool.verbs.head import head_file

        return head_file(name, options, count, skip)

    job: Callable[[str, Options], Iterable[Event]] = first if record is None else _numbered(record)
    if raw:
        from tfrtool.cli.printers.head import HeadRaw

        return run(common, job, HeadRaw(skip if record is None else record), only_one="--raw writes one payload")
    printer = _printer(common, keys, values)
    if html is None:
        return run(common, job, printer)
    from tfrtool.cli.html.head import HeadPage
    from tfrtool.cli.html.printing import run_with_page

    return run_with_page(common, job, printer, HeadPage(values), html, force)


def _numbered(record: int) -> Callable[[str, Options], Iterable[Event]]:
    """The job of showing one record of each input."""

    def job(name: str, options: Options) -> Iterable[Event]:
        from tfrtool.verbs.head import record_file

        return record_file(name, options, record)

    return job


def _printer(common: Common, keys: bool, values: int | None) -> Printer:
    if common.json:
        from tfrtool.cli.printers.head import HeadJson

        return HeadJson(values)
    if common.quiet:
        from tfrtool.cli.printers.base import SilentPrinter

        return SilentPrinter()
    from tfrtool.cli.printers.head import HeadKeys, HeadText

    if keys:
        return HeadKeys()
    from tfrtool.cli.text import on_terminal, wants_color

    if on_terminal():
        from tfrtool.cli.printers.head import HeadTerminal

        return HeadTerminal(wants_color(common.color, True), values)
    return HeadText(values)
