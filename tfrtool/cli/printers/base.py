"""What a command found goes to a printer, as it is found; the printers of each command are in files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.schema.dataset import Schema
    from tfrtool.report import FileReport, Outcome, Summary
    from tfrtool.verbs.head import Record
    from tfrtool.verbs.index import IndexFault

    Event = Damage | IndexFault | Outcome | Record | Schema | FileReport


class Printer(Protocol):
    """Writes to standard output what a command found, as it is found."""

    def show(self, name: str, event: Event) -> None:
        """One finding, record or report of the input `name`; its report is the last."""

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        """All inputs are done: their totals, and the names of the shards that are not there."""


class SilentPrinter:
    """Prints nothing, for `--quiet`."""

    def show(self, name: str, event: Event) -> None:
        pass

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        pass
