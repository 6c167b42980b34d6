"""`tfrtool schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tfrtool.cli.options import check_page, file_option, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common

FORMATS = ("table", "json", "tf", "pbtxt", "tfds", "dali", "tfrecord")


@reading_command("schema")
@click.option("-n", "--number", type=click.IntRange(min=1), metavar="N", help="Read the first N records of each input.")
@click.option(
    "--emit",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Print the schema for another program: json, a tf.io feature description (tf), a tensorflow_metadata Schema"
    " (pbtxt), the features of DALI's reader (dali), the description of the package tfrecord; tfds writes two files.",
)
@file_option(
    "-o",
    "--output",
    metavar="OUT",
    help="Write to a file; with --emit tfds, into the folder in which the record files lie.",
)
@click.option("--strict", is_flag=True, help="End in exit code 1 if features conflict, too.")
@page_options("Replace files that exist.")
def schema(
    common: Common,
    number: int | None,
    emit: str,
    output: str | None,
    strict: bool,
    html: str | None,
    force: bool,
) -> int:
    """Show which features the records of all INPUTs have, and of which kind.

    In a pipe, a feature is a line of tab-separated fields: name, kind, records in which it stands, fewest values of a
    record, most values, what they are, what is odd about it. Of SequenceExamples the kind of a feature list begins with
    `list of`. Of events a tag is a line, its steps standing in place of the values; of records of no known kind each
    field at their top. Payloads that do not parse are passed over, and end in exit code 1 as damage does. Of more than
    32,768 features those are described that stand in most records; that some are left out is said, and ends in exit
    code 1. That features conflict is said too, and ends in exit code 1 with --strict: two kinds of one feature, a
    feature missing in some records, a shard unlike the others; so do shards of too many kinds, or too wide, to be
    compared, which is said.

    For tfds an image is one where that gives its samples as they are, with its channels and bits; else it is told as
    bytes, which is said.
    """
    from tfrtool.cli.commands import schema_run

    if common.json and emit not in ("table", "json"):
        raise click.UsageError(f"--json writes JSON Lines, and --emit {emit} something else: choose one")
    if emit == "tfds" and not output:
        raise click.UsageError("--emit tfds writes two files: name the folder of the data by -o")
    if output and (common.json or emit == "table"):
        raise click.UsageError("-o takes what --emit makes for another program: choose a format by --emit")
    if force and not output and html is None:
        raise click.UsageError("--force is for -o and --html")
    if html is not None and emit != "table":
        raise click.UsageError("--html shows the table, and --emit is for another program: choose one")
    check_page(common, html, force, replaces=True)
    return schema_run.schema(common, number, emit, output, force, html, strict)
