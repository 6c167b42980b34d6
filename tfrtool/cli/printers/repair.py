"""Print the results of `repair`: for pipes, terminals and as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TextIO

from tfrtool.cli.printers.base import TsvPrinter
from tfrtool.cli.printers.jsonl import JsonPrinter, damage_fields
from tfrtool.cli.printers.repair_summary import UNPROVED, RepairSummary, hint, nothing, sentence, steps
from tfrtool.cli.terminal.console import advise, advised, console, show_command, totals
from tfrtool.cli.terminal.coverage_bar import LOST, RESTORABLE, SOUND, CoverageBar, CoverageBarView
from tfrtool.cli.terminal.table import TableColumn, draw_table, heading
from tfrtool.cli.text import plural, printable, safe
from tfrtool.payload.text import size_text
from tfrtool.report import FileReport, RepairReport, Summary
from tfrtool.verbs.formats.json_text import json_text

if TYPE_CHECKING:
    from rich.text import Text

    from tfrtool.cli.commands.repair_outputs import RepairPlan
    from tfrtool.cli.printers.base import Event
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
    """Adds the outcome to `damage` objects and totals to `file` objects; `records` counts those written."""

    def __init__(self, plan: RepairPlan) -> None:
        super().__init__(_FIELDS)
        self._plan = plan
        self._summary = RepairSummary()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            report = event if isinstance(event, RepairReport) else _as_repair(event)
            values = self._file(report)
            if not report.error:
                values["message"] = json_text(sentence(report, self._summary, self._plan))
            next_step = hint(report, self._summary, self._plan)
            values["hint"] = None if next_step is None else json_text(next_step)
            self.write("file", values)
            self._summary = RepairSummary()
        else:
            outcome: Outcome = event  # type: ignore[assignment]
            self._summary.add(outcome)
            self.write("damage", _damage(name, outcome))


def _damage(name: str, outcome: Outcome) -> dict[str, Any]:
    return {
        **damage_fields(name, outcome.damage),
        "action": outcome.action,
        "how": outcome.damage.recovery.method if outcome.damage.recovery else None,
        "records": outcome.records,
        "at": outcome.at,
        "evidence": outcome.evidence or None,
        "dropped": [list(span) for span in outcome.dropped],
        "within": outcome.within,
    }


def _as_repair(report: FileReport) -> RepairReport:
    """Return the report of an input that could not be read."""
    return RepairReport(**{one.name: getattr(report, one.name) for one in fields(FileReport)})


_MEANINGS = {SOUND: "intact", RESTORABLE: "recovered", LOST: "damaged or lost"}
_COLUMNS = (
    TableColumn("bytes"),
    TableColumn("record", right=True),
    TableColumn("fault", "bare"),
    TableColumn("recovered"),
    TableColumn("message"),
)
_STYLES = {"clean": "green", "damaged": "bold red", "foreign": "bold red"}
_SAVED = {"restored": "yes", "corrected": "corrected", "kept": "unproved", "dropped": "no"}
_POINTED_AT = 3
"""Records of one file that are listed for a manual check."""


class RepairTerminal:
    """Prints each file when it is done."""

    def __init__(self, plan: RepairPlan, color: bool, stream: TextIO) -> None:
        self._plan = plan
        self._console = console(color, stream)
        self._bar_view = CoverageBarView(_MEANINGS, stream)
        self._begin()

    def _begin(self) -> None:
        self._summary = RepairSummary()
        self._before, self._after = CoverageBar(), CoverageBar()
        self._first: int | None = None

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            if isinstance(event, RepairReport) and not event.error:  # reported on standard error
                self._file(event)
            self._begin()
            return
        outcome: Outcome = event  # type: ignore[assignment]
        damage = outcome.damage
        self._summary.add(outcome)
        self._first = damage.begin if self._first is None else self._first
        self._before.add(damage.begin, damage.end, False)
        lost = outcome.dropped or (((damage.begin, damage.end),) if damage.fault == "codec" else ())
        self._after.add(damage.begin, damage.end, True)
        for begin, end in lost:
            self._after.add(begin, end, False)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        would_be = "would be " if self._plan.options.dry_run else ""
        totals(self._console, summary, missing, f"{plural(summary.records, 'record')} {would_be}written")

    def _file(self, report: RepairReport) -> None:
        from rich.text import Text

        said = printable(sentence(report, self._summary, self._plan))
        line = Text.assemble((report.status, _STYLES[report.status]))
        if report.status != "foreign":
            line.append(f", {plural(report.sound, 'record' if report.status == 'clean' else 'intact record')}")
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        if report.status != "damaged":
            line.append(f"; {advised(said, report)}")
        heading(self._console, safe(report.path), line)
        self._written(report)
        if report.status == "damaged":
            self._bars(report)
            self._saved(report)
            self._lost(report)
            for remark in self._to_check(report):
                self._console.print(remark)
        self._next(report)
        if report.status == "damaged":
            self._console.print()

    def _written(self, report: RepairReport) -> None:
        from rich.text import Text

        if self._plan.options.dry_run:
            state, name = "would be written", self._plan.outputs.get(report.path, "the output")
        else:
            state, name = "written", report.output or ""
        if report.output or (self._plan.options.dry_run and report.records):
            name = "standard output" if self._plan.to_stdout else name
            line = Text.assemble((state, "green"))
            line.append(f", {plural(report.records, 'record')}, {size_text(report.output_bytes)}")
            heading(self._console, safe(name), line)

    def _bars(self, report: RepairReport) -> None:
        from rich.text import Text

        total, width = report.bytes or 0, self._console.width
        if self._first is not None and self._plan.options.keep == "before":
            self._after.add(self._first, total, False)
        elif self._first is not None and self._plan.options.keep == "after":
            self._after.add(0, self._first, False)
        for label, strip in (("before ", self._before), ("after  ", self._after)):
            line = Text(label, no_wrap=True)
            self._console.print(line.append_text(self._bar_view.line(strip, total, width - len(label))))
        self._console.print(self._bar_view.legend(width))

    def _saved(self, report: RepairReport) -> None:
        from rich.table import Table
        from rich.text import Text

        if report.diagnosis:
            self._console.print(Text(printable(report.message or "")))
        if not report.records:
            self._console.print(nothing(report, self._plan))
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right", min_width=8)
        grid.add_column(overflow="fold")
        for saved in self._summary.saved(report):
            grid.add_row(Text(f"{saved.records:,}", "bold"), Text(saved.words))
        self._console.print(grid)

    def _lost(self, report: RepairReport) -> None:
        from rich.text import Text

        lost = self._summary.losses(report, self._plan)
        if report.dropped_bytes and self._plan.quarantine is None:
            lost += " (use --quarantine FILE to keep the bytes)"
        self._console.print(Text(lost))
        shown = sorted([*self._summary.lost, *self._summary.whole], key=lambda outcome: outcome.damage.begin)
        if not shown:
            return
        rows = [
            (
                f"{damage.begin}-{damage.end}" if damage.end > damage.begin else str(damage.begin),
                "" if damage.record is None else str(damage.record),
                damage.fault,
                _SAVED[outcome.action],
                printable("; ".join(filter(None, (damage.message, outcome.evidence)))),
            )
            for outcome in shown
            for damage in [outcome.damage]
        ]
        self._console.print(draw_table(self._console, _COLUMNS, rows))
        if self._summary.ranges > len(rows):
            self._console.print(f"and {self._summary.ranges - len(rows):,} more; --json lists all")

    def _to_check(self, report: RepairReport) -> Iterator[Text]:
        """Yield what only a person can judge."""
        from rich.text import Text

        if report.repeats:
            repeats = plural(report.repeats, "payload")
            yield Text(
                f"check: {repeats} written more than once, as after a resumed download or with two writers; "
                "or your data contains duplicates"
            )
        doubtful = self._summary.doubtful
        for outcome in doubtful[:_POINTED_AT]:
            what = outcome.evidence or f"no valid checksum: {UNPROVED}"
            yield Text(f"check: {_numbers(outcome)} of the output: {printable(what)}")
        if len(doubtful) > _POINTED_AT:
            yield Text("check: more of this kind; --json lists all")

    def _next(self, report: RepairReport) -> None:
        from rich.padding import Padding
        from rich.text import Text

        if report.status == "damaged":
            advise(self._console, "", report)
        else:
            show_command(self._console, report)
        for step in steps(report, self._summary, self._plan):
            line = Text.assemble("next: ", (printable(step.command), "bold"))
            self._console.print(line, soft_wrap=True)
            self._console.print(Padding(Text(step.why), (0, 0, 0, 6)))


def _numbers(outcome: Outcome) -> str:
    first = outcome.at or 0
    return f"record {first}" if outcome.records == 1 else f"records {first}-{first + outcome.records - 1}"


class RepairText(TsvPrinter):
    """Writes a line for each damaged range, then a line for the input."""

    good = frozenset({"clean", "restored"})
    fields = 4

    def __init__(self, plan: RepairPlan, color: bool, stream: TextIO) -> None:
        super().__init__(color, stream)
        self._plan = plan
        self._summary = RepairSummary()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, RepairReport):
            said = sentence(event, self._summary, self._plan)
            advice = hint(event, self._summary, self._plan)
            fields: tuple[object, ...] = (event.sound, event.records, event.dropped_bytes, event.output)
            self.row(name, event.status, fields, f"{said}; {advice}" if advice else said)
            self._summary = RepairSummary()
        elif isinstance(event, FileReport):
            self.row(name, event.status, (None,) * self.fields, event.error[1] if event.error else "")
        else:
            outcome: Outcome = event  # type: ignore[assignment]
            self._summary.add(outcome)
            damage = outcome.damage
            fields = (damage.fault, damage.begin, damage.end, damage.record, outcome.records, outcome.dropped_bytes)
            said = "; ".join(filter(None, (damage.message, outcome.evidence)))
            self.row(name, outcome.action, fields, said)
