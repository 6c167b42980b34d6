"""Define `tfrtool head`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import Common, check_page, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.verbs.options import Options

RECORDS = 5
"""Records shown unless `-n` says otherwise."""
ALL = -1
"""The value of `--values all`."""


def _number_or_all(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Return the value of --values: a number, or ALL for `all`."""
    if value is None or value == "all":
        return None if value is None else ALL
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise click.BadParameter(f"{value!r} is not a number or 'all'")
    return int(value)


@reading_command("head")
@click.option("-n", "--number", type=click.IntRange(min=0), metavar="N", help=f"Show N records.  [default: {RECORDS}]")
@click.option("--skip", type=click.IntRange(min=0), default=0, metavar="K", help="Skip the first K intact records.")
@click.option("--record", type=click.IntRange(min=0), metavar="K", help="Show only record K; the first is 0.")
@click.option("--keys", is_flag=True, help="Print the names of all features of these records, one per line.")
@click.option(
    "--values",
    callback=_number_or_all,
    metavar="N|all",
    help="Show the first N values of each feature in full, or all.",
)
@click.option("--raw", is_flag=True, help="Write the bytes of one payload, and nothing else.")
@page_options()
def head(
    common: Common,
    number: int | None,
    skip: int,
    record: int | None,
    keys: bool,
    values: int | None,
    raw: bool,
    html: str | None,
    force: bool,
) -> int:
    """Show the first records of each INPUT, one line per feature.

    Record numbers match `verify`: damaged records count. --record reads only the headers of the records before it.
    """
    if raw:
        _refuse_with_raw(common, number, keys, values, html)
    if keys and (common.json or values is not None):
        raise click.UsageError("--keys prints only names: it cannot be combined with --json or --values")
    if record is not None and (number is not None or skip):
        raise click.UsageError("--record shows one record: it cannot be combined with -n or --skip")
    check_page(common, html, force)
    from tfrtool.cli.session import run

    job = _job((1 if raw else RECORDS) if number is None else number, skip, record)
    if raw:
        from tfrtool.cli.printers.head import HeadRaw

        return run(common, job, HeadRaw(skip if record is None else record), only_one="--raw writes one payload")
    printer = _printer(common, keys, values)
    if html is None:
        return run(common, job, printer)
    from tfrtool.cli.html.head import HeadPage
    from tfrtool.cli.html.printing import run_with_page

    return run_with_page(common, job, printer, HeadPage(values), html, force)


def _refuse_with_raw(common: Common, number: int | None, keys: bool, values: int | None, html: str | None) -> None:
    """Raise `UsageError` for options that cannot be combined with `--raw`."""
    if common.json or keys or values is not None or html is not None:
        raise click.UsageError("--raw cannot be combined with --json, --keys, --values or --html")
    if number not in (None, 1):
        raise click.UsageError(f"--raw writes one payload, and -n asks for {number}")
    if sys.stdout.isatty():
        raise click.UsageError("--raw writes binary data: redirect it to a file or a pipe")


def _job(count: int, skip: int, record: int | None) -> Callable[[str, Options], Iterable[Event]]:
    from tfrtool.verbs.head import head_file, record_file

    if record is None:
        return partial(head_file, n=count, skip=skip)
    return partial(record_file, number=record)


def _printer(common: Common, keys: bool, values: int | None) -> Printer:
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.head import HeadJson, HeadKeys, HeadTerminal, HeadText

    def text(color: bool) -> Printer:
        return HeadKeys() if keys else HeadText(values)

    def terminal(color: bool) -> Printer:
        return HeadKeys() if keys else HeadTerminal(color, values)

    return choose(common, json=lambda: HeadJson(values), text=text, terminal=terminal)
