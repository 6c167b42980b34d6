"""What `tfrtool schema` does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrtool.cli.session import run
from tfrtool.verbs.schema import schema_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.session import Event, Printer
    from tfrtool.verbs import Options


def schema(
    common: Common, number: int | None = None, emit: str = "table", output: str | None = None, force: bool = False
) -> int:
    """Describe all inputs together; the result is the exit code."""

    def job(name: str, options: Options) -> Iterable[Event]:
        return schema_file(name, options, number)

    if emit == "table" or common.json:
        return run(common, job, _printer(common))
    from tfrtool.cli.schema_emit import Emitting

    emitting = Emitting(emit, output, force, common.quiet)
    return run(common, job, emitting, finish=emitting.finish)


def _printer(common: Common) -> Printer:
    if common.json:
        from tfrtool.cli.schema_json import SchemaJson

        return SchemaJson()
    if common.quiet:
        from tfrtool.cli.session import Silent

        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    if on_terminal():
        from tfrtool.cli.schema_terminal import SchemaTerminal

        return SchemaTerminal(wants_color(common.color, True))
    from tfrtool.cli.schema_text import SchemaText

    return SchemaText()
