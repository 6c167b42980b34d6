"""Read rows (JSON Lines, Parquet) and send them into a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tfrtool.errors import DamageError, RefusedError, TfrtoolError
from tfrtool.framing.damage import Damage
from tfrtool.payload.mapping.rules import Losses, Refused
from tfrtool.payload.rows.row import Row, RowChange, RowError
from tfrtool.payload.wire.reader import WireError
from tfrtool.report import LossKind
from tfrtool.suggestion import Suggestion
from tfrtool.types import Progress
from tfrtool.verbs.convert.pipeline import RecordRange, Sink
from tfrtool.verbs.convert.row_plan import LossCounter, RowPlan

if TYPE_CHECKING:
    from tfrtool.payload.filter import Where
    from tfrtool.payload.mapping.mapper import Mapper
    from tfrtool.payload.mapping.rules import Side
    from tfrtool.payload.rows.json_schema import SchemaInference
    from tfrtool.payload.rows.row import Message
    from tfrtool.report import ConvertReport
    from tfrtool.sources.source import Source
    from tfrtool.types import Compression
    from tfrtool.verbs.convert.options import ConvertOptions
    from tfrtool.verbs.convert.row_plan import RowReader
    from tfrtool.verbs.formats.base import Pieces, Rows

_BAD_LINE = LossKind("bad-line", "a line that is no row, left out; the first is {}")


def jsonl_rows(source: Source, plan: RowPlan, progress: Progress | None, losses: Losses) -> Rows:
    """Read the rows of JSON Lines."""
    from tfrtool.verbs.formats.jsonl import JsonlReader

    first = ""

    def bad(number: int, error: RefusedError) -> None:
        nonlocal first
        first = first or error.facts
        losses.add(None, _BAD_LINE, number, (first,))

    schema, rules = plan.lines_schema(), plan.options.rules
    reader = JsonlReader(
        source.name,
        plan.message_of(schema.message),
        schema=schema,
        double="exact" if rules.double == "bytes" else rules.double,
        progress=progress,
        source=source,
        merged=plan.merged,
        wanted=plan.wanted,
        bad=bad if plan.options.skip_damaged else None,
    )
    reader.changes = LossCounter(losses)
    return reader


def parquet_rows(source: Source, plan: RowPlan, progress: Progress | None, losses: Losses) -> Rows:
    """Read the rows of Parquet."""
    from tfrtool.verbs.formats.parquet_reader import ParquetReader

    double = plan.options.rules.double
    reader = ParquetReader(
        source.name,
        double="exact" if double == "bytes" else double,
        progress=progress,
        source=source,
        wanted=plan.wanted,
    )
    stored = reader.stored()
    if plan.schema is not None and plan.columns is None and stored != plan.schema:
        raise RefusedError(
            f"'{source.name}' says the kinds of its columns itself, otherwise than the schema",
            Suggestion(words="leave {schema} out"),
        )
    reader.message = plan.message_of(stored.message if stored else None)
    reader.changes = LossCounter(losses)
    return reader


def survey_lines(
    sources: Iterator[Source], wanted: Callable[[str], bool] | None, progress: Progress | None = None
) -> SchemaInference:
    """Infer a schema from all JSON Lines. Integers mixed with floats are floats. Invalid rows are ignored."""
    from tfrtool.payload.rows.json_schema import SchemaInference
    from tfrtool.verbs.formats.jsonl import JsonlReader

    guess = SchemaInference()
    for source in sources:
        reader = JsonlReader(
            source.name,
            otherwise="ofrecord",
            source=source,
            wanted=wanted,
            bad=_ignore,
            progress=progress,
        )
        changes: list[RowChange] = []
        with suppress(TfrtoolError, RowError):
            for number, value, row in reader.rows(changes):
                guess.add(value if wanted is None else _chosen(value, row, wanted), row.message, number)
                changes.clear()
    return guess


def _ignore(number: int, error: RefusedError) -> None:
    """Ignore an invalid row: the conversion itself reports it."""


def _chosen(value: dict[str, Any], row: Row, wanted: Callable[[str], bool]) -> dict[str, Any]:
    """The object of a row without the features that are not wanted."""
    if row.message != "sequence_example":
        return {name: item for name, item in value.items() if wanted(name)}
    return {part: {name: item for name, item in value[part].items() if wanted(name)} for part in value}


class RowInput:
    """A file of rows."""

    foreign = False

    def __init__(
        self,
        source: Source,
        format: str,
        reader: RowReader,
        plan: RowPlan,
        options: ConvertOptions,
        progress: Progress | None,
    ) -> None:
        self.source = source
        self.format = format
        self.compression: Compression = source.compression
        self.empty = False
        self._reader = reader
        self._plan = plan
        self._options = options
        self._progress = progress
        self._rows: Rows | None = None
        self._losses = Losses()

    @property
    def message(self) -> Message:
        """The message type of its rows. Finding it may take a pass over all inputs."""
        message = self.rows().message
        assert message is not None
        return message

    @property
    def side(self) -> Side:
        """The side as which a mapper reads its payloads."""
        return "ofrecord" if self.message == "ofrecord" else "example"

    def rows(self) -> Rows:
        """Return its rows, which can be read once."""
        if self._rows is None:
            self._rows = self._reader(self.source, self._plan, self._progress, self._losses)
        return self._rows

    def pipeline(self, sink: Sink, wanted: RecordRange, mapper: Mapper | None, same: bool) -> RowPipeline:
        return RowPipeline(self, self._losses, sink, wanted, mapper, self._plan.where, self._options)

    def payloads(self) -> Iterator[bytes]:
        for _, payload in self.rows():
            yield payload

    def count(self, wanted: RecordRange) -> tuple[int, bool]:
        total = 0
        for _ in self.rows():
            start, stop = wanted.take(1)
            total += stop - start
            if wanted.done:
                break
        return total, True


class RowPipeline:
    """Send the rows of one input into a sink."""

    def __init__(
        self,
        source: RowInput,
        losses: Losses,
        sink: Sink,
        wanted: RecordRange,
        mapper: Mapper | None,
        where: Where | None,
        options: ConvertOptions,
    ) -> None:
        self.source = source
        self.losses = losses
        self.sink = sink
        self.wanted = wanted
        self.mapper = mapper
        self.where = where
        self.skip_damaged = options.skip_damaged
        self.written = self.skipped = self.read = 0
        self.stopped = self.unread = False
        self._broken: Damage | None = None

    def run(self) -> Iterator[Damage]:
        if self.wanted.left <= 0:
            self.unread = True
            return
        name, message = self.source.source.name, self.source.message
        unit = "line" if self.source.format == "jsonl" else "row"
        try:
            for number, payload in self.source.rows():
                self.read += 1
                if self.where is not None and not self.where.fulfils(payload, message):
                    continue
                start, stop = self.wanted.take(1)
                if start < stop:
                    try:
                        self._record(payload, number)
                    except Refused as error:
                        facts = f"'{name}' {unit} {number}: {error.facts}"
                        raise RefusedError(facts, Suggestion(words=error.hint)) from None
                    except WireError as error:
                        raise RefusedError(f"'{name}' {unit} {number}: {error}") from None
                if self.wanted.done:
                    self.unread = True
                    return
        except DamageError:
            fault = self.source.source.faults[0]
            at = fault.offset_decoded
            self._broken = Damage(at, at, "codec", detail=fault.detail, tensorflow=fault.tensorflow)
            self.stopped = not self.skip_damaged
            yield self._broken

    def _record(self, payload: bytes, number: int) -> None:
        pieces: Pieces | None = (payload,)
        if self.mapper is not None:
            pieces = self.mapper.convert(payload, number)
        if pieces is None:
            self.skipped += 1
            return
        message = self.source.message
        self.sink.record(pieces, message if self.mapper is None else self.mapper.made(message), number)
        self.written += 1
        self.sink.release_views()

    def fill(self, report: ConvertReport) -> None:
        source = self.source.source
        report.status, report.compression, report.size = "clean", source.compression, source.size_on_disk
        if self._broken is not None:
            report.status, report.message = "damaged", self._broken.message
            report.faults["codec"] += 1
        if self.read:
            report.kind = self.source.message
        bad = sum(loss.records for loss in self.losses.all() if loss.kind is _BAD_LINE)
        if bad and report.status == "clean":
            report.status = "damaged"
        report.records, report.written, report.skipped = self.read, self.written, self.skipped + bad
        report.unread = self.unread
        report.losses += self.losses.all() + (self.mapper.losses.all() if self.mapper else [])
