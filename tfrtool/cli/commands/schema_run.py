"""What `tfrtool schema` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.printers.schema import SchemaCollector
from tfrtool.cli.session import run
from tfrtool.payload.schema.dataset import Schema
from tfrtool.verbs.schema.job import schema_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Event
    from tfrtool.cli.printers.schema import SchemaPrinter
    from tfrtool.cli.printers.schema_emit import SchemaJson
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.schema.emit.forms import Form


class _Quiet(SchemaCollector, SilentPrinter):
    """Adds the schemas up for the exit code alone."""


def schema(
    common: Common,
    number: int | None = None,
    emit: str = "table",
    output: str | None = None,
    force: bool = False,
    html: str | None = None,
    strict: bool = False,
) -> int:
    """Describe all inputs together; the result is the exit code."""

    def job(name: str, options: Options) -> Iterable[Event]:
        return schema_file(name, options, number)

    if emit == "table" or common.json:
        printer = _printer(common)

        def finish() -> bool:
            return _wanting(printer.total, strict)

        if html is None:
            return run(common, job, printer, finish=finish)
        from tfrtool.cli.html.printing import run_with_page
        from tfrtool.cli.html.schema import SchemaPage

        return run_with_page(common, job, printer, SchemaPage(printer.total), html, force, finish=finish)
    from tfrtool.cli.printers.schema_emit import SchemaFile
    from tfrtool.sources.inputs.resolve import resolve

    resolution = resolve(common.inputs)
    emitting = SchemaFile(cast("Form", emit), output, force, common.quiet)
    emitting.total.missing = sum(shard.count for shard in resolution.missing)

    def written() -> bool:
        emitting.finish()
        return _wanting(emitting.total, strict)

    with emitting.opened(resolution):
        return run(common, job, emitting, resolution=resolution, finish=written)


def _wanting(total: Schema, strict: bool) -> bool:
    """Whether the exit code is to say that features are left out or, if `strict`, that some conflict, or may."""
    total.cut()
    if total.incomplete:
        return True
    if not strict:
        return False
    if total.shards.uncompared:
        return True
    from tfrtool.verbs.schema.findings import findings

    return any(True for _ in findings(total))


def _printer(common: Common) -> _Quiet | SchemaJson | SchemaPrinter:
    if common.json:
        from tfrtool.cli.printers.schema_emit import SchemaJson

        return SchemaJson()
    if common.quiet:
        return _Quiet()
    from tfrtool.cli.text import on_terminal, wants_color

    if on_terminal():
        from tfrtool.cli.printers.schema import SchemaTerminal

        return SchemaTerminal(wants_color(common.color, True))
    from tfrtool.cli.printers.schema import SchemaText

    return SchemaText()
