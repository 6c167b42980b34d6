"""What the commands that show records do with damage: standard error tells of it, and how much more there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.streams import say
from tfrtool.cli.text import plural
from tfrtool.report import FileReport

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.framing.damage import Damage

DAMAGE_LINES = 20
"""Damaged ranges told of for one input."""


class DamageTold:
    """Keeps the first damage of an input until its report comes, and then tells of both."""

    verify = "tfrtool verify"
    """The command that lists all of it."""

    def __init__(self) -> None:
        self._damage: list[Damage] = []
        self._more = 0

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._tell(event)
            self._damage.clear()
            self._more = 0
        elif len(self._damage) < DAMAGE_LINES:
            self._damage.append(event)  # type: ignore[arg-type]
        else:
            self._more += 1

    def _tell(self, report: FileReport) -> None:
        if report.status == "foreign":
            from tfrtool.cli.remedies import advice

            say(report.message or "", report.path, advice(report))
            return
        for damage in self._damage:
            say(f"bytes {damage.begin}-{damage.end}: {damage.fault}: {damage.message}", report.path)
        if self._more:
            from tfrtool.sources.shell import shell_word

            found = plural(self._more, "more damaged range")
            say(found, report.path, f"run: {self.verify} {shell_word(report.path)}")
