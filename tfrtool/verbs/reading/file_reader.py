"""One input, opened, told apart and walked: what every job that reads has in common."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from tfrtool.errors import ReadError, TfrtoolError
from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.layout import AROUND
from tfrtool.framing.walk import Batch, walk
from tfrtool.report import FileReport, Tally
from tfrtool.sources.os_text import quoted
from tfrtool.sources.source import open_source
from tfrtool.verbs.reading.identify import Identity, identify

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.framing.stream import Readable
    from tfrtool.sources.codecs.faults import CodecFault
    from tfrtool.sources.source import Source
    from tfrtool.types import Kind
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.reading.kind_vote import KindDetector

# What a sound TFRecord file does not need is imported where it is used: that takes longer than counting its records.

Item = TypeVar("Item")


def read_file(name: str, options: Options, job: Callable[[FileReader], Iterator[Item]]) -> Iterator[Item | FileReport]:
    """Open an input and do a job on it.

    Whatever cannot be done becomes a report with status `error`, which counts what was read until then.
    """
    read = None
    try:
        with open_source(name, compression=options.compression) as source:
            read = FileReader(unwrapped(source, options.compression), options)
            yield from job(read)
    except TfrtoolError as error:
        report = _failed(name, read, error.kind, error.facts)
        report.suggestion = error.suggestion
        yield report
    except MemoryError:
        yield _failed(name, read, "memory", "out of memory")


def unwrapped(source: Source, compression: str) -> Source:
    """The source; one that is packed, though its first bytes do not say so plainly, is made one that unpacks.

    `compression` is what was asked for.
    """
    head = source.raw_head
    text = source.compression != "none" and 0 < head.count(b"\n") <= 2 * head.count(b"\r\n")
    if compression != "none" and head and (text or not header_is_sound(source.head)):
        from tfrtool.verbs.reading.open_input import unwrap

        unwrap(source, compression)
    return source


def _failed(name: str, read: FileReader | None, kind: str, message: str) -> FileReport:
    if read and read.tally.records:
        records = f"{read.tally.records:,} sound record{'s' if read.tally.records != 1 else ''}"
        message = f"{message} ({records} in the {read.tally.bytes:,} bytes before)"
    report = read.counts() if read else FileReport(name)
    report.status, report.message, report.error = "error", message, (kind, message)
    return report


def codec_damage(fault: CodecFault) -> Damage:
    """A break of the codec as damage, which stands between two bytes of the decoded stream."""
    from tfrtool.framing.damage import Damage, Rescue

    at, rescue = fault.offset_decoded, Rescue("unwrapped", 0, ()) if fault.harmless else None
    return Damage(at, at, "codec", detail=fault.detail, rescue=rescue, tensorflow=fault.tensorflow)


def refuse_rewritten(source: Source) -> None:
    """Raise `ReadError` where a file was written to since it was opened: what was read may belong to no one file."""
    if source.was_rewritten():
        raise ReadError(
            f"{quoted(source.name)} was written to while it was read; run this again once nothing writes to it"
        )


class FileReader:
    """Walks one open source: `events()` yields batches and damage in order, then `report()` says what the file is."""

    def __init__(self, source: Source, options: Options) -> None:
        self.source = source
        self.options = options
        self.tally = Tally()
        self.identity: Identity = identify(source, options.format)
        self.foreign = self.identity.format is None
        self._kind_detector: KindDetector | None = None
        self._finished = False
        self._end = 0
        self._told = 0
        self._faults = 0
        self._first: Damage | None = None
        self._unproved = 0
        self._written: Damage | None = None
        """The first range that a wrong writer wrote."""

    def events(
        self,
        *,
        payloads: bool = False,
        headers_only: bool = False,
        lengths: bool = False,
        whole: bool = False,
        ahead: int = 0,
    ) -> Iterator[Batch | Damage]:
        """Sound frames and damage in the order of the stream; breaks of the codec stand where the stream breaks.

        `headers_only` gives batches without columns, but with `lengths` where those are asked for too. A foreign file
        gives one stretch of damage, from 0 to its end; where that is not known, it is read for if `whole`, else the
        stretch is what was looked at. All is in the order of where it begins: a break inside a frame or a damaged range
        comes behind that.

        `ahead` asks that `kind` be settled before the first batch is given, and how many records may be read for that.
        """
        data: Readable = self.source.data
        if ahead > 0:
            from tfrtool.verbs.reading.kind_vote import RetainingStream, until_kind_is_known

            data = data if self.source.seekable else RetainingStream(data)
        events = self._in_order(self._walk(data, payloads, headers_only, lengths, whole))
        for event in until_kind_is_known(self.kind_detector, events, ahead, data) if ahead > 0 else events:
            votes = self._kind_detector is not None or (isinstance(event, Batch) and (event.begins or event.lengths))
            if ahead <= 0 and votes and not self.kind_detector.settled:  # who only counts needs no vote
                self.kind_detector.observe(event)
            if isinstance(event, Batch):
                self.tally.records += event.count
                self.tally.bytes += event.end - event.begin
            else:
                self._count(event)
            self._end = event.end
            if self.source.faults:
                yield from self._broken(event.begin)
            yield event
            if self.source.faults:
                yield from self._broken(event.end)
            self._advance(event.end)
        if self.source.faults:
            yield from self._broken(None)
        self._finished = True
        self._advance(None)

    def _in_order(self, events: Iterator[Batch | Damage]) -> Iterator[Batch | Damage]:
        """The same, with batches cut where a break of the codec comes before the next frame."""
        for event in events:
            if isinstance(event, Batch) and event.begins and self._faults < len(self.source.faults):
                yield from self._cut(event)
            else:
                yield event

    def _cut(self, batch: Batch) -> Iterator[Batch]:
        before, _ = self.framing
        shift, at, done = batch.base - before, batch.begin, 0
        for i in range(self._faults, len(self.source.faults)):
            here = bisect_left(batch.begins, self.source.faults[i].offset_decoded - shift, done)
            if done < here < batch.count:
                at, to = shift + batch.begins[here], at
                yield self._part(batch, to, at, done, here)
                done = here
        yield self._part(batch, at, batch.end, done, batch.count)

    def _part(self, batch: Batch, begin: int, end: int, of: int, to: int) -> Batch:
        columns = {"begins": batch.begins[of:to], "ends": batch.ends[of:to]}
        return batch.replaced(begin=begin, end=end, first=batch.first + of, count=to - of, **columns)

    def _walk(
        self, data: Readable, payloads: bool, headers_only: bool, lengths: bool, whole: bool
    ) -> Iterator[Batch | Damage]:
        if self.foreign:
            return iter(self._all_of_it(whole))
        if self.identity.zeroed:
            from tfrtool.framing.recovery.zero_checksums import walk_zeroed

            return walk_zeroed(data)
        if self.identity.format == "tfrecord":
            how = {"payloads": payloads, "headers_only": headers_only, "lengths": lengths}
            return walk(data, stopped=self._stopped, **how)
        from tfrtool.framing.ofrecord import hop_ofrecord, hopped_ofrecord, walk_ofrecord
        from tfrtool.payload.kinds import plausible_ofrecord

        if headers_only and self.source.seekable and data.size:
            count = hop_ofrecord(data)
            if count and lengths:
                return hopped_ofrecord(data)
            if count:
                return iter([Batch(0, data.size, 0, count, 0, None, [], [])])
        return walk_ofrecord(data, plausible_ofrecord)

    def _stopped(self) -> bool:
        """Whether a break of the codec keeps TensorFlow from coming to what is walked now."""
        return any(fault.stops for fault in self.source.faults)

    def _all_of_it(self, to_the_end: bool) -> list[Batch | Damage]:
        from tfrtool.framing.damage import Damage

        sniffed = self.identity.sniffed
        size = self.source.data.size
        if size is None and to_the_end:
            from tfrtool.sources.spool import read_all

            size = sum(map(len, read_all(self.source.data)))
        elif size is None:
            size = len(self.source.head)
        return [Damage(0, size, "stray", detail=sniffed.message if sniffed else "")] if size else []

    def _count(self, damage: Damage) -> None:
        self.tally.add(damage)
        if self._first is None:
            self._first = damage
        rescue = damage.rescue
        if rescue and (rescue.layout or rescue.writer):
            if self._written is None:
                self._written = damage
            self._unproved += rescue.records if rescue.how == "unproved" else 0

    def _broken(self, reached: int | None) -> Iterator[Damage]:
        """The breaks of the codec up to `reached`, an offset of the decoded stream; all of them for None."""
        faults = self.source.faults
        while self._faults < len(faults) and (reached is None or faults[self._faults].offset_decoded <= reached):
            fault = faults[self._faults]
            self._faults += 1
            damage = codec_damage(fault)
            self._count(damage)
            yield damage

    def _advance(self, reached: int | None) -> None:
        """Tell the progress: of a plain file what was walked, else what was read of the input."""
        if self.options.progress:
            source = self.source
            walked = source.data.size if reached is None else reached
            now = walked if source.seekable and walked is not None else source.position_encoded()
            if now > self._told:
                self.options.progress(now - self._told)
                self._told = now

    @property
    def framing(self) -> tuple[int, int]:
        """Bytes before and behind each payload."""
        return AROUND[self.identity.format or "ofrecord"]

    @property
    def kind_detector(self) -> KindDetector:
        """The vote on the kind of the records."""
        if self._kind_detector is None:
            from tfrtool.verbs.reading.kind_vote import KindDetector

            self._kind_detector = KindDetector(self.source.data, self.framing)
        return self._kind_detector

    @property
    def kind(self) -> Kind | None:
        """The kind of the file, by the first records of those that `events` has given; None if there were none."""
        return None if self._kind_detector is None else self._kind_detector.kind

    def reclassify_as_damaged(self, damage: Damage) -> None:
        """Count a sound frame as damage after all, since its payload does not parse."""
        self.tally.records -= 1
        self.tally.bytes -= damage.end - damage.begin
        self._count(damage)

    def reclassify_as_valid(self, damage: Damage) -> None:
        """Count a range as a sound frame after all, since its payload does parse: odd, but by the rules."""
        self.tally.records += 1
        self.tally.damaged_bytes -= damage.end - damage.begin
        self.tally.faults -= Counter([damage.fault])
        if self._first is damage:
            self._first = None

    def report(self) -> FileReport:
        """What the file turned out to be; complete once `events` has run to its end.

        Raises `ReadError` where the file was rewritten meanwhile, since what was read then belongs to no one file.
        """
        refuse_rewritten(self.source)
        report = self.counts()
        report.unread = not (self._finished or self.foreign or self._end == self.source.data.size)
        self._judge(report)
        grown = self.source.grown_by()
        if grown and not report.hint:
            report.hint = f"the file grew by {grown:,} bytes while it was read, which were not looked at"
        return report

    def counts(self) -> FileReport:
        """What was counted until now, without a judgement."""
        tally, source = self.tally, self.source
        return FileReport(
            source.name,
            format=self.identity.format,
            compression=source.compression,
            size=source.size_on_disk,
            records=tally.records,
            kind=self.kind,
            bytes=tally.bytes,
            damaged_bytes=tally.damaged_bytes,
            restorable=tally.restorable,
            faults=tally.faults,
        )

    def _judge(self, report: FileReport) -> None:
        """Put into a report what the damage comes to."""
        if self.foreign:
            from tfrtool.verbs.reading.diagnose import say

            report.status = "foreign"
            say(report, self.identity.sniffed)
        elif report.faults:
            from tfrtool.verbs.reading.diagnose import diagnose

            report.unproved = self._unproved
            found = self._first, self._written
            diagnose(report, self.source, self.identity.sniffed, *found, to_the_end=self._finished)
        elif not self.source.head:
            report.format = None
            report.diagnosis = "empty"
            report.message = "no bytes: a record file of no records"
