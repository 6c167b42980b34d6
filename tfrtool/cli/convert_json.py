"""`damage` objects as they are met, then `file` objects with what was written and lost, for `convert --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.cli.convert_words import hint, sentence
from tfrtool.cli.json_out import JsonPrinter
from tfrtool.report import ConvertReport, FileReport, Loss, Summary
from tfrtool.verbs.json_text import json_text

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.verbs.conversion import Conversion


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
        from tfrtool.verbs.convert_shards import oneflow_arguments

        outputs = self._conversion.outputs
        oneflow = oneflow_arguments(outputs) if outputs and self._conversion.target == "ofrecord" else None
        written = sum(report.written for report in self._conversion.reports)
        own = {"output": [json_text(name) for name in outputs], "written": written, "oneflow": oneflow}
        return {**super().summary(summary, missing), **own}


def _loss(loss: Loss) -> dict[str, Any]:
    feature = None if loss.feature is None else json_text(loss.feature)
    return {"feature": feature, "what": loss.what, "records": loss.records, "first": loss.first}
