"""`tfrtool count`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.options import reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common


@reading_command("count")
def count(common: Common) -> int:
    """Count the records of each INPUT, and of all of them.

    Reads the record headers only, where the input can be read out of order, and checks the checksum of every length.
    Laid out like wc -l.
    """
    from tfrtool.cli.commands import count_run

    return count_run.count(common)
