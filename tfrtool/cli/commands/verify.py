"""`tfrtool verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import check_page, file_option, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common


@reading_command("verify")
@click.option("--quick", is_flag=True, help="Check the structure and the checksums of lengths, not those of payloads.")
@click.option("--payload", is_flag=True, help="Parse every payload too.")
@file_option(
    "--index",
    metavar="FILE",
    help="Hold an index of the input against it, line by line; for several inputs, FILE is a directory.",
)
@page_options()
def verify(common: Common, quick: bool, payload: bool, index: str | None, html: str | None, force: bool) -> int:
    """Check every byte of each INPUT: both checksums of every record.

    All damage in all inputs is found in one pass. In a pipe, a damaged range is a line of tab-separated fields: path,
    fault, first byte, byte behind the last, number of the record, how many records of the range can be brought back,
    what is wrong. A line for each input follows: path, status, sound records, damaged bytes, how many records can be
    brought back (empty where a pipe cannot tell), what is wrong. Bytes are counted in the unpacked stream.

    The first lines of an index that disagree with the file are such lines too, with `index` for a fault. A damaged
    record has no line in an index, so --quick checks the payloads of those records that have none.
    """
    if quick and payload:
        raise click.UsageError("--quick leaves payloads alone and --payload parses them: choose one")
    check_page(common, html, force)
    from tfrtool.cli.commands import verify_run

    return verify_run.verify(common, quick, payload, index, html, force)
