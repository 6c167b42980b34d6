"""Define `tfrtool convert`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from tfrtool.cli.commands.option_names import kinds, names, renames
from tfrtool.cli.options import Common, file_option, reading_command
from tfrtool.cli.streams import OutputError

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Printer
    from tfrtool.framing.damage import Damage
    from tfrtool.report import ConvertReport
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.verbs.convert.job import Conversion
    from tfrtool.verbs.convert.options import ConvertOptions
    from tfrtool.verbs.options import Options

FORMATS = ("tfrecord", "ofrecord", "jsonl", "parquet")
ROW_FORMATS = ("jsonl", "parquet")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) *([kmgt]?)(i?)b?", re.IGNORECASE)


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Return a size in bytes: 150MB is 150,000,000, 150MiB is 157,286,400."""
    if value is None:
        return None
    found = _SIZE.fullmatch(value.strip()) if len(value) < 40 else None
    if found is None:
        raise click.BadParameter(f"{value!r} is not a size such as 150MB or 64MiB")
    number, unit, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit.lower() or " "))
    if size < 1:
        raise click.BadParameter(f"{value!r} is less than one byte")
    return size


def _choice(name: str, default: str | None, choices: str, text: str) -> Callable[[Any], Any]:
    """Return an option with some choices; a `default` of None means the first one, and tells that none was given."""
    kind = click.Choice(choices.split())
    if default is None:
        return click.option(name, type=kind, help=f"{text}  [default: {kind.choices[0]}]")
    return click.option(name, type=kind, default=default, show_default=True, help=text)


@reading_command("convert")
@file_option(
    "-o",
    "--output",
    metavar="OUT",
    help="Output file, or - for standard output; the base NAME of TFRecord shards; the directory of OFRecord parts. If "
    "OUT is an existing directory or ends in /, it gets one output for each input.",
)
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="Output format.  [default: by the extension of OUT, else the format of the first input]",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(ROW_FORMATS),
    help="Read the inputs as rows in this format.  [default: detected from their content]",
)
@_choice(
    "--compress",
    "auto",
    "auto none gzip zlib",
    "Compression of the outputs; auto: gzip if OUT ends in .gz, zlib if in .zz or .zlib, else that of the first input, "
    "or none if the format changes.",
)
@click.option("--shards", type=click.IntRange(1, 100_000), metavar="N", help="Write N shards of nearly equal counts.")
@click.option(
    "--shard-size",
    callback=_size,
    metavar="SIZE",
    help="Start a new shard before its uncompressed records exceed SIZE, such as 150MB.",
)
@click.option("--records-per-shard", type=click.IntRange(min=1), metavar="N", help="Write N records to each shard.")
@click.option(
    "--select",
    multiple=True,
    callback=names,
    metavar="NAME,...",
    help="Keep only these features, by their names in the input; * matches any text. Quote a name with a comma.",
)
@click.option("--drop", multiple=True, callback=names, metavar="NAME,...", help="Drop these features.")
@click.option(
    "--rename",
    multiple=True,
    callback=renames,
    metavar="OLD=NEW",
    help="Rename a feature. Quote a name with an equals sign.",
)
@click.option(
    "--strip-prefix", default="", metavar="TEXT", help="Remove TEXT, such as image/, from the start of names."
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Keep records that match, such as 'label == 3' or \"name != 'cat'\". True if any value matches; != requires "
    "values, and that none is equal. Floats compare as float32. Repeat the option to require several conditions.",
)
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    metavar="K",
    help="Skip the first K matching records.",
)
@click.option("-n", "--number", type=click.IntRange(min=0), metavar="N", help="Write at most N records.")
@_choice(
    "--double", "exact", "refuse exact round bytes", "How to store double values in an Example, which has only float."
)
@_choice(
    "--int", "int64", "int64 int32 auto", "How to store int64 values in an OFRecord; auto reads the whole input first."
)
@click.option(
    "--type",
    "types",
    multiple=True,
    callback=kinds,
    metavar="NAME=KIND",
    help="Set the kind of a feature: bytes, float, double, int32 or int64.",
)
@_choice("--no-kind", "keep", "keep drop refuse", "How to handle features without a kind.")
@_choice("--empty", None, "refuse skip keep", "How to handle records without features in an OFRecord.")
@_choice(
    "--unknown",
    None,
    "refuse keep drop",
    "How to handle unknown protobuf fields. Without this option or an option about features, they are not checked if "
    "the format stays the same.",
)
@_choice(
    "--sequence", "refuse", "refuse flatten", "How to handle a SequenceExample, which OFRecord holds only as features."
)
@file_option("--schema", metavar="FILE", help="Read feature names and kinds from FILE, as written by --schema-out.")
@file_option("--schema-out", metavar="FILE", help="Write feature names and kinds to FILE, for converting back.")
@click.option("--skip-damaged", is_flag=True, help="Skip damaged records. Without it, damage stops the conversion.")
@click.option(
    "--payload",
    is_flag=True,
    help="Also parse every payload, as verify --payload does; one of another kind than its file is damage.",
)
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--dry-run", is_flag=True, help="Read everything, show what would be lost, and write nothing.")
def convert(common: Common, output: str | None, dry_run: bool, **given: Any) -> int:
    """Convert records to another format, or reshard, merge, filter or recompress them.

    The records of all INPUTs are written in their order, as one set of outputs. All outputs are published together, or
    none.

    OFRecord and TFRecord (of Examples) are converted without decoding values: bytes, floats and int64 are copied bit
    for bit. int32 becomes int64, and double becomes float where that is exact; --schema-out saves the kinds for the way
    back. JSON Lines (one object per record) and Parquet (one column per feature) are read and written too; Parquet
    needs pyarrow, which the extra tfrtool[parquet] installs.

    What the output cannot hold is an error that names the record, the feature and the value, unless an option says how
    to handle it. The exit code is 1 if anything was skipped or lost.
    """
    from tfrtool.cli.suggestions import option_text
    from tfrtool.verbs.convert.options import convert_options

    if output is None and not dry_run:
        raise click.UsageError("missing output: add -o OUT, or --dry-run to see what would be lost")
    given["n"] = given.pop("number")
    try:
        options = convert_options(**given, dry_run=dry_run, format=common.format, compression=common.compression)
    except ValueError as error:
        raise click.UsageError(option_text(error)) from None
    return _run(common, output or "", options)


