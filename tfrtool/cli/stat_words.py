"""What `stat` says in words, on a terminal and in a pipe alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.remedies import advice
from tfrtool.cli.text import plural
from tfrtool.verbs.dataset import DataSet

if TYPE_CHECKING:
    from tfrtool.verbs.digests import Place
    from tfrtool.verbs.stat import StatReport


def what_is_wrong(report: StatReport) -> str:
    """What a report says of damage, in one sentence; empty for a clean file."""
    said = report.error[1] if report.error else report.message or ""
    return "; ".join(filter(None, (said, advice(report))))


def repeats(data: DataSet) -> str | None:
    """How many payloads occur more than once, and where the first is; None where that was not looked at."""
    found = data.repeats()
    if found is None:
        return None
    if found.first is None:
        return "no payload occurs twice"
    later, earlier = found.first
    several = len(data.paths) > 1
    return (
        f"{plural(found.count, 'record')} with the payload of an earlier one; the first is "
        f"{_place(data, later, several)}, which has that of {_place(data, earlier, several)}"
    )


def _place(data: DataSet, place: Place, several: bool) -> str:
    return f"record {place.record}" + (f" of '{data.paths[place.file]}'" if several else "")
