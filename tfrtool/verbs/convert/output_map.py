"""Which records of which input went where, as its report says once a conversion is over."""

from __future__ import annotations

from collections.abc import Sequence

from tfrtool.report import ConvertReport


class OutputMap:
    """What became of each input, by its report; `cut_off`: a part of an output went into a pipe, and is of no use."""

    def __init__(self) -> None:
        self.reports: list[ConvertReport] = []
        self.cut_off = False
        self._outputs: dict[int, tuple[int, int]] = {}
        self._sent_records: dict[int, int] = {}

    def add_sent(self, written: int) -> None:
        """So many records of the next input went into a pipe or a device, beyond recall."""
        self._sent_records[len(self.reports)] = written

    def add_outputs(self, outputs: tuple[int, int]) -> None:
        """The records of the next input are in `outputs[begin:end]`."""
        self._outputs[len(self.reports)] = outputs

    @property
    def any_sent(self) -> bool:
        """Whether any record went out beyond recall."""
        return any(self._sent_records.values())

    def discard_sent(self, *, cut_off: bool) -> None:
        """Nobody can use the records that went out: none of them is complete, or what holds them is not."""
        self._sent_records.clear()
        self.cut_off = cut_off

    def complete(self, outputs: Sequence[str], *, failed: bool) -> None:
        """Put into the reports which outputs hold their records, and what was written if it `failed`."""
        for number, report in enumerate(self.reports):
            if failed:
                report.written = self._sent_records.get(number, 0)
            start, stop = self._outputs.get(number, (0, 0))
            report.output = list(outputs[start:stop])
