"""Read the inputs before the conversion writes: count records, learn columns and find int64 features that fit int32.

Errors are not reported here, only noted: the conversion itself reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tfrtool.errors import RefusedError, TfrtoolError
from tfrtool.payload.mapping.lists import all_int32
from tfrtool.payload.mapping.record import read_record, values_of
from tfrtool.payload.mapping.rules import Refused
from tfrtool.payload.rows.columns import RowPlace, RowSchema, Survey
from tfrtool.payload.rows.row import RowError
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import LONG_NAME, WireError
from tfrtool.suggestion import Suggestion
from tfrtool.types import Progress
from tfrtool.verbs.convert.outputs import CountingSink
from tfrtool.verbs.convert.pipeline import RecordRange, Sink
from tfrtool.verbs.convert.shards import format_by_name

if TYPE_CHECKING:
    from tfrtool.payload.rows.json_schema import SchemaInference
    from tfrtool.sources.source import Source
    from tfrtool.types import Kind
    from tfrtool.verbs.convert.inputs import Input, Inputs, Pipeline
    from tfrtool.verbs.convert.options import ConvertOptions
    from tfrtool.verbs.convert.row_plan import RowPlan
    from tfrtool.verbs.formats.base import Pieces, Target


def learns_columns(options: ConvertOptions, target: Target | None) -> bool:
    """Whether a separate pass must learn the columns of the outputs."""
    if options.schema is not None:
        return False
    return target == "parquet" or (target == "jsonl" and options.schema_out is not None)


class Prepass:
    """Reads all inputs before the conversion. `progress` gets the number of bytes read; `will_fail`: the conversion of
    an input will fail."""

    def __init__(
        self,
        names: Sequence[str],
        inputs: Inputs,
        options: ConvertOptions,
        pipeline: Callable[[Input, Sink, RecordRange], Pipeline],
    ) -> None:
        """`pipeline` sends the records of an input into a sink as the conversion will."""
        self.names = names
        self.options = options
        self.progress: Progress | None = None
        self.will_fail = False
        self._inputs = inputs
        self._pipeline = pipeline

    @property
    def lines_first(self) -> bool:
        """Whether the inputs seem to be JSON Lines, of which one pass learns the kinds."""
        is_lines = self.options.source == "jsonl" or all(format_by_name(name) == "jsonl" for name in self.names)
        return is_lines and self.options.schema is None

    def total(self, sink: CountingSink | ColumnSurvey) -> int:
        """Return the number of output records. All records go to the sink unless reading headers is enough."""
        total, wanted = 0, RecordRange(self.options.skip, self.options.limit)
        by_headers = self.options.counts_by_headers and isinstance(sink, CountingSink)
        for name in self.names:
            try:
                with self._inputs.open(name, self.options, None if by_headers else self.progress) as source:
                    if by_headers:
                        count, sound = source.count(wanted)
                    else:
                        before, sink.path = sink.count, name
                        pipeline = self._pipeline(source, sink, wanted)
                        for _ in pipeline.run():
                            pass
                        count, sound = sink.count - before, not pipeline.stopped
                total += count
                self.will_fail |= not sound
            except TfrtoolError:
                self.will_fail = True
        return total

    def columns(self, plan: RowPlan) -> int:
        """Learn the columns of the outputs, and return the number of output records."""
        sink = ColumnSurvey(plan)
        total = self.total(sink)
        if not self.will_fail:
            plan.columns = sink.columns()
        return total

    def lines(self) -> SchemaInference:
        """Infer the kinds of the features of all JSON Lines inputs."""
        from tfrtool.verbs.convert.row_inputs import RowInput, survey_lines

        def sources() -> Iterator[Source]:
            for name in self.names:
                with suppress(TfrtoolError), self._inputs.open(name, self.options) as source:
                    if isinstance(source, RowInput) and source.format == "jsonl":
                        yield source.source

        return survey_lines(sources(), self._inputs.plan.wanted, self.progress if self.lines_first else None)

    def small_integers(self) -> dict[bytes, ListKind]:
        """Return int32 for each int64 feature whose values all fit in int32."""

        fit: dict[bytes, bool] = {}
        for name in self.names:
            with suppress(TfrtoolError), self._inputs.open(name, self.options, self.progress) as source:
                small_integers(source, fit)
        return {name: "int32" for name, fits in fit.items() if fits}


class ColumnSurvey:
    """A sink that learns the columns of a table, and counts."""

    takes_many = False

    def __init__(self, plan: RowPlan) -> None:
        self.plan = plan
        self.count = 0
        self.path = ""
        self._survey: Survey | None = None

    def frames(self, reading: object, batch: object, start: int, stop: int) -> None:
        raise AssertionError("frames are no rows")

    def record(self, pieces: Pieces, kind: Kind, number: int) -> None:
        payload = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        row = self.plan.row(payload, kind)
        self._survey = self._survey or Survey(row.message)
        if row.message == "ofrecord":  # which holds all that an Example does
            self._survey.message = row.message
        try:
            self._survey.add(row, RowPlace(self.path, number))
        except RowError as error:
            feature = (error.feature or "").encode("utf-8", "surrogateescape")
            raise Refused(feature, error.why, "{select} takes the features that are wanted") from None
        self.count += 1

    def records(self, payloads: list[bytes], kind: Kind) -> None:
        raise AssertionError("rows come one by one")

    def release_views(self) -> None:
        pass

    def columns(self) -> RowSchema:
        """Return the learned columns. Raises RefusedError if a table cannot have them."""
        survey = self._survey or Survey("example")
        if self.plan.target != "parquet":
            return survey.schema()
        from tfrtool.verbs.formats.parquet_writer import table_columns

        try:
            return table_columns(survey)
        except RefusedError as error:
            raise RefusedError(error.facts, Suggestion(words="{drop} leaves it out")) from None


_MOST = 1 << 16
"""Names that are learned. Features beyond this number, and features with longer names, stay int64."""


def small_integers(source: Input, fit: dict[bytes, bool]) -> None:
    """Note of each int64 feature of an input whether all of its values are in the range of int32.

    Damage and payloads that do not parse are ignored here: the conversion itself reports them.
    """
    if source.foreign:
        return
    side = source.side
    for payload in source.payloads():
        view = memoryview(payload)
        try:
            record = read_record(view, side, sequence=True)
            found = record.items + [step for _, steps in record.steps for step in steps]
            for item in found:
                if item.kind == "int64" and fit.get(item.name, len(fit) < _MOST and len(item.name) <= LONG_NAME):
                    fit[item.name] = all(map(all_int32, values_of(view, item.lists, "int64")))
        except WireError:
            continue
