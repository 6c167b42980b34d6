"""`tfrtool stat`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import check_page, file_option, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common


@reading_command("stat")
@click.option("--duplicates", is_flag=True, help="Read all payloads too, and count those that an earlier record has.")
@file_option(
    "--index",
    metavar="FILE",
    help="Write a line <offset> <size> for each sound record into FILE; for several inputs, FILE is a directory.",
)
@page_options("Replace an index or a page that exists.")
def stat(common: Common, duplicates: bool, index: str | None, html: str | None, force: bool) -> int:
    """Say how each INPUT is made, and all of them: sizes of payloads, framing, compression, how even the shards are.

    Reads the record headers only, where the input can be read out of order; with --duplicates and --index it reads all,
    and checks both checksums of every record. A percentile is the smallest size that so many of the payloads do not
    exceed.

    In a pipe, an input is a line of tab-separated fields: path, status, records, bytes of payloads, bytes of framing,
    sizes of payloads (smallest, 50th percentile, mean, 95th, 99th, largest), bytes on disk, format, compression, kind,
    records that repeat an earlier payload, what is wrong. A last line, `total`, follows for several inputs.

    An index is what NVIDIA DALI and the PyPI package tfrecord read: its offsets and sizes are those of whole frames, in
    bytes. In a directory it is called as its input, with .idx at the end.
    """
    from tfrtool.cli.commands import stat_run
    from tfrtool.cli.paths import is_standard_output

    if force and index is None and html is None:
        raise click.UsageError("--force replaces an index or a page: say --index FILE or --html FILE")
    if index is not None and not common.quiet and is_standard_output(index):
        raise click.UsageError(
            f"--index {index} writes to standard output, which has the report: add -q or name a file"
        )
    check_page(common, html, force, replaces=True)
    return stat_run.stat(common, duplicates, index, force, html)
