"""Measure record sizes and framing overhead, from the headers alone if the source can seek.

Payloads are read only where needed: the first ones to detect the kind, all of them for `duplicates` and for an index,
which lists only intact records. Damaged payloads are therefore found only in those cases, as with `count`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, BinaryIO

from tfrtool.errors import TfrtoolError, WriteError
from tfrtool.framing.walk import Batch
from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file
from tfrtool.verbs.stat.sizes import Bin, Sizes, Spread, histogram

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.sources.sinks.same_file import FileIds
    from tfrtool.verbs.stat.duplicates import Digests

_PIECE = 1 << 20
"""Bytes of a large payload that are read at a time."""


@dataclass(frozen=True)
class StatOptions(Options):
    """Options of `stat`.

    `duplicates` finds payloads that occur more than once. `write_index` is the path of the index; `force` lets it
    replace a file, but never one of `inputs`.
    """

    duplicates: bool = False
    write_index: str | None = None
    force: bool = False
    inputs: tuple[str | FileIds, ...] = ()


@dataclass
class StatReport(FileReport):
    """The figures of one input; sizes are in bytes.

    `payloads` are the payload sizes of intact records, `payload_bytes` their sum, `overhead_bytes` the framing around
    them. `duplicates` counts records that repeat an earlier payload, None if not requested; `first_duplicate` holds the
    numbers of the first such record and of the earlier one. `index` is the path of the index that was written, or None.
    `unindexed` and `undigested` are set if the index could not be written or duplicates could not be found: errors,
    although all other figures are valid. `unchecked`: payload checksums were not checked.
    """

    payloads: Sizes = field(default_factory=Sizes)
    payload_bytes: int = 0
    overhead_bytes: int = 0
    duplicates: int | None = None
    first_duplicate: tuple[int, int] | None = None
    index: str | None = None
    unindexed: bool = False
    undigested: bool = False
    unchecked: bool = False
    digests: Digests | None = None

    @property
    def sizes(self) -> Spread:
        """Smallest and largest payload, mean and percentiles."""
        return self.payloads.spread()

    @property
    def histogram(self) -> list[Bin]:
        """Histogram of the payload sizes."""
        return histogram(self.payloads)

    @property
    def compression_ratio(self) -> float | None:
        """Decompressed bytes per byte of the file; None if it is not compressed."""
        size = self.bytes or 0 if self.size is None else self.size
        if not self.has_figures or self.compression in (None, "none") or not size:
            return None
        return (self.bytes or 0) / size

    @property
    def has_figures(self) -> bool:
        """Whether the file was read, even if its index or digests could not be written."""
        return self.status in ("clean", "damaged") or self.unindexed or self.undigested


def stat_file(name: str, options: StatOptions) -> Iterator[Damage | StatReport]:
    """Yield the damage found in one input, then its report; an unreadable input gives a report too.

    Close the `digests` of the report after use.
    """
    for event in read_file(name, options, lambda read: _stat(read, options)):
        yield stat_report(event) if isinstance(event, FileReport) else event


def stat_report(report: FileReport) -> StatReport:
    """Return a report as a `StatReport`; that of an input that was never read is converted."""
    if isinstance(report, StatReport):
        return report
    return StatReport(**{one.name: getattr(report, one.name) for one in fields(FileReport)})


def _stat(read: FileReader, options: StatOptions) -> Iterator[Damage | StatReport]:
    if options.write_index is None or read.foreign:
        yield from _walked(read, options, None)
        return
    from tfrtool.sources.sinks.atomic import atomic_output
    from tfrtool.verbs.index import refuse_index

    index = options.write_index
    report: StatReport | None = None
    begun = False
    try:
        refuse_index(read)
        with atomic_output(index, force=options.force, same_as=(read.source.name, *options.inputs)) as out:
            begun = True
            lines = _Lines(out, index)
            for event in _walked(read, options, lines):
                if isinstance(event, StatReport):
                    report = event
                else:
                    yield event
            if report is None or report.status == "foreign":
                raise _NothingToIndex
            if lines.error is not None:
                raise lines.error
            report.index = index
    except _NothingToIndex:
        pass
    except TfrtoolError as error:  # the index failed; the figures of the file are still reported
        if begun and report is None:
            raise
        for event in _walked(read, options, None) if report is None else [report]:
            if isinstance(event, StatReport) and event.status != "foreign":
                event.unindexed, event.index = True, None
                _note(event, error)
            yield event
        return
    except BrokenPipeError:
        if report is None or index == "-":
            raise
        report.unindexed, report.index = True, None
        _note(report, _left(index))
    if report:
        yield report


def _note(report: StatReport, error: TfrtoolError) -> None:
    """Record that an output could not be written: an error, beside all figures of the file."""
    report.message = "; ".join(filter(None, (error.facts, report.message)))
    report.status, report.error = "error", (error.kind, report.message)
    report.suggestion, report.hint = error.suggestion, None


def _left(index: str) -> WriteError:
    return WriteError(f"cannot write '{index}': broken pipe")


class _NothingToIndex(Exception):
    """The file is not a record file, so no index is published."""


class _Lines:
    """Write the lines of an index until the first `error`; reading continues after it."""

    def __init__(self, out: BinaryIO, path: str) -> None:
        self._out, self._path = out, path
        self.error: WriteError | None = None

    def write(self, batch: Batch) -> None:
        from tfrtool.verbs.index import lines_of

        if self.error is None:
            try:
                self._out.write(lines_of(batch))
            except WriteError as error:
                self.error = error
            except BrokenPipeError:
                if self._path == "-":
                    raise
                self.error = _left(self._path)


def _walked(read: FileReader, options: StatOptions, index: _Lines | None) -> Iterator[Damage | StatReport]:
    payloads, digests = Sizes(), None
    undigested: TfrtoolError | None = None
    if options.duplicates:
        from tfrtool.verbs.stat.duplicates import Digests

        digests = Digests()
    headers = digests is None and index is None
    for event in read.events(headers_only=headers, lengths=headers):
        if not isinstance(event, Batch):
            yield event
            continue
        payloads.add(event.sizes)
        if index is not None:
            index.write(event)
        if digests is not None and undigested is None:
            try:
                _digest(read, digests, event)
            except WriteError as error:  # all other figures can still be reported
                undigested = error
    report = stat_report(read.report())
    report.payloads = payloads
    report.payload_bytes = payloads.total
    report.overhead_bytes = report.records * sum(read.framing)
    report.unchecked = headers and report.records > 0
    if digests is not None:
        try:
            if undigested is not None:
                raise undigested
            repeats = digests.repeats()
        except TfrtoolError as error:
            digests.close()
            if report.status != "foreign":
                report.undigested = True
                _note(report, error)
        else:
            report.duplicates, report.digests = repeats.count, digests
            if repeats.first:
                report.first_duplicate = repeats.first[0].record, repeats.first[1].record
    yield report


def _digest(read: FileReader, digests: Digests, batch: Batch) -> None:
    view = batch.view
    if view is None:  # one record larger than the window
        digests.add_in_pieces(_pieces(read, batch.base + batch.begins[0], batch.sizes[0]), batch.first)
    else:
        digests.add((view[begin:end] for begin, end in zip(batch.begins, batch.ends, strict=True)), batch.first)


def _pieces(read: FileReader, at: int, size: int) -> Iterator[memoryview]:
    view = memoryview(bytearray(min(size, _PIECE)))
    end = at + size
    while at < end:
        got = read.source.data.read_into(at, view[: end - at])
        if not got:  # the file shrank
            return
        yield view[:got]
        at += got


def stat(
    path: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    duplicates: bool = False,
    index: PathLike | None = None,
    force: bool = False,
) -> StatReport:
    """Return payload sizes, framing overhead and kind of one file, and the damage that its headers show.

    `duplicates` counts payloads that occur more than once. `index` names a file to which a line for each intact record
    is written; `force` lets it replace a file. Does not raise on damage; if the file cannot be read or the index cannot
    be written, the status of the report is `error`. Raises ValueError or TypeError for invalid arguments.
    """
    from tfrtool.verbs.options import path_name, path_or_none, refuse_options

    refuse_options(format=format, compression=compression, duplicates=duplicates, force=force)
    name, where = path_name("path", path), path_or_none("index", index)
    options = StatOptions(format=format, compression=compression, duplicates=duplicates, write_index=where, force=force)
    for event in stat_file(name, options):
        if isinstance(event, StatReport):
            if event.digests:
                event.digests.close()
            return replace(event, digests=None)
    raise AssertionError("stat_file ends with a report")
