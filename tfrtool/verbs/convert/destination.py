"""Manage the output files: check names before reading, open files one by one, publish them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from tfrtool.errors import RefusedError, WriteError
from tfrtool.sources.sinks.output_set import OutputSet, is_direct
from tfrtool.suggestion import Suggestion
from tfrtool.types import Compression
from tfrtool.verbs.convert.options import ConvertOptions
from tfrtool.verbs.convert.outputs import Outputs
from tfrtool.verbs.convert.shards import OutputNames, Shards, ShardSplitter, compression_by_name, compression_note
from tfrtool.verbs.formats.base import Layout, Target


class Destination:
    """Name, open and publish the outputs of a conversion.

    `outputs` are the published names. `same`: the outputs have the format of the first input. `compressed_like` is the
    input whose compression the outputs take, if neither an option nor the name of the output sets it.
    """

    def __init__(
        self,
        output: str,
        inputs: Sequence[str],
        shards: Shards,
        options: ConvertOptions,
        target: Target,
        compression: Compression,
        *,
        same: bool,
        lists: Sequence[str] = (),
        compressed_like: str | None = None,
    ) -> None:
        self.outputs: list[str] = []
        self.compression = compression
        self._inputs = inputs
        self._read = [*inputs, *lists, *([options.schema] if options.schema else [])]
        self._shards = shards
        self._options = options
        self._target = target
        self._compressed_like = compressed_like
        compression_hidden = compressed_like is not None and compression_by_name(compressed_like) is None
        self._names = OutputNames(output, target, shards, same, compression, compression_hidden)
        self._sink: Outputs | None = None
        self._own: list[str] = []
        self._files = OutputSet(
            self._names.path,
            force=options.force,
            same_as=self._read,
            make_directory=self._names.in_directory,
            text=target == "jsonl" and compression == "none",
        )

    @property
    def direct(self) -> bool:
        """Whether records go into a pipe or a device."""
        return self._sink is not None and self._files.direct

    @property
    def sent(self) -> int:
        """Bytes written to the pipe or device."""
        return self._files.sent

    def check_target(self) -> None:
        """Raise `WriteError` if a name that is known already cannot be written."""
        known = self._names.refuse_unfit(self._inputs)
        if self._shards.count is not None:
            self._names.refuse_leftovers(known)
        side = self._options.schema_out
        self._files.check_target(known + ([side] if side and not is_direct(side) else []))

    def open(self, stack: ExitStack, layout: Layout, total: int | None) -> Outputs:
        """The sink for all records, `total` of them where that has to be known; `stack` closes the files."""
        splitter = ShardSplitter(self._shards, total)
        stack.enter_context(self._files)
        self._sink = Outputs(self._files, self._target, layout, splitter)
        return self._sink

    def end_own(self, name: str, first: int) -> None:
        """An input with an output of its own is done; one without records has an empty one, where that is legal.

        `first` is how many outputs there were before it.
        """
        sink = self._sink
        if not self._shards.each or sink is None:
            return
        if sink.opened == first and self._target != "ofrecord":
            sink.next()
        self._own += [name] * (sink.opened - first)
        sink.splitter.close()

    def publish(self, schema: bytes | None) -> None:
        """Publish all outputs, and the schema if there is one. Raises RefusedError or WriteError."""
        sink, files, names = self._sink, self._files, self._names
        if sink is None:
            raise RefusedError("there is no record to write")
        if not sink.opened:
            self._refuse_empty()
            sink.next()
        sink.finish()
        if self._shards.count not in (None, sink.opened):
            raise WriteError(
                "the inputs changed while they were read: they do not fill the shards; nothing was published"
            )
        outputs = names.of(sink.opened, self._own)
        names.refuse_leftovers(outputs)
        files.publish([*outputs, *self._schema_file(schema)])
        self.outputs = outputs

    def rehearse(self, opened: int) -> None:
        """After a dry run, raise the error that `publish` would raise for the number or names of the outputs."""
        if not opened:
            self._refuse_empty()
        if self._names.output and (self._shards.cut or self._names.in_directory):
            if self._shards.each and self._target != "ofrecord":
                return  # whose names were all known before
            outputs = self._names.of(opened, ())
            self._names.refuse_leftovers(outputs)
            self._files.check_target(outputs)

    def _refuse_empty(self) -> None:
        """Raise RefusedError if the format does not allow outputs without records."""
        if self._target == "ofrecord":
            raise RefusedError("there is no record to write, and OneFlow stops at a part without records")
        if self._shards.cut:
            raise RefusedError("there is no record to write, and a shard is never empty")

    def remarks(self) -> list[tuple[str, Suggestion | None]]:
        """Return notes on the published outputs, each with an alternative if there is one."""
        return [*self._compression_notes(), *((remark, None) for remark in self._other_sets())]

    def _compression_notes(self) -> Iterator[tuple[str, Suggestion]]:
        packing, asked = self.compression, self._compressed_like is None
        silent = asked and (packing == "none" or not self._shards.each or self._target != "tfrecord")
        if not silent and not all(compression_by_name(name) == packing for name in self.outputs):
            said = compression_note(packing, self._target, asked=asked)
            yield said, Suggestion(words="{compress=none} writes it plain")

    def _other_sets(self) -> list[str]:
        """Return a note on shards of another set beside the outputs."""
        others = self._names.other_sets(self.outputs)
        if not others:
            return []
        first, more = others[0], len(others) - 1
        lie = f"'{first}' and {more:,} more lie" if more else f"'{first}' lies"
        return [f"{lie} beside the outputs, and a pattern may take both for one: remove what is left of an older set"]

    def _schema_file(self, data: bytes | None) -> list[str]:
        """Write the schema as one more file of the set, and return its name if the set publishes it."""
        path, options = self._options.schema_out, self._options
        if path is None or data is None:
            return []
        if self._files.direct or is_direct(path):
            from tfrtool.sources.sinks.atomic import atomic_output

            with atomic_output(path, force=options.force, same_as=self._read) as out:
                out.write(data)
            return []
        self._files.open(path).write(data)
        return [path]
