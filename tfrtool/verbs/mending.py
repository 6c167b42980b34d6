"""The output of repair, from its first record to its publication."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tfrtool.errors import TfrtoolError, WriteError
from tfrtool.framing.crc import crc32c, masked
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import footer, header
from tfrtool.framing.layout import FRAMING, HEADER, OFRECORD_HEADER
from tfrtool.framing.walk import Batch, walk
from tfrtool.framing.window import Readable
from tfrtool.report import Compression, RepairReport
from tfrtool.sources import Source, open_source
from tfrtool.sources.stream import whole
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading
from tfrtool.verbs.salvage import Outcome, Payload, Salvage, copied
from tfrtool.verbs.trail import Trail
from tfrtool.verbs.writer import FrameFile

if TYPE_CHECKING:
    from tfrtool.verbs.repair import RepairOptions

_DIGESTS = 1 << 20
"""Payloads whose digests are compared to find repeats; a file with more is compared up to here."""


class Mending:
    """Writes what is kept of one input; opens its output with the first byte, so that nothing saved leaves no file."""

    def __init__(self, source: Source, output: str, options: RepairOptions, report: RepairReport, trail: Trail) -> None:
        self.source = source
        self.output = output
        self.options = options
        self.report = report
        self.trail = trail
        self.salvage = Salvage(
            source.data, report.kind, fix_bits=options.fix_bits, keep_unverified=options.keep_unverified
        )
        self._file: FrameFile | None = None
        self._damaged = False
        self._told = 0
        self._framing = (HEADER, FRAMING - HEADER) if report.format != "ofrecord" else (OFRECORD_HEADER, 0)
        trail.begin(source.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.discard()

    # What is written

    def copy(self, progress: Callable[[int], None] | None = None) -> None:
        """The input as it is, compressed or not, since nothing is wrong with it."""
        report, source = self.report, self.source
        report.kept, report.output_bytes = report.sound, report.bytes or 0
        self.trail.kept(0, report.bytes or 0, report.sound)
        wanted = self.options.output_compression
        compression: Compression = "none"
        data = source.encoded
        if wanted not in ("auto", source.compression):
            compression, data = wanted, source.data  # type: ignore[assignment]
        if not self.options.dry_run:
            self._file = self._opened(compression)
            at = 0
            for view in whole(data):
                self._file.write(view)
                at += len(view)
                self._advance(progress, at if data is source.encoded else source.position_encoded())

    def _advance(self, progress: Callable[[int], None] | None, now: int) -> None:
        if progress and now > self._told:
            progress(now - self._told)
            self._told = now

    def frames(self, batch: Batch) -> None:
        """Sound frames, as they are."""
        keep = self.options.keep
        if (keep == "before" and self._damaged) or (keep == "after" and not self._damaged):
            self.report.lost = True
            self.report.dropped_bytes += batch.end - batch.begin
            self.trail.kept(batch.begin, batch.end, batch.count, "dropped")
            self.trail.set_aside(self.source.data, ((batch.begin, batch.end),))
            return
        self.report.kept += batch.count
        self.trail.kept(batch.begin, batch.end, batch.count)
        self._as_they_are(self.source.data, batch)

    def _as_they_are(self, data: Readable, batch: Batch) -> None:
        before, after = self._framing
        if batch.view is not None and len(batch.view) > batch.ends[-1] + after:
            self._write(batch.view[batch.begins[0] - before : batch.ends[-1] + after])
        else:
            for view in copied(data, ((batch.begin, batch.end),)):
                self._write(view)

    def damage(self, damage: Damage) -> Outcome:
        """Decide over a damaged range, and write what comes back of it."""
        self._damaged = True
        if self.options.keep == "before":
            outcome, payloads = _left_out(damage)
        else:
            outcome, payloads = self.salvage.decide(damage)
        if outcome.records:
            outcome = replace(outcome, at=self._records)
        for payload in payloads:
            self._payload(self.source.data, payload)
        self._count(outcome)
        self.trail.damage(outcome, self.source.data)
        return outcome

    @property
    def _records(self) -> int:
        """How many records were written until now."""
        report = self.report
        return report.kept + report.restored + report.corrected + report.unverified

    def _count(self, outcome: Outcome) -> None:
        report = self.report
        if outcome.action == "restored":
            report.restored += outcome.records
        elif outcome.action == "corrected":
            report.corrected += outcome.records
        elif outcome.action == "kept":
            report.unverified += outcome.records
        report.dropped_bytes += outcome.dropped_bytes
        report.lost = report.lost or outcome.dropped_bytes > 0 or outcome.damage.fault == "codec"

    def undone(self, whole: Damage, data: Readable, progress: Callable[[int], None] | None = None) -> Outcome:
        """The records of a stream from which a text conversion was taken back: those that hold their checksums then."""
        records = lost = 0
        for event in walk(data, payloads=True):
            self._advance(progress, self.source.position_encoded())
            if isinstance(event, Damage):
                lost += event.end - event.begin
                continue
            records += event.count
            self._as_they_are(data, event)
        what = "the conversion undone, every checksum holds" if not lost else f"{lost:,} bytes stay damaged then"
        dropped = () if records and not lost else ((whole.begin, whole.end),) if not records else ()
        at = 0 if records else None
        outcome = Outcome(whole, "restored" if records else "dropped", records, dropped, what, at=at)
        self._count(outcome)
        self.report.lost = self.report.lost or lost > 0
        self.report.dropped_bytes += lost if records else 0
        self.trail.damage(outcome, self.source.data)
        return outcome

    def _payload(self, data: Readable, payload: Payload) -> None:
        if payload.data is not None:
            for part in (header(len(payload.data)), payload.data, footer(payload.data)):
                self._write(part)
            return
        self._write(header(sum(end - begin for begin, end in payload.pieces)))
        crc = 0
        for view in copied(data, payload.pieces):
            crc = crc32c(view, crc)
            self._write(view)
        self._write(masked(crc).to_bytes(4, "little"))

    # The file

    def _write(self, data: bytes | memoryview) -> None:
        self.report.output_bytes += len(data)
        if self.options.dry_run:
            return
        if self._file is None:
            wanted = self.options.output_compression
            self._file = self._opened(self.source.compression if wanted == "auto" else wanted)
        self._file.write(data)

    def _opened(self, compression: Compression) -> FrameFile:
        return FrameFile(
            self.output,
            compression,
            force=self.options.force,
            same_as=(self.source.name,),
            check=self._check,
        )

    def finish(self) -> None:
        """Publish the output, or leave none where nothing was saved; complete the report."""
        report = self.report
        self.trail.end()
        report.records = self._records
        report.lost = report.lost or (report.status != "clean" and not report.records)
        if self._file is None:
            return
        self._file.close()
        report.output = self.output

    def _check(self, name: str) -> None:
        """Read the output back before it is published; raises `WriteError` where it is not what was written."""
        report = self.report
        expected = self._records
        digests: set[int] = set()
        repeats = 0
        try:
            with open_source(name) as source:
                reading = Reading(source, Options(format=report.format or "auto"))
                for event in reading.events():
                    if isinstance(event, Batch) and report.status == "damaged":
                        repeats += _repeats(event, digests)
                found = reading.report()
        except TfrtoolError as error:
            raise WriteError(
                f"the output '{self.output}' could not be read back: {error}; nothing was published"
            ) from error
        if found.status != "clean" or found.records != expected:
            raise WriteError(
                f"the output did not read back as written ({found.status}, {found.records:,} of {expected:,} records): "
                "nothing was published; the input changed while it was read, or the disk or the memory of this machine "
                "is at fault"
            )
        report.repeats = repeats


def _left_out(damage: Damage) -> tuple[Outcome, Iterator[Payload]]:
    dropped = ((damage.begin, damage.end),) if damage.end > damage.begin else ()
    return Outcome(damage, "dropped", 0, dropped), iter(())


def _repeats(batch: Batch, digests: set[int]) -> int:
    """How many payloads of a batch were seen before; `digests` takes them in, up to a bound."""
    if batch.view is None or len(digests) >= _DIGESTS:
        return 0
    repeats = 0
    for begin, end in zip(batch.begins, batch.ends, strict=True):
        digest = hash(bytes(batch.view[begin:end]))
        repeats += digest in digests
        digests.add(digest)
    return repeats
