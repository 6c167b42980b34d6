"""Keep the accounts of one repair: decide on what the walk finds, write it, count it and list it, byte by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from tfrtool.framing.damage import Damage
from tfrtool.framing.walk import Batch
from tfrtool.report import Outcome, RepairReport
from tfrtool.sources.codecs.text_mode import TextModeDecoder
from tfrtool.types import Range
from tfrtool.verbs.reading.reopen import ReplayStream
from tfrtool.verbs.repair.decide import Payload, RecoveryPolicy
from tfrtool.verbs.repair.output import RepairOutput
from tfrtool.verbs.repair.range_list import RangeList


class RepairAccounting:
    """Takes what a walk finds, in its order, and yields what became of each damaged range.

    `walked` is the stream in which the walk's offsets lie. All that is yielded, reported and set aside is told in bytes
    of the decoded input, `data`: the two differ where a text conversion was undone, and then even sound frames are
    something that was brought back.
    """

    def __init__(
        self,
        data: ReplayStream,
        walked: ReplayStream | TextModeDecoder,
        out: RepairOutput,
        policy: RecoveryPolicy,
        ranges: RangeList,
        report: RepairReport,
        keep: Literal["all", "before", "after"] = "all",
    ) -> None:
        self._data = data
        self._walked = walked
        self._out = out
        self._policy = policy
        self._ranges = ranges
        self._report = report
        self._keep = keep
        self._undone = isinstance(walked, TextModeDecoder)
        self._origin: Callable[[int], int] = walked.origin if isinstance(walked, TextModeDecoder) else int
        self._damaged = False
        self._reached = 0
        self._pending: tuple[int, int, int] | None = None
        """Where a run of frames of an undone stream begins in the input, and how many records were written and how many
        restored before it."""

    @property
    def reached(self) -> int:
        """How far the input is accounted for, in bytes of its decoded stream."""
        return self._reached

    def take(self, event: Batch | Damage) -> Iterator[Outcome]:
        """Write, count and list the next event of the walk."""
        if isinstance(event, Batch):
            self._frames(event)
        elif event.fault == "codec":
            yield from self.broken(event)
            return
        else:
            yield from self.emit_pending()
            yield self._damage(event)
        self._walked.release(event.end)
        self._data.release(self._reached)

    def emit_pending(self) -> Iterator[Outcome]:
        """List the frames that were held back to be listed as one range."""
        if self._pending is None:
            return
        (begin, at, restored), self._pending = self._pending, None
        if self._report.restored == restored:  # there was nothing to undo
            self._ranges.kept(begin, self._reached, self._report.written - at)
            return
        damage = Damage(begin, self._reached, "stray", detail=self._report.message or "")
        records = self._report.written - at
        outcome = Outcome(damage, "restored", records, (), "the conversion undone, every checksum holds", at=at)
        self._ranges.damage(outcome, self._data)
        yield outcome

    def broken(self, damage: Damage) -> Iterator[Outcome]:
        """List a break of the codec, which has no bytes of its own."""
        self._damaged = True
        self._report.lost = self._report.lost or damage.rescue is None
        self._ranges.codec_break(damage)
        yield Outcome(damage, "restored" if damage.rescue else "dropped", 0, ())

    def _frames(self, batch: Batch) -> None:
        begin, end, report = self._reached, self._origin(batch.end), self._report
        self._reached = end
        if self._keep == ("before" if self._damaged else "after"):
            report.lost = True
            report.dropped_bytes += end - begin
            self._ranges.left_out(begin, end, batch.count, self._data)
            return
        if not isinstance(self._walked, TextModeDecoder):
            report.kept += batch.count
            self._ranges.kept(begin, end, batch.count)
        else:
            self._pending = self._pending or (begin, report.written, report.restored)
            untouched = min(self._walked.untouched(batch), report.sound - report.kept)
            report.kept += untouched
            report.restored += batch.count - untouched
        self._out.frames(self._walked, batch)

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
            self._out.payload(self._walked, payload)
        if self._undone:
            outcome = self._in_the_input(outcome)
        self._reached = outcome.damage.end
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

    def _in_the_input(self, outcome: Outcome) -> Outcome:
        """The same in the bytes of the input, of which an undone stream is not made."""

        def moved(spans: tuple[Range, ...]) -> tuple[Range, ...]:
            return tuple((self._origin(begin), self._origin(end)) for begin, end in spans)

        damage = outcome.damage
        ((begin, end),) = moved(((damage.begin, damage.end),))
        said = f"in the stream so undone: {damage.detail}"
        rescue = damage.rescue and replace(damage.rescue, pieces=moved(damage.rescue.pieces))
        damage = replace(damage, begin=begin, end=end, detail=said, rescue=rescue, tensorflow="")
        return replace(outcome, damage=damage, dropped=moved(outcome.dropped))
