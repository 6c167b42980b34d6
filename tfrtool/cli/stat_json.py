"""`file` objects with how a file is made, and a `summary` of how all of them are, for `stat --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.cli.json_out import JsonPrinter
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.dataset import Advice, DataSet, advice
from tfrtool.verbs.json_text import json_text
from tfrtool.verbs.sizes import Sizes
from tfrtool.verbs.stat import stat_report

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.verbs.digests import Place

_FIELDS = (
    "bytes",
    "damaged_bytes",
    "payload_bytes",
    "overhead_bytes",
    "compression_ratio",
    "duplicates",
    "index",
    "unchecked",
)


class StatJson(JsonPrinter):
    """Adds sizes, a histogram (each bin from `lo` on, below `hi`) and advice to a `file`, and those of all to the
    `summary`, where `shards` says how the records are spread over the files.
    """

    def __init__(self) -> None:
        super().__init__(_FIELDS)
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            super().show(name, event)
            return
        report = stat_report(event)
        self.total.add(report)
        values = self._file(report)
        values["first_duplicate"] = report.first_duplicate and dict(
            zip(("record", "earlier"), report.first_duplicate, strict=True)
        )
        values["sizes"] = report.sizes._asdict()
        values["histogram"] = [one.asdict() for one in report.histogram]
        values["advice"] = _advice(advice(DataSet.of(report)))
        self.write("file", values)

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        total = self.total
        found = total.repeats()
        return {
            **super().summary(summary, missing),
            "payload_bytes": total.payloads.total,
            "overhead_bytes": total.framing,
            "compression_ratio": total.ratio,
            "duplicates": None if found is None else found.count,
            "first_duplicate": None
            if found is None or found.first is None
            else dict(zip(("record", "earlier"), map(self._place, found.first), strict=True)),
            "sizes": total.sizes._asdict(),
            "histogram": [one.asdict() for one in total.histogram],
            "shards": _shards(total),
            "advice": _advice(advice(total)),
        }

    def _place(self, place: Place) -> dict[str, Any]:
        return {"path": json_text(self.total.paths[place.file]), "index": place.record}


def _shards(total: DataSet) -> dict[str, Any]:
    """How many record files there are, the least, middle, mean and most of their bytes and records."""
    return {
        "files": total.files.count,
        "empty": total.hollow[0] if total.hollow else 0,
        "bytes": _brief(total.files),
        "records": _brief(total.records),
        "evenness": total.evenness,
        "largest": json_text(total.largest[1]) if total.largest else None,
    }


def _brief(sizes: Sizes) -> dict[str, Any]:
    spread = sizes.spread()
    return {"min": spread.min, "p50": spread.p50, "mean": spread.mean, "max": spread.max}


def _advice(found: Sequence[Advice]) -> list[dict[str, Any]]:
    return [{"kind": one.kind, "message": json_text(one.message)} for one in found]
