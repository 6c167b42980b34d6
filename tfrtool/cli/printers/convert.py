"""What `convert` shows to people: what was written where, and a table of what was lost or changed.

What `convert` says of an input and of its outputs: the words for pipes, people and programs.

`damage` objects as they are met, then `file` objects with what was written and lost, for `convert --json`.

What `convert` writes into a pipe.
"""

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
    """What became of an input, for people, without what to do next."""
    if report.error:
        return report.error[1]
    assert isinstance(report, ConvertReport)
    if report.status == "foreign":
        return f"{report.message or 'no records'}; nothing was written"
    if conversion.failed:
        if report.status == "damaged" and not conversion.options.skip_damaged:
            return f"the first damage stops the conversion; {_gone(report, conversion)}"
        link = "though" if report.written else "since"
        return f"{_gone(report, conversion)}, {link} {conversion.reason}"
    would = "would be written" if conversion.options.dry_run else "written"
    said = [f"{plural(report.written, 'record')} {would}"]
    if conversion.none_fulfils:
        said.append("since none fulfils --where")
    if report.skipped:
        said.append(f"{report.skipped:,} skipped")
    lost = sum(loss.lost for loss in report.losses)
    if lost:
        asked = "" if _unasked(report, conversion) else ", as asked for"
        said.append(("1 loss" if lost == 1 else f"{lost:,} losses") + asked)
    if report.unread:
        said.append("and reading stopped there" if report.records else "not read, since no more were wanted")
    return ", ".join(said)


def _gone(report: ConvertReport, conversion: Conversion) -> str:
    """What of an input went out before a failure."""
    if conversion.cut_off:
        return "what went out before is cut off, and to be thrown away"
    return f"{plural(report.written, 'record')} went out before" if report.written else "nothing was written"


def _unasked(report: ConvertReport, conversion: Conversion) -> bool:
    """Whether something was lost that no option asks for: what rows cannot say, digits that a float has not, a list
    that another one overrides."""
    from tfrtool.verbs.formats.base import ROWS

    return conversion.target in ROWS or any(loss.code in _UNASKED for loss in report.losses)


def hint(report: FileReport, conversion: Conversion) -> str | None:
    """What to do next about an input, if anything."""
    found = advice(report)
    if report.status == "foreign" and report.faults["payload"]:
        return "--to tfrecord copies them as they are, without options about features"
    if set(report.faults) == {"payload"}:  # which repair cannot mend
        if conversion.options.skip_damaged:
            return None
        other = f", or {found}" if found and report.suggestion and report.suggestion.words else ""
        return f"say --skip-damaged to leave such records out{other}"
    if report.status == "damaged" and conversion.failed and not conversion.options.skip_damaged:
        repair = f"{found} to save what can be saved, or say" if found else "say"
        return f"{repair} --skip-damaged to leave out what is damaged"
    return found


def outputs_shown(names: list[str]) -> str:
    """The outputs in a few words: the first and the last."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{names[0]} … {names[-1]}"


def oneflow_line(conversion: Conversion) -> str | None:
    """How OneFlow reads the outputs, where those are parts by its rule."""
    if conversion.target != "ofrecord" or not conversion.outputs:
        return None
    from tfrtool.verbs.convert.shards import oneflow_arguments

    arguments = oneflow_arguments(conversion.outputs)
    if arguments is None:
        return None
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    packed = conversion.compression
    return said if packed == "none" else f"{said}, once they are unpacked: it does not read {packed}"


class ConvertJson(JsonPrinter):
    """Holds the reports until all outputs are published, since none says before what was written."""

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
"""Losses, and damaged ranges, of one run that are shown."""
_DAMAGE = (
    TableColumn("bytes"),
    TableColumn("record", right=True),
    TableColumn("fault", "bare"),
    TableColumn("what is wrong"),
)
_LOSSES = (
    TableColumn("feature", "name"),
    TableColumn("", "bare"),
    TableColumn("records", right=True),
    TableColumn("what happened"),
)
_STYLES = {"clean": "green", "damaged": "bold red", "foreign": "bold red"}


class ConvertTerminal:
    """Prints everything when all outputs are published; holds the first `_SHOWN` damaged ranges of each input."""

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
            if not report.error:  # which standard error tells
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
            self._console.print(Text(printable(advice)), soft_wrap=True)  # whole, so that it can be copied

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
            self._console.print(Text(f"OneFlow reads them with {printable(oneflow)}"), soft_wrap=True)

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
    """The losses of all inputs, losses before changes, what happened most first."""
    found: dict[tuple[bytes | None, LossKind, About], Loss] = {}
    for report in reports:
        for loss in report.losses:
            fact = loss.feature, loss.kind, loss.about
            found.setdefault(fact, Loss(*fact, 0, 0, 0)).records += loss.records
    return sorted(found.values(), key=lambda loss: (not loss.lost, -loss.records))


class ConvertText(TsvPrinter):
    """Lines as the help of the command lays down; those of inputs come when all outputs are published."""

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
