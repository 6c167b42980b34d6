"""`tfrtool count`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.options import Common, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.session import Printer
    from tfrtool.report import FileReport
    from tfrtool.verbs import Options


@reading_command("count")
def count(common: Common) -> int:
    """Count the records of each INPUT, and of all of them.

    Reads the record headers only, where the input can be read out of order, and checks the checksum of every length.
    Laid out like wc -l.
    """
    from tfrtool.cli.session import run
    from tfrtool.verbs.count import count_file

    def job(name: str, options: Options) -> tuple[FileReport]:
        return (count_file(name, options),)

    return run(common, job, _printer(common))


def _printer(common: Common) -> Printer:
    if common.json:
        from tfrtool.cli.json_out import JsonPrinter

        return JsonPrinter()
    if common.quiet:
        from tfrtool.cli.session import Silent

        return Silent()
    from tfrtool.cli.count_text import CountText

    return CountText()
