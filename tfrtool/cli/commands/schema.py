"""Define `tfrtool schema`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import click

from tfrtool.cli.options import Common, check_page, file_option, page_options, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.cli.printers.schema import SchemaPrinter, SchemaSilent
    from tfrtool.cli.printers.schema_emit import SchemaJson
    from tfrtool.payload.schema.dataset import Schema
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.schema.emit.forms import Form

FORMATS = ("table", "json", "tf", "pbtxt", "tfds", "dali", "tfrecord")


@reading_command("schema")
@click.option("-n", "--number", type=click.IntRange(min=1), metavar="N", help="Read the first N records of each input.")
@click.option(
    "--emit",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Print the schema for another program: JSON (json), a tf.io feature description (tf), a tensorflow_metadata"
    " Schema (pbtxt), DALI reader features (dali), a description for the package tfrecord (tfrecord), or two files for"
    " TFDS (tfds).",
)
@file_option(
    "-o",
    "--output",
    metavar="OUT",
    help="Write to a file; with --emit tfds, to the directory that holds the record files.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 if features conflict, too.")
@page_options("Replace existing files.")
def schema(
    common: Common,
    number: int | None,
    emit: str,
    output: str | None,
    strict: bool,
    html: str | None,
    force: bool,
) -> int:
    """Show the features of the records of all INPUTs, and their kinds.

    Payloads that do not parse are skipped, and the exit code is 1, as for damage. At most 32,768 features are
    described, the most frequent ones; if some are left out, a warning is printed and the exit code is 1.

    Conflicts are reported: two kinds of one feature, a feature missing from some records, a shard that differs from the
    others, or shards too large or too varied to compare. With --strict, conflicts exit with 1.

    With --emit tfds, a feature is an image only if TFDS would decode its samples without loss; otherwise it is bytes,
    and a warning says so.
    """
    if common.json and emit not in ("table", "json"):
        raise click.UsageError(f"--json cannot be combined with --emit {emit}")
    if emit == "tfds" and not output:
        raise click.UsageError("--emit tfds writes two files: name the directory of the data with -o")
    if output and (common.json or emit == "table"):
        raise click.UsageError("-o needs a format for another program: choose one with --emit")
    if force and not output and html is None:
        raise click.UsageError("--force needs -o or --html")
    if html is not None and emit != "table":
        raise click.UsageError(f"--html cannot be combined with --emit {emit}")
    check_page(common, html, force, replaces=True)
    return run_schema(common, number, emit, output, force, html, strict)


def run_schema(
    common: Common,
    number: int | None = None,
    emit: str = "table",
    output: str | None = None,
    force: bool = False,
    html: str | None = None,
    strict: bool = False,
) -> int:
    """Run the command with options that do not conflict, and return the exit code."""
    from tfrtool.cli.session import run
    from tfrtool.verbs.schema.job import schema_file

    def job(name: str, options: Options) -> Iterable[Event]:
        return schema_file(name, options, number)

    if emit == "table" or common.json:
        printer = _printer(common)

        def finish() -> bool:
            return _has_findings(printer.total, strict)

        if html is None:
            return run(common, job, printer, finish=finish)
        from tfrtool.cli.html.printing import run_with_page
        from tfrtool.cli.html.schema import SchemaPage

        return run_with_page(common, job, printer, SchemaPage(printer.total), html, force, finish=finish)
    from tfrtool.cli.printers.schema_emit import SchemaFile
    from tfrtool.sources.inputs.resolve import resolve

    resolution = resolve(common.inputs)
    file = SchemaFile(cast("Form", emit), output, force, common.quiet)
    file.total.missing = sum(shard.count for shard in resolution.missing)

    def written() -> bool:
        file.finish()
        return _has_findings(file.total, strict)

    with file.opened(resolution):
        return run(common, job, file, resolution=resolution, finish=written)


def _has_findings(total: Schema, strict: bool) -> bool:
    """Return whether features were left out or, if `strict`, conflict or could not be compared."""
    total.cut()
    if total.incomplete:
        return True
    if not strict:
        return False
    if total.shards.uncompared:
        return True
    from tfrtool.verbs.schema.findings import findings

    return any(True for _ in findings(total))


def _printer(common: Common) -> SchemaJson | SchemaPrinter | SchemaSilent:
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.schema import SchemaSilent, SchemaTerminal, SchemaText
    from tfrtool.cli.printers.schema_emit import SchemaJson

    def text(color: bool) -> SchemaText:
        return SchemaText()

    return choose(common, json=SchemaJson, text=text, terminal=SchemaTerminal, quiet=SchemaSilent)
