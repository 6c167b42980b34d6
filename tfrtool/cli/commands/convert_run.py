"""What `tfrtool convert` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tfrtool.cli.paths import RunFiles, is_standard_output, refuse_json_with_records, refuse_terminal
from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.session import run
from tfrtool.cli.streams import OutputError, say
from tfrtool.cli.suggestions import option_text, suggestion_words
from tfrtool.framing.damage import Damage
from tfrtool.report import ConvertReport
from tfrtool.sources.inputs.resolve import resolve
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import ConvertOptions

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Printer
    from tfrtool.verbs.options import Options


def run_convert(common: Common, output: str, chosen: ConvertOptions) -> int:
    """Convert all inputs into one set of outputs; the result is the exit code."""
    to_stdout = is_standard_output(output)
    if chosen.schema_out is not None and is_standard_output(chosen.schema_out):
        raise click.UsageError("--schema-out names a file: standard output is for records and reports")
    if to_stdout:
        refuse_json_with_records(common.json)
        if chosen.to == "jsonl" and chosen.compress in ("auto", "none") and sys.stdout.isatty():
            chosen = replace(chosen, compress="none")  # lines of text, that a terminal can show
        else:
            refuse_terminal(chosen.dry_run)
    return _convert(common, output, chosen, to_stdout)


def _convert(common: Common, output: str, chosen: ConvertOptions, to_stdout: bool) -> int:
    resolution = resolve(common.inputs, rows=True)
    for name in () if common.quiet else resolution.repeated:
        say(f"'{name}' is named more than once, and read once")
    try:
        conversion = Conversion(resolution.names, output, chosen, lists=resolution.lists)
    except ValueError as error:
        raise click.UsageError(option_text(error)) from None
    _refuse_inputs(conversion, output, to_stdout)
    with conversion:
        if resolution.unmatched:
            conversion.bar("not all inputs are there")
        elif resolution.missing and not chosen.skip_damaged:
            conversion.bar("members of a shard set are missing; --skip-damaged goes on without them")

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
    """An output that is known by its name already is no input and no other output, as everywhere wrong usage."""
    files, side = RunFiles([*conversion.inputs, *conversion.lists]), conversion.options.schema_out
    if conversion.options.schema is not None:
        files.read(conversion.options.schema, "--schema")
    shards = conversion.options.shards.cut or output.endswith("/") or os.path.isdir(output)
    if output and not (to_stdout or shards):
        files.write(output)
    if side is not None:
        files.write(side, "--schema-out")


def _printer(common: Common, conversion: Conversion, to_stdout: bool) -> Printer:
    if common.json:
        from tfrtool.cli.printers.convert import ConvertJson

        return ConvertJson(conversion)
    if common.quiet:
        return SilentPrinter()
    from tfrtool.cli.text import on_terminal, wants_color

    stream = sys.stderr if to_stdout else sys.stdout
    color = wants_color(common.color, on_terminal(stream))
    if on_terminal(stream):
        from tfrtool.cli.printers.convert import ConvertTerminal

        return ConvertTerminal(conversion, color, stream)
    from tfrtool.cli.printers.convert import ConvertText

    return ConvertText(conversion, color, stream)
