"""Open, identify and walk one input: what every job that reads has in common."""

from __future__ import annotations

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
from tfrtool.verbs.options import InputProgress
from tfrtool.verbs.reading.identify import Identity, identify

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.framing.stream import ByteStream
    from tfrtool.sources.source import Source
    from tfrtool.types import Format, Kind
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.reading.kind_vote import KindDetector

# What an intact TFRecord file does not need is imported where it is used: that takes longer than counting its records.

Item = TypeVar("Item")


def read_file(name: str, options: Options, job: Callable[[FileReader], Iterator[Item]]) -> Iterator[Item | FileReport]:
    """Open an input and run a job on it.

    An error becomes a report of status `error`, which counts what was read until then.
    """
    read = None
    try:
        with open_source(name, compression=options.compression) as source:
            read = FileReader(unwrapped(source, options.compression), options)
            yield from job(read)
    except TfrtoolError as error:
        report = _error_report(name, read, error.kind, error.facts)
        report.suggestion = error.suggestion
        yield report
    except MemoryError:
        yield _error_report(name, read, "memory", "out of memory")


def unwrapped(source: Source, compression: str) -> Source:
    """Return the source; one that is compressed, though its first bytes do not show it plainly, is made to unpack.

    `compression` is what was asked for.
    """
    head = source.raw_head
    text = source.compression != "none" and 0 < head.count(b"\n") <= 2 * head.count(b"\r\n")
    if compression != "none" and head and (text or not header_is_sound(source.head)):
        from tfrtool.verbs.reading.open_input import unwrap

        unwrap(source, compression)
    return source


def _error_report(name: str, read: FileReader | None, kind: str, message: str) -> FileReport:
    if read and read.tally.records:
        records = f"{read.tally.records:,} intact record{'s' if read.tally.records != 1 else ''}"
        message = f"{message} ({records} in the {read.tally.bytes:,} bytes before)"
    report = read.counts() if read else FileReport(name)
    report.status, report.message, report.error = "error", message, (kind, message)
    return report


def refuse_rewritten(source: Source) -> None:
    """Raise `ReadError` where a file was changed since it was opened: what was read may be old and new data mixed."""
    if source.was_rewritten():
        raise ReadError(
            f"{quoted(source.name)} was written to while it was read; run this again once nothing writes to it"
        )


