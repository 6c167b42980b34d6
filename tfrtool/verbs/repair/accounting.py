"""Keep the accounts of one repair: decide on what the walk finds, write it, count it and list it, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from tfrtool.framing.damage import Damage
from tfrtool.framing.walk import Batch
from tfrtool.report import Outcome, RepairReport
from tfrtool.verbs.reading.reopen import ReplayStream
from tfrtool.verbs.repair.decide import Payload, RecoveryPolicy
from tfrtool.verbs.repair.output import RepairOutput
from tfrtool.verbs.repair.range_list import RangeList


class RepairAccounting:
    """Takes what a walk finds, in its order, and yields what became of each damaged range.

    Offsets are those of the decoded stream, `data`. Where a text conversion was undone to decode it, as many records
    count as kept as were intact before, and the others as restored.
    """

    def __init__(
        self,
        data: ReplayStream,
        out: RepairOutput,
        policy: RecoveryPolicy,
        ranges: RangeList,
        report: RepairReport,
        keep: Literal["all", "before", "after"] = "all",
    ) -> None:
        self._data = data
        self._out = out
        self._policy = policy
        self._ranges = ranges
        self._report = report
        self._keep = keep
        self._damaged = False

    def take(self, event: Batch | Damage) -> Iterator[Outcome]:
        """Write, count and list the next event of the walk."""
        if isinstance(event, Batch):
            self._frames(event)
        elif event.fault == "codec":
            yield from self.broken(event)
            return
        else:
            yield self._damage(event)
        self._data.release(event.end)

    def broken(self, damage: Damage) -> Iterator[Outcome]:
        """List a break of the codec, which has no bytes of its own."""
        self._damaged = True
        self._report.lost = self._report.lost or damage.recovery is None
        self._ranges.codec_break(damage)
        yield Outcome(damage, "restored" if damage.recovery else "dropped", 0, ())

    def _frames(self, batch: Batch) -> None:
        begin, end, report = batch.begin, batch.end, self._report
        if self._keep == ("before" if self._damaged else "after"):
            report.lost = True
            report.dropped_bytes += end - begin
            self._ranges.left_out(begin, end, batch.count, self._data)
            return
        kept = min(batch.count, report.sound - report.kept) if report.converted else batch.count
        report.kept += kept
        report.restored += batch.count - kept
        self._ranges.kept(begin, end, batch.count)
        self._out.frames(self._data, batch)

    def _damage(self, damage: Damage) -> Outcome:
        self._damaged = True
        report = self._report
        payloads: Iterator[Payload] = iter(())
        if self._keep == "before":
            whole = ((damage.begin, damage.end),) if damage.end > damage.begin else ()
            outcome = Outcome(damage, "dropped", 0, whole)
        else:
            outcome, payloads = self._policy.decide(damage)
        if outcome.records:
            outcome = replace(outcome, at=report.written)
        for payload in payloads:
            self._out.payload(self._data, payload)
        if outcome.action == "restored":
            report.restored += outcome.records
        elif outcome.action == "corrected":
            report.corrected += outcome.records
        elif outcome.action == "kept":
            report.unverified += outcome.records
        report.dropped_bytes += outcome.dropped_bytes
        report.lost = report.lost or outcome.dropped_bytes > 0
        self._ranges.damage(outcome, self._data)
        return outcome
