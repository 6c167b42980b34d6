"""What `tfrtool verify` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.session import Silent, run
from tfrtool.verbs.verify import verify_file

if TYPE_CHECKING:
    from tfrtool.cli.common import Common
    from tfrtool.cli.session import Printer


def verify(common: Common, quick: bool = False, payload: bool = False) -> int:
    """Check every byte of each input; the result is the exit code."""
    return run(common, verify_file, _printer(common, quick), quick=quick, payload=payload)


def _printer(common: Common, quick: bool) -> Printer:
    if common.json:
        from tfrtool.cli.json_out import JsonPrinter

        return JsonPrinter(("bytes", "damaged_bytes", "restorable"))
    if common.quiet:
        return Silent()
    from tfrtool.cli.screen import on_terminal, wants_color

    color = wants_color(common.color, on_terminal())
    if on_terminal():
        from tfrtool.cli.verify_terminal import VerifyTerminal

        return VerifyTerminal(color, quick)
    from tfrtool.cli.verify_text import VerifyText

    return VerifyText(color, quick)
