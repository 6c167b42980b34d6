"""Print the results of `convert`: for pipes, terminals and as JSON Lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from tfrtool.cli.printers.base import TsvPrinter
from tfrtool.cli.printers.jsonl import JsonPrinter
from tfrtool.cli.suggestions import advice
from tfrtool.cli.terminal.console import console, totals
from tfrtool.cli.terminal.table import TableColumn, draw_table, heading, short
from tfrtool.cli.text import plural, printable, row, safe
from tfrtool.payload.text import size_text, text_of
from tfrtool.report import About, ConvertReport, FileReport, Loss, LossCode, LossKind, Summary
from tfrtool.verbs.formats.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.convert.job import Conversion


_UNASKED: tuple[LossCode, ...] = ("overridden", "rounded-to-float", "rounded-to-double", "no-kind-steps")


def sentence(report: FileReport, conversion: Conversion) -> str:
    """Return the result for an input as one sentence, without the next step."""
    if report.error:
        return report.error[1]
    assert isinstance(report, ConvertReport)
    if report.status == "foreign":
        return f"{report.message or 'no records'}; nothing written"
    if conversion.failed:
        if report.status == "damaged" and not conversion.options.skip_damaged:
            return f"stopped at the first damage; {_gone(report, conversion)}"
        return f"{_gone(report, conversion)}: {conversion.reason}"
    would = "would be written" if conversion.options.dry_run else "written"
    said = [f"{plural(report.written, 'record')} {would}"]
    if conversion.none_matched:
        said.append("no record matches --where")
    if report.skipped:
        said.append(f"{report.skipped:,} skipped")
    lost = sum(loss.lost for loss in report.losses)
    if lost:
        asked = "" if _unasked(report, conversion) else " (as requested)"
        said.append(("1 loss" if lost == 1 else f"{lost:,} losses") + asked)
    if report.unread:
        said.append("reading stopped there" if report.records else "not read: no more records requested")
    return ", ".join(said)


def _gone(report: ConvertReport, conversion: Conversion) -> str:
    """Return what was written before a failure."""
    if conversion.cut_off:
        return "partial output was written; discard it"
    return f"{plural(report.written, 'record')} sent to the pipe before" if report.written else "nothing written"


def _unasked(report: ConvertReport, conversion: Conversion) -> bool:
    """Return whether something was lost that no option requests.

    That is what rows cannot represent, digits beyond float32, and an overridden list.
    """
    from tfrtool.verbs.formats.base import ROWS

    return conversion.target in ROWS or any(loss.code in _UNASKED for loss in report.losses)


def hint(report: FileReport, conversion: Conversion) -> str | None:
    """Return the next step for an input, or None."""
    found = advice(report)
    if report.status == "foreign" and report.faults["payload"]:
        return "use --to tfrecord without feature options to copy them unchanged"
    if set(report.faults) == {"payload"}:  # repair cannot help
        if conversion.options.skip_damaged:
            return None
        other = f", or {found}" if found and report.suggestion and report.suggestion.words else ""
        return f"use --skip-damaged to skip these records{other}"
    if report.status == "damaged" and conversion.failed and not conversion.options.skip_damaged:
        repair = f"{found} to recover records, or use" if found else "use"
        return f"{repair} --skip-damaged to skip the damage"
    return found


def outputs_shown(names: list[str]) -> str:
    """Return the first and the last of the outputs."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{names[0]} … {names[-1]}"


def oneflow_line(conversion: Conversion) -> str | None:
    """Return the arguments with which OneFlow reads the outputs, if they are parts by its rule."""
    if conversion.target != "ofrecord" or not conversion.outputs:
        return None
    from tfrtool.verbs.convert.shards import oneflow_arguments

    arguments = oneflow_arguments(conversion.outputs)
    if arguments is None:
        return None
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    packed = conversion.compression
    return said if packed == "none" else f"{said}, after decompression: it cannot read {packed}"


class ConvertJson(JsonPrinter):
    """Holds the reports until all outputs are published, when it is known what was written."""

    def __init__(self, conversion: Conversion) -> None:
        super().__init__(("unread",))
        self._conversion = conversion
        self._reports: list[FileReport] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._reports.append(event)
        else:
            super().show(name, event)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for report in self._reports:
            self.write("file", self._converted(report))
        super().end(summary, missing)

    def _converted(self, report: FileReport) -> dict[str, Any]:
        values = self._file(report)
        known = report if isinstance(report, ConvertReport) else ConvertReport(report.path)
        values["output"] = [json_text(name) for name in known.output]
        values["written"], values["skipped"] = known.written, known.skipped
        values["losses"] = [_loss(loss) for loss in known.losses if loss.lost]
        values["changes"] = [_loss(loss) for loss in known.losses if not loss.lost]
        if not report.error:
            values["message"] = json_text(sentence(report, self._conversion))
            advice = hint(report, self._conversion)
            values["hint"] = None if advice is None else json_text(advice)
        return values

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        from tfrtool.verbs.convert.shards import oneflow_arguments

        outputs = self._conversion.outputs
        oneflow = oneflow_arguments(outputs) if outputs and self._conversion.target == "ofrecord" else None
        written = sum(report.written for report in self._conversion.reports)
        own = {"output": [json_text(name) for name in outputs], "written": written, "oneflow": oneflow}
        return {**super().summary(summary, missing), **own}