def _run(common: Common, output: str, chosen: ConvertOptions) -> int:
    """Convert all inputs to one set of outputs, and return the exit code."""
    from tfrtool.cli.paths import is_standard_output, refuse_json_with_records, refuse_terminal
    from tfrtool.sources.inputs.resolve import resolve

    to_stdout = is_standard_output(output)
    if chosen.schema_out is not None and is_standard_output(chosen.schema_out):
        raise click.UsageError("--schema-out needs a file: standard output is for records and reports")
    if to_stdout:
        refuse_json_with_records(common.json)
        if chosen.to == "jsonl" and chosen.compress in ("auto", "none") and sys.stdout.isatty():
            chosen = replace(chosen, compress="none")  # JSON Lines are text, which a terminal can show
        else:
            refuse_terminal(chosen.dry_run)
    return _convert(common, output, chosen, to_stdout, resolve(common.inputs, rows=True))


def _convert(common: Common, output: str, chosen: ConvertOptions, to_stdout: bool, resolution: Resolution) -> int:
    from tfrtool.cli.session import run
    from tfrtool.cli.streams import say
    from tfrtool.cli.suggestions import option_text, suggestion_words
    from tfrtool.verbs.convert.job import Conversion

    for name in () if common.quiet else resolution.repeated:
        say(f"'{name}' is named more than once, but read only once")
    try:
        conversion = Conversion(resolution.names, output, chosen, lists=resolution.lists)
    except ValueError as error:
        raise click.UsageError(option_text(error)) from None
    _refuse_inputs(conversion, output, to_stdout)
    with conversion:
        if resolution.unmatched:
            conversion.prevent_publish("some inputs are missing")
        elif resolution.missing and not chosen.skip_damaged:
            conversion.prevent_publish("shards are missing; use --skip-damaged to continue without them")

        def job(name: str, options: Options) -> Iterator[Damage | ConvertReport]:
            try:
                yield from conversion.read(name, options.progress)
            except BrokenPipeError as error:
                raise OutputError(error) from None

        def finish() -> None:
            try:
                conversion.publish()
            except BrokenPipeError as error:
                raise OutputError(error) from None
            for note, suggestion in () if common.quiet else conversion.notes:
                say(f"{note}; {suggestion_words(suggestion)}" if suggestion else note)

        printer = _printer(common, conversion, to_stdout)
        return run(common, job, printer, resolution=resolution, finish=finish, passes=conversion.passes)


def _refuse_inputs(conversion: Conversion, output: str, to_stdout: bool) -> None:
    """Raise `UsageError` where an output whose name is known already is an input or another output."""
    from tfrtool.cli.paths import RunFiles

    files, side = RunFiles([*conversion.inputs, *conversion.lists]), conversion.options.schema_out
    if conversion.options.schema is not None:
        files.read(conversion.options.schema, "--schema")
    shards = conversion.options.shards.cut or output.endswith("/") or os.path.isdir(output)
    if output and not (to_stdout or shards):
        files.write(output)
    if side is not None:
        files.write(side, "--schema-out")


def _printer(common: Common, conversion: Conversion, to_stdout: bool) -> Printer:
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.convert import ConvertJson, ConvertTerminal, ConvertText

    stream = sys.stderr if to_stdout else sys.stdout

    def json() -> Printer:
        return ConvertJson(conversion)

    def text(color: bool) -> Printer:
        return ConvertText(conversion, color, stream)

    def terminal(color: bool) -> Printer:
        return ConvertTerminal(conversion, color, stream)

    return choose(common, json=json, text=text, terminal=terminal, stream=stream)
