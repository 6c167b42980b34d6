"""`tfrtool convert`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from tfrtool.cli.commands.option_names import kinds, names, renames
from tfrtool.cli.options import file_option, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common

FORMATS = ("tfrecord", "ofrecord", "jsonl", "parquet")
ROW_FORMATS = ("jsonl", "parquet")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([kmgt]?)(i?)b?", re.IGNORECASE)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A number of bytes: 150MB are 150,000,000, 150MiB are 157,286,400."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip()) if len(value) < 40 else None
    if found is None:
        raise click.BadParameter(f"{value!r} is no size; 150MB or 64MiB are")
    number, unit, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))
    if size < 1:
        raise click.BadParameter(f"{value!r} is less than a byte")
    return size


def _choice(name: str, default: str | None, choices: str, text: str) -> Callable[[Any], Any]:
    """An option of a few words, the first of which holds where it is not given, as None that tells so."""
    kind = click.Choice(choices.split())
    if default is None:
        return click.option(name, type=kind, help=f"{text}  [default: {kind.choices[0]}]")
    return click.option(name, type=kind, default=default, show_default=True, help=text)


@reading_command("convert")
@file_option(
    "-o",
    "--output",
    metavar="OUT",
    help="The file to write, or - for a pipe; the NAME of TFRecord shards; the directory of OFRecord parts, or of one "
    "output for each input where it is a directory or ends in /.",
)
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="The format of the outputs.  [default: what the name of OUT ends in, else that of the first input]",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(ROW_FORMATS),
    help="Take the inputs for rows of this format.  [default: told by their bytes]",
)
@_choice(
    "--compress",
    "auto",
    "auto none gzip zlib",
    "How the outputs are compressed; auto: gzip where OUT ends in .gz, zlib where in .zz or .zlib, else as the first "
    "input, or not at all in another format.",
)
@click.option("--shards", type=click.IntRange(1, 100_000), metavar="N", help="Write N shards of as many records each.")
@click.option(
    "--shard-size",
    callback=_size,
    metavar="SIZE",
    help="Begin a new shard before its records take more than SIZE, as in 150MB, not compressed.",
)
@click.option("--records-per-shard", type=click.IntRange(min=1), metavar="N", help="Write N records into each shard.")
@click.option(
    "--select",
    multiple=True,
    callback=names,
    metavar="NAME,...",
    help="Keep these features, by their names in the input; * is any text, and a name with a comma stands in quotes.",
)
@click.option("--drop", multiple=True, callback=names, metavar="NAME,...", help="Leave these features out.")
@click.option(
    "--rename",
    multiple=True,
    callback=renames,
    metavar="OLD=NEW",
    help="Give a feature another name; one with a = stands in quotes.",
)
@click.option("--strip-prefix", default="", metavar="TEXT", help="Take TEXT, such as image/, off the front of names.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Keep records where, say, 'label == 3' or \"name != 'cat'\" holds: any value compares so; for !=, the feature "
    "has values and none is the same. Floats compare as float32. Of several conditions all must hold.",
)
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    metavar="K",
    help="Pass over the first K records, of those that --where keeps.",
)
@click.option("-n", "--number", type=click.IntRange(min=0), metavar="N", help="Write no more than N records.")
@_choice("--double", "exact", "refuse exact round bytes", "What becomes of doubles in an Example.")
@_choice("--int", "int64", "int64 int32 auto", "What int64 becomes in an OFRecord; auto reads all of it first.")
@click.option("--type", "types", multiple=True, callback=kinds, metavar="NAME=KIND", help="The kind of one feature.")
@_choice("--no-kind", "keep", "keep drop refuse", "What becomes of features without a kind.")
@_choice("--empty", None, "refuse skip keep", "What becomes of records without features in an OFRecord.")
@_choice(
    "--unknown",
    None,
    "refuse keep drop",
    "What becomes of fields that the messages do not have; what is written in the format in which it was read is only "
    "looked at for them where this is given, or an option about features.",
)
@_choice("--sequence", "refuse", "refuse flatten", "Whether a SequenceExample is laid flat, as an OFRecord holds it.")
@file_option(
    "--schema", metavar="FILE", help="Take the names and kinds of features from FILE, which --schema-out wrote."
)
@file_option(
    "--schema-out",
    metavar="FILE",
    help="Write the names and kinds of features to FILE, for the way back.",
)
@click.option("--skip-damaged", is_flag=True, help="Leave out what is damaged, where otherwise nothing is written.")
@click.option(
    "--payload",
    is_flag=True,
    help="Parse every payload too, as verify --payload does: one that is not of the kind of its file is damaged.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option("--dry-run", is_flag=True, help="Read everything and say what would be lost, and write nothing.")
def convert(common: Common, output: str | None, dry_run: bool, **wish: Any) -> int:
    """Write the records of all INPUTs, in their order, in another format, or cut, joined, compressed and chosen anew.

    OFRecord and TFRecord (of Examples) become each other on the wire: bytes, floats and int64 are copied bit for bit.
    int32 becomes int64, and double becomes float where that is exact; --schema-out keeps the kinds for the way back.
    JSON Lines (one object a record) and Parquet (a column for each feature) are written and read too; Parquet needs
    pyarrow, which tfrtool[parquet] brings.
    What the output cannot hold is refused, with the record, the feature and the value, unless an option says what to
    do with it. All outputs are published together, or none.

    In a pipe, each line is tab-separated fields. A damaged range: path, fault, first byte, byte behind the last, number
    of the record, what is wrong. What changed in an input: path, lost or changed, feature, records, what happened. An
    input: path, status, sound records, records written, records skipped, what was done. An output: path, output. With
    -o - all of this goes to standard error. The exit code is 1 where anything was skipped or lost.
    """
    from tfrtool.cli.commands.convert_run import run_convert
    from tfrtool.cli.suggestions import option_text
    from tfrtool.verbs.convert.options import convert_options

    if output is None and not dry_run:
        raise click.UsageError("say where to write, as in -o OUT, or say --dry-run to see what would be lost")
    wish["n"] = wish.pop("number")
    try:
        options = convert_options(**wish, dry_run=dry_run, format=common.format, compression=common.compression)
    except ValueError as error:
        raise click.UsageError(option_text(error)) from None
    return run_convert(common, output or "", options)
