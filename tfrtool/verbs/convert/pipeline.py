"""Send the records of one input into a sink, mapped or unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

from tfrtool.errors import RefusedError
from tfrtool.framing.damage import Damage
from tfrtool.framing.layout import AROUND
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.payload.mapping.record import NotText
from tfrtool.payload.mapping.rules import TITLES, Refused
from tfrtool.payload.wire.reader import WireError
from tfrtool.report import ConvertReport, FileReport
from tfrtool.suggestion import Suggestion
from tfrtool.types import Kind
from tfrtool.verbs.reading.file_reader import FileReader
from tfrtool.verbs.reading.kind_vote import VOTERS

if TYPE_CHECKING:
    from tfrtool.payload.filter import Where
    from tfrtool.payload.mapping.mapper import Mapper
    from tfrtool.verbs.formats.base import Pieces

_WITH_FEATURES = ("example", "sequence_example", "ofrecord")


class Sink(Protocol):
    """Receives the records of a pass. `takes_many`: `records` is faster than `record` and never refuses a payload."""

    takes_many: bool

    def frames(self, reading: FileReader, batch: Batch, start: int, stop: int) -> None:
        """Frames `[first, behind)` of a batch, as they are."""

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        """Take the payload of record `number` of its input."""

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        """Take payloads, each in one piece."""

    def release_views(self) -> None:
        """Copy what is still needed: the views given so far become invalid."""


class RecordRange:
    """Select `limit` records after the first `skip`, counted over all inputs."""

    def __init__(self, skip: int, limit: int | None) -> None:
        self.skip = skip
        self.left = 1 << 62 if limit is None else limit

    @property
    def done(self) -> bool:
        """Whether all selected records were taken."""
        return self.left <= 0

    def take(self, count: int) -> tuple[int, int]:
        """Which of the next `count` records are wanted: `[first, behind)` of them."""
        start = min(self.skip, count)
        stop = start + min(count - start, self.left)
        self.skip -= start
        self.left -= stop - start
        return start, stop


class RecordPipeline:
    """Send the records of one input into a sink, and yield damage in file order.

    Without `skip_damaged` the first damage ends the run: `stopped`. `mapper` is None if payloads are copied. `checked`:
    a payload that is not of the kind of its file is damage. `written` and `skipped` count records. `unread`: the run
    ended with the last selected record, and the rest of the input was not read.
    """

    def __init__(
        self,
        reading: FileReader,
        sink: Sink,
        wanted: RecordRange,
        mapper: Mapper | None,
        where: Where | None = None,
        *,
        framed: bool,
        skip_damaged: bool,
        checked: bool = False,
    ) -> None:
        """`framed`: frames with unchanged payloads are copied as they are."""
        self.reading = reading
        self.sink = sink
        self.wanted = wanted
        self.mapper = mapper
        self.where = where
        self.skip_damaged = skip_damaged
        self.framed = framed
        self.checked = checked
        self._copied = framed and mapper is None and where is None
        self.raw = self._copied and not checked
        self.is_ofrecord = reading.identity.format == "ofrecord"
        self._before, self._after = AROUND[reading.identity.format or "tfrecord"]
        self.written = self.skipped = self._examined = 0
        self.stopped = self.unread = self._has_bad_name = False

    def run(self) -> Iterator[Damage]:
        """Send the selected records to the sink, and yield damage."""
        if self.wanted.left <= 0:
            self.unread = True
            return
        ahead = 0 if self.raw else min(self.wanted.skip + self.wanted.left, VOTERS)
        for event in self.reading.events(payloads=not self.raw, ahead=ahead):
            if isinstance(event, Damage):
                if not self._accept_nonstandard(event):
                    yield from self._damage(event)
            elif self.raw or (self._copied and event.view is None):  # a record too large to be held
                start, stop = self.wanted.take(event.count)
                self._examined += stop if self.wanted.done else event.count
                if start < stop:
                    self.sink.frames(self.reading, event, start, stop)
                    self.written += stop - start
            else:
                yield from self._records(event)
                self.sink.release_views()
            if self.stopped:
                return
            if self.wanted.done:
                self.unread = self._examined < self.reading.tally.records or event.end != self.reading.source.data.size
                return

    def fill(self, report: ConvertReport) -> None:
        """Fill in a report. Call it after `run` has ended."""
        seen = self.reading.report()
        for one in fields(FileReport):
            setattr(report, one.name, getattr(seen, one.name))
        report.written, report.skipped, report.unread = self.written, self.skipped, self.unread
        if self.unread:  # more was read at once than was wanted
            report.records = self._examined
        if self.checked and report.kind == "unknown" and report.status == "clean" and not report.hint:
            report.hint = f"no payload was parsed, since {self.reading.kind_detector.why_unknown()}"
        if self._has_bad_name and not self.skip_damaged and not self.checked:
            report.hint = None
            report.suggestion = Suggestion(words="{unknown=drop} to leave out features whose names are not UTF-8")
        if self._has_no_features and report.status == "damaged":
            its = "Events" if report.kind == "event" else "of no kind that is known"
            report.status, report.suggestion = "foreign", None
            report.message = f"its records are {its}, which have no features to be converted or looked at"
        report.losses = self.mapper.losses.all() if self.mapper else []
        self.stopped = self.stopped or report.status == "foreign"

    @property
    def _has_no_features(self) -> bool:
        """Whether the first record of an intact file stopped the pipeline because its message has no features."""
        at_start = self.stopped and not self._examined and set(self.reading.tally.faults) == {"payload"}
        return at_start and not self.checked and not self.is_ofrecord and self.reading.kind_detector.featureless

    def _accept_nonstandard(self, damage: Damage) -> bool:
        """Send an OFRecord that was reported as damage if it parses anyway.

        OFRecord has no checksums, so its framing is verified by the payloads. Content that no writer produces (unknown
        fields, lists set twice) is therefore reported as damage.
        """
        number = damage.record
        copied = self.framed and self.mapper is None
        if copied or self.checked or not self.is_ofrecord or damage.fault != "payload" or number is None:
            return False
        size = damage.end - damage.begin - self._before
        if size > MAX_RECORD:
            return False
        view = memoryview(bytearray(size))
        view = view[: self.reading.source.data.read_into(damage.begin + self._before, view)]
        try:
            self._record(view, number)
        except WireError:
            return False
        except Refused as error:
            raise self._refused(error, number, damage.begin) from None
        self.sink.release_views()
        self.reading.reclassify_as_valid(damage)
        return True

    def _refused(self, error: Refused, number: int, at: int) -> RefusedError:
        return RefusedError(
            f"'{self.reading.source.name}' record {number} at byte {at}: {error.facts}", Suggestion(words=error.hint)
        )

    def _damage(self, damage: Damage) -> Iterator[Damage]:
        yield damage
        self.stopped = not self.skip_damaged
        if damage.record is not None:
            self.skipped += max(damage.recovery.records if damage.recovery else 1, 1)

    def _records(self, batch: Batch) -> Iterator[Damage]:
        i = 0
        while i < batch.count and not self.wanted.done:
            i += self._convert_batch(batch, i)
            if i == batch.count or self.wanted.done:
                return
            begin, end = batch.begins[i], batch.ends[i]
            try:
                self._record(self._payload(batch, begin, end), batch.first + i)
            except WireError as error:
                self._has_bad_name = self._has_bad_name or type(error) is NotText
                damage = self._payload_damage(batch, i, error)
                self.reading.reclassify_as_damaged(damage)
                yield from self._damage(damage)
                if self.stopped:
                    return
            except Refused as error:
                raise self._refused(error, batch.first + i, batch.base + begin - self._before) from None
            i += 1

    def _convert_batch(self, batch: Batch, i: int) -> int:
        """Send the records of a batch from index `i`, while they have the same layout. Return how many were sent."""
        if self.mapper is None or batch.view is None or self.where or self.checked:
            return 0
        if self.wanted.skip or not self.sink.takes_many:
            return 0
        which = range(i, min(batch.count, i + self.wanted.left))
        found = self.mapper.many(batch.view, batch.begins, batch.ends, which, batch.first + i)
        if found:
            self.wanted.take(len(found))
            self.sink.records(found, self.mapper.target)
            self.written += len(found)
            self._examined += len(found)
        return len(found)

    def _record(self, payload: memoryview, number: int) -> None:
        """Send one record if it is selected. Raises WireError if the payload does not parse."""
        self._send(payload, number)
        self._examined += 1

    def _send(self, payload: memoryview, number: int) -> None:
        if self.checked and self.reading.kind is not None:
            from tfrtool.payload.kinds import fits

            misfit = fits(payload, self.reading.kind)
            if misfit is not None:
                raise WireError(misfit.offset, misfit.why)
        if self.where is not None:
            if self._kind not in _WITH_FEATURES:
                raise WireError(0, f"its kind is {self._kind}, which has no features for a condition to look at")
            if not self.where.fulfils(payload, self._kind):
                return
        start, stop = self.wanted.take(1)
        if start == stop:
            return
        pieces: Pieces | None = (payload,) if self.mapper is None else self.mapper.convert(payload, number)
        if pieces is None:
            self.skipped += 1
            return
        self.sink.record(pieces, self._kind if self.mapper is None else self.mapper.made(self._kind), number)
        self.written += 1

    @property
    def _kind(self) -> Kind:
        """The kind of the file. In TFRecord framing an OFRecord counts as unknown: it may be the bare Features of an
        Example, whose lists have other field numbers."""
        kind = self.reading.kind
        if self.is_ofrecord:
            return "ofrecord"
        return "unknown" if kind is None or kind == "ofrecord" else kind

    def _payload(self, batch: Batch, begin: int, end: int) -> memoryview:
        if batch.view is not None:
            return batch.view[begin:end]
        size = end - begin
        if size > MAX_RECORD:
            raise Refused(None, f"it holds {size:,} bytes, more than {MAX_RECORD:,}", "such records can only be copied")
        view = memoryview(bytearray(size))
        return view[: self.reading.source.data.read_into(batch.base + begin, view)]

    def _payload_damage(self, batch: Batch, i: int, error: WireError) -> Damage:
        wanted = (
            "OFRecord"
            if self.is_ofrecord
            else TITLES.get(self.reading.kind or "", "Example")
            if self.checked
            else "Example"
        )
        return Damage(
            batch.base + batch.begins[i] - self._before,
            batch.base + batch.ends[i] + self._after,
            "payload",
            batch.first + i,
            detail=f"the payload is no {wanted}: {error}",
        )
