"""`tfrtool verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import Common, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.session import Printer


@reading_command("verify")
@click.option("--quick", is_flag=True, help="Check the structure and the checksums of lengths, not those of payloads.")
@click.option("--payload", is_flag=True, help="Parse every payload too.")
def verify(common: Common, quick: bool, payload: bool) -> int:
    """Check every byte of each INPUT: both checksums of every record.

    All damage in all inputs is found in one pass. In a pipe, a damaged range is a line of tab-separated fields: path,
    fault, first byte, byte behind the last, number of the record, how many records of the range can be brought back,
    what is wrong. A line for each input follows: path, status, sound records, damaged bytes, how many records can be
    brought back, what is wrong. Bytes are counted in the unpacked stream.
    """
    if quick and payload:
        raise click.UsageError("--quick leaves payloads alone and --payload parses them: choose one")
    from tfrtool.cli.session import run
    from tfrtool.verbs.verify import verify_file

    return run(common, verify_file, _printer(common, quick), quick=quick, payload=payload)


def _printer(common: Common, quick: bool) -> Printer:
    if common.json:
        from tfrtool.cli.json_out import JsonPrinter

        return JsonPrinter(("bytes", "damaged_bytes", "restorable"))
    if common.quiet:
        from tfrtool.cli.session import Silent

        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if on_terminal():
        from tfrtool.cli.verify_terminal import VerifyTerminal

        return VerifyTerminal(color, quick)
    from tfrtool.cli.verify_text import VerifyText

    return VerifyText(color, quick)
