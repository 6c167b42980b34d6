"""What `tfrtool stat` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfrtool.cli.session import Silent, run
from tfrtool.cli.streams import OutputError
from tfrtool.verbs.stat import StatOptions, stat_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.session import Event, Printer
    from tfrtool.verbs import Options


def stat(common: Common, duplicates: bool = False, index: str | None = None, force: bool = False) -> int:
    """Say how each input is made; the result is the exit code."""
    from tfrtool.sources.inputs import resolve

    resolution = resolve(common.inputs)
    names = resolution.names
    places: dict[str, str] = {}
    if index is not None:
        from tfrtool.cli.index_places import index_places

        places = index_places(index, names)

    def job(name: str, options: Options) -> Iterator[Event]:
        given = options.asdict()
        own: dict[str, Any] = {"duplicates": duplicates, "write_index": places.get(name), "force": force}
        try:
            yield from stat_file(name, StatOptions(**given, **own, inputs=tuple(names)))
        except BrokenPipeError as error:
            if index != "-":
                raise
            raise OutputError(error) from None

    return run(common, job, _printer(common), resolution=resolution)


def _printer(common: Common) -> Printer:
    if common.json:
        from tfrtool.cli.stat_json import StatJson

        return StatJson()
    if common.quiet:
        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if on_terminal():
        from tfrtool.cli.stat_terminal import StatTerminal

        return StatTerminal(color)
    from tfrtool.cli.stat_text import StatText

    return StatText(color)
