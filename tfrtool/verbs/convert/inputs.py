"""Open the inputs of a conversion: record files, and row formats (JSON Lines, Parquet)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from os.path import isfile
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tfrtool.errors import RefusedError, TfrtoolError
from tfrtool.framing.damage import Damage
from tfrtool.payload.mapping.rules import Side
from tfrtool.report import ConvertReport
from tfrtool.sources.source import Source, open_source
from tfrtool.suggestion import Suggestion
from tfrtool.types import Compression, Progress
from tfrtool.verbs.convert.pipeline import RecordPipeline, RecordRange, Sink
from tfrtool.verbs.convert.shards import format_by_name
from tfrtool.verbs.formats.registry import READERS
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, unwrapped

if TYPE_CHECKING:
    from tfrtool.payload.filter import Where
    from tfrtool.payload.mapping.mapper import Mapper
    from tfrtool.verbs.convert.options import ConvertOptions
    from tfrtool.verbs.convert.row_plan import RowPlan


class Pipeline(Protocol):
    """The records of one input on their way; see `RecordPipeline`."""

    written: int
    skipped: int
    stopped: bool
    unread: bool

    def run(self) -> Iterator[Damage]:
        """Send the records to the sink, and yield damage."""

    def fill(self, report: ConvertReport) -> None:
        """Fill in a report."""


class Input(Protocol):
    """An open input: its format and compression, whether it is none that can be read, and what its payloads are.

    An `empty` one, of no bytes, has no format of its own.
    """

    format: str
    compression: Compression
    foreign: bool
    empty: bool

    @property
    def side(self) -> Side:
        """The message type of its payloads."""

    def pipeline(self, sink: Sink, wanted: RecordRange, mapper: Mapper | None, same: bool) -> Pipeline:
        """What sends its records into a sink; `same`: they go out in the format in which they came in."""

    def payloads(self) -> Iterator[bytes | memoryview]:
        """Yield all intact payloads; each is valid until the next."""

    def count(self, wanted: RecordRange) -> tuple[int, bool]:
        """Return the number of selected records and whether all are intact, reading as little as possible."""


class Inputs:
    """Opens inputs, each from its beginning every time; a context manager.

    `kept`: they are opened more than once, so that what can be read only once is kept in a file without a name; so are
    rows always. `plan` is what the inputs of rows share.
    """

    def __init__(self, kept: bool, plan: RowPlan) -> None:
        self._kept = kept
        self.plan = plan
        self._held: dict[str, Source] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @contextmanager
    def open(self, name: str, options: ConvertOptions, progress: Progress | None = None) -> Iterator[Input]:
        """Open an input for the duration of the block."""
        with ExitStack() as stack:
            source = stack.enter_context(self._source(name, options))
            format = options.source
            if format is None:
                how = Options(format=options.format, compression=options.compression, progress=progress)
                reading = FileReader(source, how)
                format = _rows_in(reading, options)
                if format is None:
                    yield FrameInput(reading, options, self.plan.where)
                    return
            if source.format_mismatch:
                raise RefusedError(
                    f"'{name}': {source.format_mismatch.message}", Suggestion(words="leave {compression} out")
                )
            if not source.reopenable and not isfile(name):  # a pipe of rows, which are read more than once
                self._held[name] = self._stack.enter_context(source.spool_to_file())
                source = stack.enter_context(self._held[name].reopen())
                source.faults = self._held[name].faults
            yield self._row_input(source, format, options, progress)

    def first_format(self, names: Iterable[str], options: ConvertOptions) -> str | None:
        """Return the format of the first nonempty input that can be read again, or None."""
        for name in names:
            if name != "-":
                with suppress(TfrtoolError), self.open(name, options) as other:
                    if not (other.empty or other.foreign):
                        return other.format
        return None

    def _row_input(self, source: Source, format: str, options: ConvertOptions, progress: Progress | None) -> Input:
        from tfrtool.verbs.convert.row_inputs import RowInput

        return RowInput(source, format, READERS[format], self.plan, options, progress)

    def _source(self, name: str, options: ConvertOptions) -> Source:
        if name in self._held:
            source = self._held[name].reopen()
            source.faults += self._held[name].faults
            return source
        if not self._kept or isfile(name):
            return unwrapped(open_source(name, compression=options.compression), options.compression)
        held = open_source(name, compression=options.compression, reopenable=True)
        self._held[name] = self._stack.enter_context(unwrapped(held, options.compression))
        return self._held[name].reopen()


def _rows_in(reading: FileReader, options: ConvertOptions) -> str | None:
    """Detect the row format of a file that is not a record file, or return None."""
    sniffed = reading.identity.sniffed
    if options.format != "auto" or reading.source.format_mismatch:
        return None
    diagnosis = sniffed.diagnosis if sniffed else None
    if diagnosis == "parquet" and reading.foreign:
        return "parquet"
    head = reading.source.head.lstrip(_BEFORE)
    if sniffed and diagnosis == "json":
        is_error = sniffed.refusal and b"\n{" not in head  # of a store without such a file
        return "jsonl" if head[:1] == b"{" and not is_error else None
    if reading.foreign or diagnosis not in (None, "text") or not head or _CONTROL.search(head, 0, _LOOKED_AT):
        return None  # a length of 8 bytes always has zeros
    # One of the first lines is invalid: the JSON Lines reader reports which, and why.
    return "jsonl" if _OBJECT.match(head) or format_by_name(reading.source.name) == "jsonl" else None


_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")
_LOOKED_AT = 256
_OBJECT = re.compile(rb"\{[ \t]*[\"}]")
_BEFORE = b"\xef\xbb\xbf \t\r\n"


class FrameInput:
    """A record file."""

    def __init__(self, reading: FileReader, options: ConvertOptions, where: Where | None) -> None:
        self.reading = reading
        self.format: str = reading.identity.format or "tfrecord"
        self.compression = reading.source.compression
        self.foreign = reading.foreign
        self.empty = not reading.source.head
        self.side: Side = "ofrecord" if self.format == "ofrecord" else "example"
        self._options = options
        self._where = where

    def pipeline(self, sink: Sink, wanted: RecordRange, mapper: Mapper | None, same: bool) -> RecordPipeline:
        how = self._options
        skips, checked = how.skip_damaged, how.payload
        return RecordPipeline(
            self.reading, sink, wanted, mapper, self._where, framed=same, skip_damaged=skips, checked=checked
        )

    def payloads(self) -> Iterator[memoryview]:
        for event in self.reading.events(payloads=True):
            if not isinstance(event, Damage) and event.view is not None:
                for begin, end in zip(event.begins, event.ends, strict=True):
                    yield event.view[begin:end]

    def count(self, wanted: RecordRange) -> tuple[int, bool]:
        total, sound = 0, True
        for event in self.reading.events(headers_only=True) if wanted.left > 0 else ():
            if isinstance(event, Damage):
                sound = False
            else:
                start, stop = wanted.take(event.count)
                total += stop - start
            if wanted.left <= 0:
                break
        return total, sound
