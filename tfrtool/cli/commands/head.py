"""`tfrtool head`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tfrtool.cli.commands.head_run import RECORDS
from tfrtool.cli.options import check_page, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common

ALL = -1
"""What `--values all` stands for."""


def _number_or_all(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """The value of --values: a number, or ALL for `all`."""
    if value is None or value == "all":
        return None if value is None else ALL
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise click.BadParameter(f"{value!r} is neither a number nor all")
    return int(value)


@reading_command("head")
@click.option("-n", "--number", type=click.IntRange(min=0), metavar="N", help=f"Show N records.  [default: {RECORDS}]")
@click.option("--skip", type=click.IntRange(min=0), default=0, metavar="K", help="Pass over the first K sound records.")
@click.option("--record", type=click.IntRange(min=0), metavar="K", help="Show record K alone; the first is 0.")
@click.option("--keys", is_flag=True, help="Print the names of all features of these records, one a line.")
@click.option(
    "--values", callback=_number_or_all, metavar="N|all", help="Show the first N values of a feature whole, or all."
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
    """Show the first records of each INPUT, a line a feature.

    In a pipe the fields of a line are separated by tabs: path, number of the record, name of the feature, its kind, how
    many values it has, a preview of them. A record without features is a line without a name.

    Record numbers match `verify`: damaged records count. --record reads the headers of the records before it.
    """
    from tfrtool.cli.commands import head_run

    if raw and html is not None:
        raise click.UsageError("--raw writes a payload as it is: leave out --html")
    _refuse_contradictions(common, number, keys, values, raw)
    if record is not None and (number is not None or skip):
        raise click.UsageError("--record shows one record: leave out -n and --skip")
    check_page(common, html, force)
    return head_run.head(common, number, skip, keys, values, raw, record, html, force)


def _refuse_contradictions(common: Common, number: int | None, keys: bool, values: int | None, raw: bool) -> None:
    if raw and (common.json or keys or values is not None):
        raise click.UsageError("--raw writes a payload as it is: leave out --json, --keys and --values")
    if raw and number not in (None, 1):
        raise click.UsageError(f"--raw writes one payload, and -n asks for {number}")
    if raw and sys.stdout.isatty():
        raise click.UsageError("--raw writes bytes that a terminal takes for commands: send them to a file or a pipe")
    if keys and (common.json or values is not None):
        raise click.UsageError("--keys prints names alone: leave out --json (which has the names) and --values")
