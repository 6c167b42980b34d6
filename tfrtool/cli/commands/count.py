"""Define `tfrtool count`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.options import Common, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Printer
    from tfrtool.report import FileReport
    from tfrtool.verbs.options import Options


@reading_command("count")
def count(common: Common) -> int:
    """Count the records of each INPUT, and the total.

    Reads only the record headers where the input is seekable, and checks the checksum of every length. The output is
    laid out like that of wc -l.
    """
    from tfrtool.cli.printers.base import choose
    from tfrtool.cli.printers.count import CountText
    from tfrtool.cli.session import run
    from tfrtool.verbs.count import count_file

    def job(name: str, options: Options) -> tuple[FileReport]:
        return (count_file(name, options),)

    def text(color: bool) -> Printer:
        return CountText()

    def json() -> Printer:
        from tfrtool.cli.printers.jsonl import JsonPrinter

        return JsonPrinter()

    return run(common, job, choose(common, json=json, text=text, terminal=text))
