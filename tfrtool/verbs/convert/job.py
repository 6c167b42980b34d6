"""Run one conversion: read inputs one after another into one set of outputs.

All outputs are published together. If any input could not be converted completely, none is published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os.path import isdir
from types import TracebackType
from typing import Self

from tfrtool.errors import OptionError, ReadError, RefusedError, TfrtoolError, WriteError
from tfrtool.framing.damage import Damage
from tfrtool.payload.mapping.rules import Losses
from tfrtool.payload.text import text_of
from tfrtool.report import ConvertReport
from tfrtool.sources.sinks.output_set import is_direct
from tfrtool.suggestion import Suggestion
from tfrtool.types import Compression, Progress
from tfrtool.verbs.convert.destination import Destination
from tfrtool.verbs.convert.inputs import Input, Inputs, Pipeline
from tfrtool.verbs.convert.mappers import Mappers, schema_of_rows, written
from tfrtool.verbs.convert.options import ConvertOptions, refuse_unfit
from tfrtool.verbs.convert.output_map import OutputMap
from tfrtool.verbs.convert.outputs import CountingSink, NullOutput, Outputs
from tfrtool.verbs.convert.pipeline import RecordRange, Sink
from tfrtool.verbs.convert.prepass import ColumnSurvey, Prepass, learns_columns
from tfrtool.verbs.convert.row_plan import RowPlan
from tfrtool.verbs.convert.shards import Shards, ShardSplitter, compression_by_name, format_by_name, refuse_name
from tfrtool.verbs.convert.unused_options import no_match_error, unused_names
from tfrtool.verbs.formats.base import ROWS, Layout, Target


class Conversion:
    """Convert inputs into outputs; a context manager. Call `read` for each input in order, then `publish`.

    `reports` has the reports of the inputs read so far. After one input fails, the others are still read, so that one
    run reports all faults; then nothing is published (`failed`, with a `reason`). `error` is the first failure other
    than damage. A pipe may have received records before it, which the reports count, or an incomplete output
    (`cut_off`). `notes` are remarks on the published outputs, each with an alternative or None.
    """

    def __init__(
        self, inputs: Sequence[str], output: str, options: ConvertOptions, *, lists: Sequence[str] = ()
    ) -> None:
        """`lists` are files that list the inputs. No output may replace one of them."""
        self.inputs = list(inputs)
        self.lists = list(lists)
        self.output = output
        self.options = options
        self._requested_rules = options.rules
        self._output_map = OutputMap()
        if not (output or options.dry_run):
            raise ValueError("the output names a file or a directory, and the name is empty")
        self.target: Target | None = options.to or format_by_name(output)
        refuse_name(output, options.to, options.compress)
        refuse_unfit(options, self.target)
        if options.shards.cut and is_direct(output):
            raise ValueError(f"'{output}' is no file, and takes one output alone: name a file, or leave out the shards")
        self.failed = False
        self.reason = "not all inputs could be converted"
        self.error: TfrtoolError | None = None
        self.notes: list[tuple[str, Suggestion | None]] = []
        self._shards = options.shards
        if not options.shards.cut and (output.endswith("/") or isdir(output)):
            self._shards = replace(options.shards, each=True)
        self._stack = ExitStack()
        again = self._shards.count is not None or options.auto_integers
        again = again or learns_columns(options, self.target)
        self._inputs = self._stack.enter_context(Inputs(kept=again, plan=RowPlan(options)))
        self._plan = self._inputs.plan
        self._prepass = Prepass(self.inputs, self._inputs, options, self._pipeline)
        self._plan.surveys = self._prepass.lines
        self._mappers = Mappers()
        self._destination: Destination | None = None
        self._sink: Sink = CountingSink()
        self._dry_sink: Sink = self._sink
        self._wanted = RecordRange(options.skip, options.limit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def prevent_publish(self, reason: str) -> None:
        """Publish nothing, for this reason, even if all inputs can be converted."""
        self.failed, self.reason = True, reason

    @property
    def reports(self) -> list[ConvertReport]:
        """The reports of the inputs read so far."""
        return self._output_map.reports

    @property
    def cut_off(self) -> bool:
        """Whether a pipe received an incomplete, unusable output."""
        return self._output_map.cut_off

    @property
    def passes(self) -> int:
        """How many times all inputs are read, as far as known before they are opened."""
        options = self.options
        learnt = learns_columns(options, self.target)
        counted = self._shards.count is not None and not options.counts_by_headers and not learnt
        return 1 + sum((learnt, counted, options.auto_integers, self._prepass.lines_first))

    @property
    def none_matched(self) -> bool:
        """Whether conditions were evaluated and no record matched."""
        where = self._plan.where
        return where is not None and where.seen > 0 and not where.matched

    @property
    def outputs(self) -> list[str]:
        """The published names."""
        return self._destination.outputs if self._destination else []

    @property
    def files_are_direct(self) -> bool:
        """Whether the output is a pipe or a device."""
        return self._destination is not None and self._destination.direct

    @property
    def compression(self) -> Compression:
        """The compression of the outputs."""
        return self._destination.compression if self._destination else "none"

    # One input

    def read(self, name: str, progress: Progress | None = None) -> Iterator[Damage | ConvertReport]:
        """Convert one input, yielding its damage, then its report, which `publish` completes."""
        report = ConvertReport(name, status="error")
        self._prepass.progress = progress
        try:
            if isinstance(self.error, WriteError):
                raise WriteError(f"'{name}' was not read, since the output could not be written")
            with self._inputs.open(name, self.options, progress) as source:
                yield from self._converted(source, name, report)
        except TfrtoolError as error:
            self._fail(report, error)
        except MemoryError:
            self._fail(report, TfrtoolError("out of memory"), "memory")
        except BaseException:
            self.failed = True
            raise
        report.suggestion = _for_convert(report.suggestion)
        self.reports.append(report)
        yield report

    def _fail(self, report: ConvertReport, error: TfrtoolError, kind: str = "") -> None:
        self.failed = True
        self.error = self.error or error
        report.status, report.error, report.suggestion = "error", (kind or error.kind, error.facts), error.suggestion

    def _converted(self, source: Input, name: str, report: ConvertReport) -> Iterator[Damage]:
        self._begin(source, name)
        sink = self._dry_sink if self.failed else self._sink
        losses = self._plan.losses = Losses()
        if isinstance(sink, ColumnSurvey):
            sink.path = name
        opened, total = (sink.opened, sink.splitter.total) if isinstance(sink, Outputs) else (0, 0)
        pipeline = self._pipeline(source, sink, self._wanted)
        try:
            yield from pipeline.run()
        except RefusedError:
            sink.release_views()  # what went before it is good, while its views are
            raise
        finally:
            pipeline.fill(report)
            report.losses += losses.all()
            if sink is self._sink and self.files_are_direct:
                self._output_map.add_sent(report.written)
        if isinstance(sink, Outputs):
            enough = pipeline.unread and not report.records and self.options.limit != 0  # before it
            if self._destination is not None and sink is self._sink and not enough:
                self._destination.end_own(name, opened)
            self._output_map.add_outputs(sink.holding(total, sink.splitter.total))
        self.failed = self.failed or pipeline.stopped

    def _pipeline(self, source: Input, sink: Sink, wanted: RecordRange) -> Pipeline:
        mapper = None
        if self.target is not None and not (source.foreign or source.empty):
            mapper = self._mappers.for_input(source, self.target, self.options)
        return source.pipeline(sink, wanted, mapper, self.target == source.format)

    # Preparation, before the first record

    def _begin(self, source: Input, name: str) -> None:
        """Choose the output format at the first input, and prepare the outputs."""
        if self._destination is not None or source.foreign:
            return
        target = self.target
        if target is None:
            found = self._inputs.first_format(self.inputs, self.options) if source.empty else None
            target = "ofrecord" if (found or source.format) == "ofrecord" else "tfrecord"
            try:
                refuse_unfit(self.options, target)
            except OptionError as error:
                raise RefusedError(
                    "the outputs are of the format of the first input", Suggestion(words=error.words)
                ) from None
        self.target, same = target, target == source.format
        self._plan.target = target
        if source.format == "parquet" and target not in ROWS and self.options.schema_out:
            raise RefusedError(
                "a Parquet file says the kinds of its columns itself", Suggestion(words="leave {schema_out} out")
            )
        if self.options.schema is not None and (target in ROWS or source.format in ROWS):
            self._plan.schema = schema_of_rows(self.options.schema)
            self._plan.columns = self._plan.schema if target in ROWS else None
            self._mappers.back = self._plan.schema.renamed
        asked = compression_by_name(self.output) if self.options.compress == "auto" else self.options.compress
        compress = asked or (source.compression if same else "none")
        inherited = asked is None and compress != "none"
        self._destination = Destination(
            self.output,
            self.inputs,
            self._shards,
            self.options,
            target,
            compress,
            same=same,
            lists=self.lists,
            compressed_like=name if inherited else None,
        )
        if not self.failed:
            self._prepare(self._destination, target)

    def _prepare(self, destination: Destination, target: Target) -> None:
        options = self.options
        if self.output:
            destination.check_target()
        if target == "parquet":
            from tfrtool.verbs.formats.parquet_types import arrow

            arrow()  # before all inputs are read for nothing
        if options.auto_integers and target == "ofrecord":
            rules = options.rules
            self.options = replace(options, rules=replace(rules, kinds=self._prepass.small_integers()))
        total = None
        if learns_columns(options, target):
            self._dry_sink = ColumnSurvey(self._plan)
            total = self._prepass.columns(self._plan)
        elif self._shards.count is not None:
            total = self._prepass.total(CountingSink())
        self.failed |= self._prepass.will_fail
        rows = self._plan if target in ROWS else None
        layout = Layout(destination.compression, options.level, rows, allow_empty=options.rules.empty == "keep")
        if target in ROWS and not self.failed:
            self._dry_sink = Outputs(NullOutput(), target, layout, ShardSplitter(Shards()))
        if self.failed:
            return
        if not options.dry_run:
            self._sink = destination.open(self._stack, layout, total)
        elif self._shards.cut:  # what fills the shards says how many there would be
            self._dry_sink = Outputs(
                NullOutput(), target, replace(layout, compression="none"), ShardSplitter(self._shards, total)
            )
            self._sink = self._dry_sink
        else:
            self._sink = self._dry_sink

    # The end

    def publish(self) -> None:
        """Publish the outputs unless an input failed, and complete the reports. Raises `TfrtoolError`."""
        try:
            if self.failed:
                self._finish_pipe()
                if self._prepass.will_fail and not any(report.error or report.finding for report in self.reports):
                    raise self.error or ReadError("an input could not be read the first time; nothing was published")
                return
            found = [self._plan.names.seen, *self._mappers.seen]
            written = sum(report.written for report in self.reports)
            unused = list(unused_names(self._requested_rules, found, self._plan.where, written))
            if self.reports:
                self.reports[-1].losses += unused
            if self.none_matched and self.target == "ofrecord":
                raise no_match_error(unused)
            if self._destination is None:
                raise RefusedError("there is no record to write")
            if self.options.dry_run:
                filled = sum(report.written > 0 for report in self.reports) if self._shards.each else min(written, 1)
                self._destination.rehearse(self._sink.opened if isinstance(self._sink, Outputs) else filled)
            else:
                self._destination.publish(self._schema_data())
                self.notes += self._destination.remarks()
        except TfrtoolError as error:
            self.prevent_publish("the outputs could not be published")
            self._discard_if_unwritable(error)
            raise
        finally:
            self._output_map.complete(self.outputs, failed=self.failed)

    def _finish_pipe(self) -> None:
        """End a failed run: publish nothing, but complete what a pipe already received if its reader can use it."""
        if not self._output_map.any_sent or self._destination is None or isinstance(self.error, WriteError):
            self._discard_if_unwritable(self.error)
        elif self.target == "parquet" or self.compression != "none":
            self._output_map.discard_sent(cut_off=True)
        elif isinstance(self._sink, Outputs):
            self._sink.finish()

    def _discard_if_unwritable(self, error: TfrtoolError | None) -> None:
        """After a write error, discard the count of sent records: which of them the pipe received is unknown."""
        if isinstance(error, WriteError):
            self._output_map.discard_sent(cut_off=self._destination is not None and self._destination.sent > 0)

    def _schema_data(self) -> bytes | None:
        plan = self._plan
        schema = plan.columns if self.target in ROWS else plan.guessed
        if schema is not None:
            schema.renamed |= {text_of(new): text_of(old) for new, old in self._mappers.renamed.items()}
            return written(schema)
        return self._mappers.schema.to_json() if self._mappers.schema else None


def _for_convert(suggestion: Suggestion | None) -> Suggestion | None:
    """Return the suggestion with `convert` instead of `verify` if another program must run first."""
    return (
        replace(suggestion, verb="convert")
        if suggestion and suggestion.verb == "verify" and suggestion.first
        else suggestion
    )
