"""Record which outputs hold the records of each input."""

from __future__ import annotations

from collections.abc import Sequence

from tfrtool.report import ConvertReport


class OutputMap:
    """Maps inputs to outputs in their reports. `cut_off`: a pipe received an incomplete, unusable output."""

    def __init__(self) -> None:
        self.reports: list[ConvertReport] = []
        self.cut_off = False
        self._outputs: dict[int, tuple[int, int]] = {}
        self._sent_records: dict[int, int] = {}

    def add_sent(self, written: int) -> None:
        """Note that `written` records of the next input went into a pipe or a device."""
        self._sent_records[len(self.reports)] = written

    def add_outputs(self, outputs: tuple[int, int]) -> None:
        """Note that `outputs[begin:end]` hold the records of the next input."""
        self._outputs[len(self.reports)] = outputs

    @property
    def any_sent(self) -> bool:
        """Whether any record went into a pipe or a device."""
        return any(self._sent_records.values())

    def discard_sent(self, *, cut_off: bool) -> None:
        """Count no record as sent, because what the pipe received is incomplete."""
        self._sent_records.clear()
        self.cut_off = cut_off

    def complete(self, outputs: Sequence[str], *, failed: bool) -> None:
        """Set `output` in the reports, and after a failure `written` to the number of sent records."""
        for number, report in enumerate(self.reports):
            if failed:
                report.written = self._sent_records.get(number, 0)
            start, stop = self._outputs.get(number, (0, 0))
            report.output = list(outputs[start:stop])
