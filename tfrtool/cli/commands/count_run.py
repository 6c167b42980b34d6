"""What `tfrtool count` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.printers.base import SilentPrinter
from tfrtool.cli.session import run
from tfrtool.verbs.count import count_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.printers.base import Printer
    from tfrtool.report import FileReport
    from tfrtool.verbs.options import Options


def count(common: Common) -> int:
    """Count the records of each input; the result is the exit code."""

    def job(name: str, options: Options) -> tuple[FileReport]:
        return (count_file(name, options),)

    return run(common, job, _printer(common))


def _printer(common: Common) -> Printer:
    if common.json:
        from tfrtool.cli.printers.jsonl import JsonPrinter

        return JsonPrinter()
    if common.quiet:
        return SilentPrinter()
    from tfrtool.cli.printers.count import CountText

    return CountText()
