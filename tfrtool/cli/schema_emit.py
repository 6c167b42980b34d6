"""`schema --emit`: the schema as text for another program, on standard output or in a file."""

from __future__ import annotations

import sys

from tfrtool.cli.schema_text import SchemaPrinter
from tfrtool.cli.streams import say
from tfrtool.report import Summary
from tfrtool.verbs.emit import emit


class Emitting(SchemaPrinter):
    """Adds the schemas up, and writes them when all inputs are done."""

    def __init__(self, what: str, output: str | None, force: bool, quiet: bool) -> None:
        super().__init__()
        self._what = what
        self._output = output
        self._force = force
        self._quiet = quiet

    def finish(self) -> None:
        """Write what was asked for; raises where the format cannot hold it, or the file cannot be written."""
        self.total.cut()
        written = [self._output] if self._output else []
        if self._what == "tfds":
            from tfrtool.verbs.emit import tfds

            written = tfds.write(self.total, self._output or ".", self._force)
        elif self._output and self._output != "-":
            from tfrtool.sources.sink import atomic_output

            inputs = [file.path for file in self.total.files]
            text = emit(self.total, self._what)
            with atomic_output(self._output, force=self._force, same_as=inputs) as out:
                out.write(text.encode())
        else:
            written = []
            sys.stdout.write(emit(self.total, self._what))
        if not self._quiet:
            for path in written:
                say("written", path)

    def print(self, summary: Summary) -> None:
        """Nothing: `finish` has written it."""
