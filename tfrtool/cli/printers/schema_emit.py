"""Write the schema for another program (`schema --emit`), or as a JSON object (`schema --json`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.cli.paths import refuse_inputs
from tfrtool.cli.printers.jsonl import JsonPrinter
from tfrtool.cli.printers.schema import SchemaCollector, SchemaPrinter, unsaid
from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.schema.emit.as_json import schema_fields
from tfrtool.verbs.schema.emit.forms import Form, emit, notes, table_of

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.sources.inputs.resolve import Resolution
    from tfrtool.sources.sinks.atomic import PendingOutput


_NOTES = 50
"""Features for which notes are printed; the rest are counted."""


class SchemaFile(SchemaPrinter):
    """Adds up the schemas, and writes the result after all inputs."""

    def __init__(self, what: Form, output: str | None, force: bool, quiet: bool) -> None:
        super().__init__()
        self._what = what
        self._output = output
        self._force = force
        self._quiet = quiet
        self._sink: PendingOutput | None = None

    @contextmanager
    def opened(self, resolution: Resolution) -> Iterator[None]:
        """Open the output before anything is read, and discard it unless `finish` publishes it.

        Raises `UsageError` if it is a file that is read, and `WriteError` if it cannot be written.
        """
        output, inputs = self._output, resolution.names
        if output and self._what == "tfds":
            from tfrtool.verbs.schema.emit import tfds

            refuse_inputs("-o", tfds.paths_in(output), resolution)
            tfds.check_target(inputs, output, self._force)
        elif output and output != "-":
            from tfrtool.sources.sinks.atomic import open_output

            refuse_inputs("-o", [output], resolution)
            self._sink = open_output(output, force=self._force, same_as=inputs)
        try:
            yield
        finally:
            if self._sink is not None:
                self._sink.discard()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self.total.unread += event.status == "error"
        super().show(name, event)

    def finish(self) -> None:
        """Write the schema. Raises if the format cannot represent it, or the file cannot be written."""
        self.total.cut()
        if not self._quiet:
            for sentence in unsaid(self.total, table_of(self.total, self._what)):
                say(safe(sentence))
        written = [self._output] if self._output else []
        if self._what == "tfds":
            from tfrtool.verbs.schema.emit import tfds

            written = tfds.write(self.total, self._output or ".", self._force)
        elif self._sink is not None:
            self._sink.out.write(emit(self.total, self._what).encode())
            self._sink.finish()
            self._sink.publish()
        else:
            written = []
            sys.stdout.write(emit(self.total, self._what))
        if not self._quiet:
            self._say_notes()
            for path in written:
                say("written", path)

    def _say_notes(self) -> None:
        found = notes(self.total, self._what)
        for note in islice(found, _NOTES):
            say(safe(note))
        if more := sum(1 for _ in found):
            say(f"and {plural(more, 'more such feature')}")

    def print(self, summary: Summary) -> None:
        """Print nothing: `finish` has written the schema."""


class SchemaJson(SchemaCollector, JsonPrinter):
    """Adds a `schema` object for all inputs before the summary."""

    def __init__(self) -> None:
        super().__init__(("unread",))

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.total.cut()
        self.write("schema", schema_fields(self.total))
        super().end(summary, missing)
