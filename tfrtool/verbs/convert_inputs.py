"""The inputs of a conversion: record files, and formats of rows that others read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os.path import isfile
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tfrtool.errors import RefusedError
from tfrtool.framing.damage import Damage
from tfrtool.payload.mapping_rules import Refused, Side
from tfrtool.payload.wire import WireError
from tfrtool.report import Compression, ConvertReport
from tfrtool.sources import Source, open_source
from tfrtool.verbs.convert_feed import Feed, Range, Sink
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading
from tfrtool.verbs.targets import READERS, RowReader

if TYPE_CHECKING:
    from tfrtool.payload.mapping import Mapper
    from tfrtool.verbs.convert_options import ConvertOptions


class Feeding(Protocol):
    """The records of one input on their way; see `Feed`."""

    written: int
    skipped: int
    stopped: bool

    def run(self) -> Iterator[Damage]:
        """Send the records on their way."""

    def fill(self, report: ConvertReport) -> None:
        """Complete a report."""


class Input(Protocol):
    """An open input: its format and compression, whether it is none that can be read, and what its payloads are.

    An `empty` one, of no bytes, has no format of its own.
    """

    format: str
    compression: Compression
    foreign: bool
    empty: bool
    side: Side

    def feed(self, sink: Sink, wanted: Range, mapper: Mapper | None, same: bool) -> Feeding:
        """What sends its records into a sink; `same`: they go out in the format in which they came in."""

    def count(self, wanted: Range) -> tuple[int, bool]:
        """How many records there are that are wanted, by the least that must be read, and whether all was sound."""


class Inputs:
    """Opens inputs, each from its beginning every time; a context manager.

    `kept`: they are opened more than once, so that what can be read only once is kept in a file without a name.
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept
        self._held: dict[str, Source] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @contextmanager
    def open(
        self, name: str, options: ConvertOptions, progress: Callable[[int], None] | None = None
    ) -> Iterator[Input]:
        """An input, for as long as the block lasts."""
        if options.source is not None:
            yield RowInput(name, READERS[options.source], options.replaced(progress=progress))
            return
        with self._source(name, options) as source:
            how = Options(format=options.format, compression=options.compression, progress=progress)
            yield FrameInput(Reading(source, how), options)

    def _source(self, name: str, options: ConvertOptions) -> Source:
        if not self._kept or isfile(name):
            return open_source(name, compression=options.compression)
        if name not in self._held:
            held = open_source(name, compression=options.compression, twice=True)
            self._held[name] = self._stack.enter_context(held)
        return self._held[name].again()


class FrameInput:
    """A record file."""

    def __init__(self, reading: Reading, options: ConvertOptions) -> None:
        self.reading = reading
        self.format: str = reading.identity.format or "tfrecord"
        self.compression = reading.source.compression
        self.foreign = reading.foreign
        self.empty = not reading.source.head
        self.side: Side = "ofrecord" if self.format == "ofrecord" else "example"
        self._options = options

    def feed(self, sink: Sink, wanted: Range, mapper: Mapper | None, same: bool) -> Feed:
        options = self._options
        return Feed(
            self.reading, sink, wanted, mapper, options.conditions, framed=same, skip_damaged=options.skip_damaged
        )

    def count(self, wanted: Range) -> tuple[int, bool]:
        total, sound = 0, True
        for event in self.reading.events(headers_only=True):
            if isinstance(event, Damage):
                sound = False
            else:
                first, behind = wanted.take(event.count)
                total += behind - first
        return total, sound


class RowInput:
    """A file of rows, each an Example by the time it comes here."""

    foreign = False
    empty = False
    compression: Compression = "none"
    side: Side = "example"

    def __init__(self, name: str, reader: RowReader, options: ConvertOptions) -> None:
        self.name = name
        self.format = options.source or ""
        self._reader = reader
        self._options = options

    def feed(self, sink: Sink, wanted: Range, mapper: Mapper | None, same: bool) -> RowFeed:
        rows = self._reader(self.name, Options(progress=self._options.progress))
        return RowFeed(self.name, rows, sink, wanted, mapper, self._options)

    def count(self, wanted: Range) -> tuple[int, bool]:
        total = 0
        for _ in self._reader(self.name, Options()):
            first, behind = wanted.take(1)
            total += behind - first
            if wanted.done:
                break
        return total, True


class RowFeed:
    """The rows of one input, on their way into a sink."""

    def __init__(
        self,
        name: str,
        rows: Iterator[tuple[int, bytes]],
        sink: Sink,
        wanted: Range,
        mapper: Mapper | None,
        options: ConvertOptions,
    ) -> None:
        self.name = name
        self.rows = rows
        self.sink = sink
        self.wanted = wanted
        self.mapper = mapper
        self.conditions = options.conditions
        self.written = self.skipped = self.read = 0
        self.stopped = False

    def run(self) -> Iterator[Damage]:
        if self.conditions:
            from tfrtool.payload.where import fulfils
        for number, payload in self.rows:
            if self.wanted.done:
                return
            self.read += 1
            if self.conditions and not fulfils(payload, "example", self.conditions):
                continue
            first, behind = self.wanted.take(1)
            if first < behind:
                try:
                    self._record(payload, number)
                except (Refused, WireError) as error:
                    raise RefusedError(f"'{self.name}' row {number}: {error}") from None
        yield from ()

    def _record(self, payload: bytes, number: int) -> None:
        pieces: Sequence[bytes | memoryview] | None = (payload,)
        if self.mapper is not None:
            pieces = self.mapper.convert(payload, number)
        if pieces is None:
            self.skipped += 1
            return
        self.sink.record(pieces, "example" if self.mapper is None else self.mapper.target)
        self.written += 1
        self.sink.settle()

    def fill(self, report: ConvertReport) -> None:
        report.status, report.kind = "clean", "example"
        report.records, report.written, report.skipped = self.read, self.written, self.skipped
        report.losses = self.mapper.losses.all() if self.mapper else []