def _loss(loss: Loss) -> dict[str, Any]:
    feature = None if loss.feature is None else json_text(loss.feature)
    return {"feature": feature, "what": loss.what, "records": loss.records, "first": loss.first}


_SHOWN = 20
"""Losses, and damaged ranges, that are shown."""
_DAMAGE = (
    TableColumn("bytes"),
    TableColumn("record", right=True),
    TableColumn("fault", "bare"),
    TableColumn("message"),
)
_LOSSES = (
    TableColumn("feature", "name"),
    TableColumn("", "bare"),
    TableColumn("records", right=True),
    TableColumn("what happened"),
)
_STYLES = {"clean": "green", "damaged": "bold red", "foreign": "bold red"}


class ConvertTerminal:
    """Prints all results after the outputs are published; shows the first `_SHOWN` damaged ranges of each input."""

    def __init__(self, conversion: Conversion, color: bool, stream: TextIO) -> None:
        self._conversion = conversion
        self._console = console(color, stream)
        self._reports: list[FileReport] = []
        self._damage: list[Damage] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._reports.append(event)
            if event.status == "damaged" and self._damage:
                self._table_of_damage(event)
            self._damage = []
        elif len(self._damage) < _SHOWN:
            self._damage.append(event)  # type: ignore[arg-type]

    def _table_of_damage(self, report: FileReport) -> None:
        rows = [
            (
                f"{damage.begin}-{damage.end}",
                "" if damage.record is None else str(damage.record),
                damage.fault,
                printable(damage.message),
            )
            for damage in self._damage
        ]
        self._console.print(draw_table(self._console, _DAMAGE, rows))
        found = report.faults.total()
        if found > len(rows):
            self._console.print(f"and {found - len(rows):,} more; --json lists all")

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for report in self._reports:
            if not report.error:  # reported on standard error
                self._file(report)
        self._changes()
        self._outputs()
        would_be = "would be " if self._conversion.options.dry_run else ""
        written = sum(report.written for report in self._conversion.reports)
        totals(self._console, summary, missing, f"{plural(written, 'record')} {would_be}written")

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        line = Text.assemble((report.status, _STYLES[report.status]))
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        line.append(f"; {printable(sentence(report, self._conversion))}")
        heading(self._console, safe(report.path), line)
        advice = hint(report, self._conversion)
        if advice:
            self._console.print(Text(printable(advice)), soft_wrap=True)  # in one piece, so that it can be copied

    def _outputs(self) -> None:
        from rich.text import Text

        outputs = self._conversion.outputs
        if outputs and not self._conversion.files_are_direct:
            written = sum(report.written for report in self._conversion.reports)
            line = Text(f"{plural(written, 'record')} in {plural(len(outputs), 'file')}: ")
            line.append(safe(outputs_shown(outputs)), "bold")
            self._console.print(line, soft_wrap=True)
        oneflow = oneflow_line(self._conversion)
        if oneflow:
            self._console.print(Text(f"to read them with OneFlow: {printable(oneflow)}"), soft_wrap=True)

    def _changes(self) -> None:
        found = _together(self._conversion.reports)
        if not found or self._conversion.failed:
            return
        rows = [
            (
                "" if loss.feature is None else short(safe(text_of(loss.feature))),
                "lost" if loss.lost else "changed",
                f"{loss.records:,}",
                printable(loss.what),
            )
            for loss in found[:_SHOWN]
        ]
        self._console.print(draw_table(self._console, _LOSSES, rows))
        if len(found) > _SHOWN:
            self._console.print(f"and {len(found) - _SHOWN:,} more; --json lists all")


def _together(reports: Sequence[ConvertReport]) -> list[Loss]:
    """Return the losses of all inputs: losses before changes, the most frequent first."""
    found: dict[tuple[bytes | None, LossKind, About], Loss] = {}
    for report in reports:
        for loss in report.losses:
            fact = loss.feature, loss.kind, loss.about
            found.setdefault(fact, Loss(*fact, 0, 0, 0)).records += loss.records
    return sorted(found.values(), key=lambda loss: (not loss.lost, -loss.records))


class ConvertText(TsvPrinter):
    """Writes lines; those about inputs after all outputs are published."""

    good = frozenset({"clean", "changed"})

    def __init__(self, conversion: Conversion, color: bool, stream: TextIO) -> None:
        super().__init__(color, stream)
        self._conversion = conversion
        self._reports: list[FileReport] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._reports.append(event)
        else:
            damage: Damage = event  # type: ignore[assignment]
            self.row(name, damage.fault, (damage.begin, damage.end, damage.record), damage.message)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for report in self._reports:
            self._file(report)
        for name in self._conversion.outputs:
            self.line(f"{row([name])}\toutput\n")
        line = oneflow_line(self._conversion)
        if line:
            self.line(f"OneFlow\t{printable(line)}\n")
        super().end(summary, missing)

    def _file(self, report: FileReport) -> None:
        counts: tuple[object, ...] = (None, None, None)
        if isinstance(report, ConvertReport):
            counts = (report.records, report.written, report.skipped)
            for loss in report.losses if not self._conversion.failed else ():
                name = None if loss.feature is None else text_of(loss.feature)
                self.row(report.path, "lost" if loss.lost else "changed", (name, loss.records), loss.what)
        said, advice = sentence(report, self._conversion), hint(report, self._conversion)
        self.row(report.path, report.status, counts, f"{said}; {advice}" if advice else said)