class FileReader:
    """Walks one open source: `events` yields batches and damage in order, then `report` says what the file is.

    `passes` is how often the job reads the whole input; each pass reports its part of the progress.
    """

    def __init__(self, source: Source, options: Options, passes: int = 1) -> None:
        self.source = source
        self.options = options
        self.identity: Identity = identify(source, options.format)
        self.foreign = self.identity.format is None
        self._counts = FileCounts()
        self.tally = self._counts.tally
        self._progress = InputProgress(options.progress, passes)
        self._kind_detector: KindDetector | None = None
        self._finished = False
        self._end = 0

    def events(
        self,
        *,
        payloads: bool = False,
        headers_only: bool = False,
        lengths: bool = False,
        whole: bool = False,
        ahead: int = 0,
    ) -> Iterator[Batch | Damage]:
        """Yield intact frames and damage in the order of the stream; a break of the codec stands where it occurs.

        `headers_only` gives batches without columns, but with `lengths` where those are asked for too. A foreign file
        gives one stretch of damage, from 0 to its end; where that is not known, the file is read to its end if `whole`,
        else the stretch is what was looked at.

        `ahead` asks that `kind` be known before the first batch, and how many records may be read for that.
        """
        data: ByteStream = self.source.data
        if ahead > 0 and not self.source.seekable:
            from tfrtool.verbs.reading.kind_vote import RetainingStream

            data = RetainingStream(data)
        events = self._walk(data, payloads, headers_only, lengths, whole)
        if not self.source.seekable:
            from tfrtool.verbs.reading.codec_events import with_codec_faults

            events = with_codec_faults(events, self.source.faults, self.framing[0])
        if ahead > 0:
            from tfrtool.verbs.reading.kind_vote import until_kind_is_known

            events = until_kind_is_known(self.kind_detector, events, ahead, data)
        for event in events:
            if ahead <= 0:
                self._observe(event)
            self._counts.add(event)
            self._end = event.end
            yield event
            self._advance(event.end)
        self._finished = True
        self._advance(None)

    def _walk(
        self, data: ByteStream, payloads: bool, headers_only: bool, lengths: bool, whole: bool
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
        """Whether a break of the codec keeps TensorFlow from reading what is walked now."""
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

    def _observe(self, event: Batch | Damage) -> None:
        """Let an event vote on the kind, unless only headers are read: who only counts needs no vote."""
        votes = self._kind_detector is not None or (isinstance(event, Batch) and (event.begins or event.lengths))
        if votes and not self.kind_detector.settled:
            self.kind_detector.observe(event)

    def _advance(self, end: int | None) -> None:
        """Report progress: of a plain file the bytes walked, else the bytes of the input that were read."""
        if self.options.progress:
            source = self.source
            walked = source.data.size if end is None else end
            self._progress.at(walked if source.seekable and walked is not None else source.position_encoded())

    @property
    def framing(self) -> tuple[int, int]:
        """Bytes before and after each payload."""
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
        """The kind of the file, by the first records that `events` has yielded; None if there were none."""
        return None if self._kind_detector is None else self._kind_detector.kind

    def reclassify_as_damaged(self, damage: Damage) -> None:
        """Count an intact frame as damage after all, since its payload does not parse or match its checksum."""
        self._counts.reclassify_as_damaged(damage)

    def reclassify_as_valid(self, damage: Damage) -> None:
        """Count a damaged range as an intact frame after all, since its payload parses: unusual, but allowed."""
        self._counts.reclassify_as_valid(damage)

    def counts(self) -> FileReport:
        """Return what was counted so far, without a judgement."""
        return self._counts.report(self.source, self.identity.format, self.kind)

    def report(self) -> FileReport:
        """Return what the file is; complete once `events` has run to its end.

        Raises `ReadError` where the file was changed meanwhile.
        """
        refuse_rewritten(self.source)
        report = self.counts()
        report.unread = not (self._finished or self.foreign or self._end == self.source.data.size)
        self._judge(report)
        grown = self.source.grown_by()
        if grown and not report.hint:
            report.hint = f"the file grew by {grown:,} bytes while it was read, which were not looked at"
        return report

    def _judge(self, report: FileReport) -> None:
        """Set the status of a report, and what is wrong with the file as a whole."""
        if self.foreign:
            from tfrtool.verbs.reading.diagnose import say

            report.status = "foreign"
            say(report, self.identity.sniffed)
        elif report.faults:
            from tfrtool.verbs.reading.diagnose import diagnose

            found = self._counts.first_damage, self._counts.first_by_wrong_writer
            diagnose(report, self.source, self.identity.sniffed, *found, to_the_end=self._finished)
        elif not self.source.head:
            report.format = None
            report.diagnosis = "empty"
            report.message = "empty file (0 records)"


class FileCounts:
    """Counts the events of one file, and keeps the damage that a diagnosis needs."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.first_damage: Damage | None = None
        self.first_by_wrong_writer: Damage | None = None
        """The first range whose checksums a wrong writer computed."""
        self._unproved = 0

    def add(self, event: Batch | Damage) -> None:
        """Count an event."""
        if isinstance(event, Batch):
            self.tally.records += event.count
            self.tally.bytes += event.end - event.begin
            return
        self.tally.add(event)
        if self.first_damage is None:
            self.first_damage = event
        recovery = event.recovery
        if recovery and (recovery.layout or recovery.writer):
            if self.first_by_wrong_writer is None:
                self.first_by_wrong_writer = event
            self._unproved += recovery.records if recovery.method == "unverified" else 0

    def reclassify_as_damaged(self, damage: Damage) -> None:
        """Count as damage what was counted as one intact frame."""
        self.tally.records -= 1
        self.tally.bytes -= damage.end - damage.begin
        self.add(damage)

    def reclassify_as_valid(self, damage: Damage) -> None:
        """Count as one intact frame what was counted as damage."""
        self.tally.records += 1
        self.tally.damaged_bytes -= damage.end - damage.begin
        self.tally.faults -= Counter([damage.fault])
        if self.first_damage is damage:
            self.first_damage = None

    def report(self, source: Source, format: Format | None, kind: Kind | None) -> FileReport:
        """Return the counts as the report of a file."""
        tally = self.tally
        return FileReport(
            source.name,
            format=format,
            compression=source.compression,
            size=source.size_on_disk,
            records=tally.records,
            kind=kind,
            bytes=tally.bytes,
            damaged_bytes=tally.damaged_bytes,
            restorable=tally.restorable,
            faults=tally.faults,
            unproved=self._unproved,
        )
