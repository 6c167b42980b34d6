"""What `verify --index` shows besides what `verify` does: the lines of the index that disagree with the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.cli.json_out import JsonPrinter
from tfrtool.cli.text import printable
from tfrtool.cli.verify_terminal import VerifyTerminal
from tfrtool.cli.verify_text import VerifyText
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.index_check import IndexFault
from tfrtool.verbs.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event


class IndexJson(JsonPrinter):
    """Adds `index` objects, one for each of the first lines that disagree, and to the `summary` how many do in all."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        super().__init__(extra)
        self._faults = 0

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        return {**super().summary(summary, missing), "index_faults": self._faults}

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._faults += event.index_faults or 0
        if not isinstance(event, IndexFault):
            super().show(name, event)
            return
        fields = {"line": event.line, "offset": event.offset, "size": event.size, "message": json_text(event.message)}
        self.write("index", {"path": json_text(name), **fields})


class IndexText(VerifyText):
    """Adds a line for each of the first lines that disagree, with `index` in the place of a fault."""

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, IndexFault):
            super().show(name, event)
            return
        end = None if event.offset is None or event.size is None else event.offset + event.size
        self._row(name, "index", (event.offset, end, None, None), said(event))


class IndexTerminal(VerifyTerminal):
    """Adds them below the file."""

    def _begin(self) -> None:
        super()._begin()
        self._faults: list[IndexFault] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, IndexFault):
            self._faults.append(event)
        else:
            super().show(name, event)

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        super()._file(report)
        for fault in self._faults:
            self._console.print(Text(f"  index {printable(said(fault))}"))
        if more := (report.index_faults or 0) - len(self._faults):
            self._console.print(f"  and {more:,} more")


def said(fault: IndexFault) -> str:
    """A disagreement in words, with the number of its line."""
    return f"line {fault.line}: {fault.message}"
