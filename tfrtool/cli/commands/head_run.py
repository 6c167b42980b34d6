"""What `tfrtool head` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Event, Printer
    from tfrtool.verbs.options import Options

RECORDS = 5
"""Records shown unless `-n` says otherwise."""


def head(
    common: Common,
    number: int | None = None,
    skip: int = 0,
    keys: bool = False,
    values: int | None = None,
    raw: bool = False,
    record: int | None = None,
    index: str | None = None,
    html: str | None = None,
    force: bool = False,
) -> int:
    """Show the first records of each input; the result is the exit code."""
    from tfrtool.cli.session import run

    count = (1 if raw else RECORDS) if number is None else number

    def first(name: str, options: Options) -> Iterable[Event]:
        from tfrtool.verbs.head import head_file

        return head_file(name, options, count, skip)

    job: Callable[[str, Options], Iterable[Event]] = first
    resolution, places = None, dict[str, str]()
    if record is not None:
        from tfrtool.sources.inputs.resolve import resolve

        resolution = resolve(common.inputs)
        if index is not None:
            from tfrtool.cli.paths import index_places

            places = index_places(index, resolution.names)
        job = _numbered(record, places)
    if raw:
        from tfrtool.cli.printers.head import HeadRaw

        return run(
            common,
            job,
            HeadRaw(skip if record is None else record),
            only_one="--raw writes one payload",
            resolution=resolution,
        )
    printer = _printer(common, keys, values)
    if html is None:
        return run(common, job, printer, resolution=resolution)
    from tfrtool.cli.html.head import HeadPage
    from tfrtool.cli.html.printing import run_with_page

    indexes = places.values()
    return run_with_page(common, job, printer, HeadPage(values), html, force, resolution=resolution, indexes=indexes)


def _numbered(record: int, places: Mapping[str, str]) -> Callable[[str, Options], Iterable[Event]]:
    """The job of showing one record of each input, found by its index where it has one."""

    def job(name: str, options: Options) -> Iterable[Event]:
        from tfrtool.verbs.head import record_file

        return record_file(name, options.replaced(index=places.get(name)), record)

    return job


def _printer(common: Common, keys: bool, values: int | None) -> Printer:
    if common.json:
        from tfrtool.cli.printers.head import HeadJson

        return HeadJson(values)
    if common.quiet:
        from tfrtool.cli.printers.base import Silent

        return Silent()
    from tfrtool.cli.printers.head import HeadKeys, HeadText

    if keys:
        return HeadKeys()
    from tfrtool.cli.text import on_terminal, wants_color

    if on_terminal():
        from tfrtool.cli.printers.head import HeadTerminal

        return HeadTerminal(wants_color(common.color, True), values)
    return HeadText(values)
