"""`damage` objects with what was done, and `file` objects with what was saved, for `repair --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfrtool.cli.json_out import JsonPrinter, damage_fields
from tfrtool.cli.repair_toll import Toll, hint, sentence
from tfrtool.report import FileReport, RepairReport
from tfrtool.verbs.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.cli.repair_plan import Plan
    from tfrtool.report import Outcome

_FIELDS = (
    "output",
    "kept",
    "restored",
    "corrected",
    "unverified",
    "dropped_bytes",
    "quarantine",
    "report",
    "repeats",
    "sound",
    "bytes",
    "damaged_bytes",
    "output_bytes",
)


class RepairJson(JsonPrinter):
    """Adds what `repair` tells of a damaged range and of a file; `records` are those written."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(_FIELDS)
        self._plan = plan
        self._toll = Toll()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            report = event if isinstance(event, RepairReport) else _as_repair(event)
            values = self._file(report)
            if not report.error:
                values["message"] = json_text(sentence(report, self._toll, self._plan))
            next_step = hint(report, self._toll, self._plan)
            values["hint"] = None if next_step is None else json_text(next_step)
            self.write("file", values)
            self._toll = Toll()
        else:
            outcome: Outcome = event  # type: ignore[assignment]
            self._toll.add(outcome)
            self.write("damage", _damage(name, outcome))


def _damage(name: str, outcome: Outcome) -> dict[str, Any]:
    return {
        **damage_fields(name, outcome.damage),
        "action": outcome.action,
        "how": outcome.damage.rescue.how if outcome.damage.rescue else None,
        "records": outcome.records,
        "at": outcome.at,
        "evidence": outcome.evidence or None,
        "dropped": [list(span) for span in outcome.dropped],
        "within": outcome.within,
    }


def _as_repair(report: FileReport) -> RepairReport:
    """The report of an input that never came to be repaired."""
    return RepairReport(**{name: getattr(report, name) for name in FileReport.names()})
