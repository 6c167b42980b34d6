"""What `tfrtool verify` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.session import Silent, run
from tfrtool.verbs.verify import verify_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfrtool.cli.common import Common
    from tfrtool.cli.session import Event, Printer
    from tfrtool.verbs import Options


def verify(common: Common, quick: bool = False, payload: bool = False, index: str | None = None) -> int:
    """Check every byte of each input; the result is the exit code."""
    if index is None:
        return run(common, verify_file, _printer(common, quick), quick=quick, payload=payload)
    from tfrtool.cli.index_places import index_places
    from tfrtool.sources.inputs import resolve

    resolution = resolve(common.inputs)
    places = index_places(index, resolution.names)

    def job(name: str, options: Options) -> Iterable[Event]:
        return verify_file(name, options.replaced(index=places[name]))

    return run(common, job, _printer(common, quick, True), resolution=resolution, quick=quick, payload=payload)


def _printer(common: Common, quick: bool, index: bool = False) -> Printer:
    if common.json:
        fields = ("bytes", "damaged_bytes", "restorable")
        if index:
            from tfrtool.cli.index_shown import IndexJson

            return IndexJson((*fields, "index_faults"))
        from tfrtool.cli.json_out import JsonPrinter

        return JsonPrinter(fields)
    if common.quiet:
        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if index:
        from tfrtool.cli.index_shown import IndexTerminal, IndexText

        return IndexTerminal(color, quick) if on_terminal() else IndexText(color, quick)
    if on_terminal():
        from tfrtool.cli.verify_terminal import VerifyTerminal

        return VerifyTerminal(color, quick)
    from tfrtool.cli.verify_text import VerifyText

    return VerifyText(color, quick)
