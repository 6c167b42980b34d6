"""What `tfrtool schema` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrtool.cli.session import Silent, run
from tfrtool.verbs.schema import schema_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.schema_json import SchemaJson
    from tfrtool.cli.schema_text import SchemaPrinter
    from tfrtool.cli.session import Event
    from tfrtool.verbs import Options


def schema(
    common: Common,
    number: int | None = None,
    emit: str = "table",
    output: str | None = None,
    force: bool = False,
    html: str | None = None,
) -> int:
    """Describe all inputs together; the result is the exit code."""

    def job(name: str, options: Options) -> Iterable[Event]:
        return schema_file(name, options, number)

    if emit == "table" or common.json:
        printer = _printer(common)
        if html is None:
            return run(common, job, printer)
        from tfrtool.cli.html.printing import run_with_page
        from tfrtool.cli.html.schema import SchemaPage

        page = SchemaPage(None if isinstance(printer, Silent) else printer.total)
        return run_with_page(common, job, printer, page, html, force)
    from tfrtool.cli.schema_emit import Emitting

    emitting = Emitting(emit, output, force, common.quiet)
    return run(common, job, emitting, finish=emitting.finish)


def _printer(common: Common) -> Silent | SchemaJson | SchemaPrinter:
    if common.json:
        from tfrtool.cli.schema_json import SchemaJson

        return SchemaJson()
    if common.quiet:
        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    if on_terminal():
        from tfrtool.cli.schema_terminal import SchemaTerminal

        return SchemaTerminal(wants_color(common.color, True))
    from tfrtool.cli.schema_text import SchemaText

    return SchemaText()
