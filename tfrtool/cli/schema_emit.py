"""`schema --emit`: the schema as text for another program, on standard output or in a file."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.cli.schema_lines import unsaid
from tfrtool.cli.schema_text import SchemaPrinter
from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.emit import emit, notes, table_of

if TYPE_CHECKING:
    from tfrtool.cli.session import Event

_NOTES = 50
"""Features of which is said what another program makes of them; the rest is counted."""


class Emitting(SchemaPrinter):
    """Adds the schemas up, and writes them when all inputs are done."""

    def __init__(self, what: str, output: str | None, force: bool, quiet: bool) -> None:
        super().__init__()
        self._what = what
        self._output = output
        self._force = force
        self._quiet = quiet
        self._inputs: list[str] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._inputs.append(event.path)
            self.total.unread += event.status == "error"
        super().show(name, event)

    def finish(self) -> None:
        """Write what was asked for; raises where the format cannot hold it, or the file cannot be written."""
        self.total.cut()
        if not self._quiet:
            for sentence in unsaid(self.total, table_of(self.total, self._what)):
                say(safe(sentence))
        written = [self._output] if self._output else []
        if self._what == "tfds":
            from tfrtool.verbs.emit import tfds

            written = tfds.write(self.total, self._output or ".", self._force)
        elif self._output and self._output != "-":
            from tfrtool.sources.sink import atomic_output

            text = emit(self.total, self._what)
            with atomic_output(self._output, force=self._force, same_as=self._inputs) as out:
                out.write(text.encode())
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
        """Nothing: `finish` has written it."""
