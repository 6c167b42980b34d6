"""Print the results of `count`, to pipes and terminals alike."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe
from tfrtool.report import FileReport, Summary
from tfrtool.suggestion import Suggestion

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event


class CountText:
    """Prints the number of records, a space and the path of each record file, and a `total` of several inputs."""

    def __init__(self) -> None:
        self._total = 0

    def show(self, name: str, event: Event) -> None:
        assert isinstance(event, FileReport)
        if event.status in ("clean", "damaged"):
            self._total += event.records
            sys.stdout.write(f"{event.records} {safe(event.path)}\n")
        if event.status == "damaged":
            found = event.message or f"{plural(event.damaged_bytes, 'byte')} outside intact records"
            if event.format == "tfrecord":
                found += "; payloads not checked"
            from tfrtool.cli.suggestions import advice, suggestion_words

            say(found, event.path, advice(event) or suggestion_words(Suggestion("verify", event.path)))
        elif event.status == "foreign" or (event.status == "clean" and event.hint):
            from tfrtool.cli.suggestions import advice

            say(event.message or "", event.path, advice(event))

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.warnings import warn_missing

            warn_missing(missing)
        if summary.files > 1:
            sys.stdout.write(f"{self._total} total\n")
