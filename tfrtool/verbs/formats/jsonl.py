"""Write payloads as JSON Lines, one record a line, and read them back. `payload.rows.json_writer` documents the rules.

Lossy changes in row conversion are counted by `Changes`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from tfrtool.errors import DamageError, RefusedError
from tfrtool.payload.rows.convert import read_row, write_row
from tfrtool.payload.rows.json_reader import BadJson, JsonParser
from tfrtool.payload.rows.json_writer import JsonWriter
from tfrtool.payload.rows.row import Message, Row, RowChange, RowError
from tfrtool.sources.source import open_source
from tfrtool.sources.spool import MAX_LINE, LineTooLong, lines
from tfrtool.types import Progress
from tfrtool.verbs.records import packer

if TYPE_CHECKING:
    from tfrtool.payload.rows.columns import Double, RowSchema
    from tfrtool.payload.wire.reader import Buffer
    from tfrtool.sources.source import Source
    from tfrtool.types import Compression, CompressionChoice


_MOST = 10_000
"""Maximum number of distinct changes; later ones are counted without the name of the feature."""
_MOST_NAMES = 1 << 22
"""Maximum total length of their names, in bytes."""


@dataclass(slots=True)
class Counted:
    """One change: how many `records` have it, and the numbers of the first and the last of them."""

    feature: str
    what: str
    lost: bool
    records: int
    first: int
    last: int


class Changes:
    """Count lossy changes, record by record."""

    def __init__(self) -> None:
        self._found: dict[RowChange, Counted] = {}
        self._names = 0

    def add(self, changes: list[RowChange], record: int) -> None:
        """Count each change of one record once."""
        for change in dict.fromkeys(changes):
            found = self._found.get(change)
            if found is None and (len(self._found) >= _MOST or self._names + len(change.feature) > _MOST_NAMES):
                change = change._replace(feature="")
                found = self._found.get(change)
            if found is None:
                self._names += len(change.feature)
                self._found[change] = Counted(change.feature, change.what, change.lost, 1, record, record)
            elif found.last != record:
                found.records += 1
                found.last = record

    @property
    def lost(self) -> bool:
        """Whether data was lost, not only spelled differently."""
        return any(change.lost for change in self._found)

    def __iter__(self) -> Iterator[Counted]:
        return iter(self._found.values())


_TELL = 64
"""Number of lines between two progress reports."""
_HELD = 1 << 18
"""Bytes of lines that are collected before a write."""


class JsonlWriter:
    """Write payloads as lines to an open binary stream, which the writer neither names nor closes.

    `schema` makes the lines plain, and is needed to read doubles, int32 and empty lists back. `exact` and `lists` are
    for lines without a schema (see `JsonWriter`). gzip output has one member without a time stamp. `records` counts
    written records, `changes` what cannot be read back.
    """

    def __init__(
        self,
        out: BinaryIO,
        message: Message,
        *,
        schema: RowSchema | None = None,
        exact: bool = True,
        lists: Literal["auto", "always"] = "auto",
        lenient: bool = False,
        compression: Compression = "none",
        level: int = 6,
    ) -> None:
        self.message = message
        self.records = 0
        self.changes = Changes()
        self._rows = JsonWriter(schema, exact=exact, lists=lists)
        self._lenient = lenient
        self._write = out.write
        self._lines: list[str] = []
        self._held = 0
        self._deflate = packer(compression, level)

    def write(self, payload: Buffer, record: int | None = None) -> int:
        """Append a record and return its length in characters. `record` is its number, for `changes`.

        Raises RowError if the payload does not parse as the message; nothing of it is written.
        """
        changes: list[RowChange] = []
        line = self._rows.line(read_row(payload, self.message, changes, lenient=self._lenient), changes)
        if changes:
            self.changes.add(changes, self.records if record is None else record)
        return self.put(line)

    def put(self, line: str) -> int:
        """Append a finished line and return its length in characters."""
        self._lines.append(line)
        self._held += len(line) + 1
        if self._held >= _HELD:
            self._flush()
        self.records += 1
        return len(line) + 1

    def finish(self) -> None:
        """Write all collected lines. Nothing may be written after it."""
        self._flush()
        if self._deflate is not None:
            self._write(self._deflate.flush())

    def _flush(self) -> None:
        if self._lines:
            self._lines.append("")
            data = "\n".join(self._lines).encode()
            self._lines, self._held = [], 0
            self._write(data if self._deflate is None else self._deflate.compress(data))


class JsonlReader:
    """Read the lines of an input as payloads. Iterate once; blank lines, a byte order mark and CRLF are skipped.

    `message`, `schema`, `double`, `otherwise`, `merged` and `wanted` are passed to `JsonParser`; `message` is known
    after the first line. Memory is bounded by the longest line; a line of more than `max_line` bytes is an error.
    `changes` counts values that were read as something else, by line number. `source` is an open source, which stays
    open. Lines that are not rows are passed to `bad` and skipped, if it is given. `progress` receives the bytes read
    since the last call.
    """

    def __init__(
        self,
        name: str,
        message: Message | None = None,
        *,
        schema: RowSchema | None = None,
        double: Double = "exact",
        compression: CompressionChoice = "auto",
        max_line: int = MAX_LINE,
        progress: Progress | None = None,
        otherwise: Message = "example",
        merged: Container[str] = (),
        wanted: Callable[[str], bool] | None = None,
        source: Source | None = None,
        bad: Callable[[int, RefusedError], None] | None = None,
    ) -> None:
        self.name = name
        self.changes = Changes()
        self._parse = JsonParser(message, schema, double=double, otherwise=otherwise, merged=merged, wanted=wanted)
        self._source = source
        self._bad = bad
        self._compression: CompressionChoice = compression
        self._max_line = max_line
        self._progress = progress
        self._told = 0

    @property
    def message(self) -> Message | None:
        """What the payloads are."""
        return self._parse.message

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each line, counted from 1, and its payload.

        Raises `RefusedError` at the first line that is not a row, with file, line, column and cause; `DamageError` if
        the gzip or zlib stream is damaged; `OpenError` and `ReadError`.
        """
        changes: list[RowChange] = []
        for number, _, row in self.rows(changes):
            payload = write_row(row)
            if changes:
                self.changes.add(changes, number)
                changes.clear()
            yield number, payload

    def rows(self, changes: list[RowChange]) -> Iterator[tuple[int, dict[str, Any], Row]]:
        """Yield the number of each line, its object and its row, before that becomes a payload."""
        with ExitStack() as stack:
            source = self._source or stack.enter_context(open_source(self.name, compression=self._compression))
            try:
                for number, line in enumerate(lines(source.data, self._max_line), 1):
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line and not line.isspace():
                        try:
                            value, row = self._row(line, number, source, changes)
                        except RefusedError as error:
                            if source.faults:  # the line is cut where the stream breaks
                                break
                            if self._bad is None:
                                raise
                            changes.clear()
                            self._bad(number, error)
                        else:
                            yield number, value, row
                    if self._progress and number % _TELL == 0:
                        self._tell(source, self._progress)
                if self._progress:
                    self._tell(source, self._progress)
            except LineTooLong as error:
                raise RefusedError(f"'{self.name}' {error}") from None
            if source.faults:
                raise DamageError(f"'{self.name}': {source.faults[0].message}", self.name)

    def _tell(self, source: Source, progress: Progress) -> None:
        now = source.position_encoded()
        if now > self._told:
            progress(now - self._told)
            self._told = now

    def _row(self, line: bytes, number: int, source: Source, changes: list[RowChange]) -> tuple[dict[str, Any], Row]:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            before = len(line[: error.start].decode())
            raise self._refused(number, before + 1, _not_text(line, number, source)) from None
        try:
            value = self._parse.object(text)
            return value, self._parse.row_of(value, changes)
        except BadJson as error:
            why = error.why
            if text.lstrip()[:1] == "[" and number == 1:
                why += "; of one array of objects, `jq -c '.[]'` makes a line each"
            elif text.strip() == "{":
                why += "; JSON Lines have an object on each line, and `jq -c .` puts it there"
            raise self._refused(number, error.column, why) from None
        except RowError as error:
            from tfrtool.payload.rows.json_reader import locate

            raise self._refused(number, locate(text, error.feature), str(error)) from None

    def _refused(self, number: int, column: int, why: str) -> RefusedError:
        return RefusedError(f"'{self.name}' line {number}, column {column}: {why}")


def _not_text(line: bytes, number: int, source: Source) -> str:
    if number == 1:
        if line[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return "the text is UTF-16, and JSON Lines are UTF-8: `iconv -f UTF-16 -t UTF-8` makes it so"
        if (sniffed := source.sniff()) and sniffed.message:
            return f"not JSON Lines: {sniffed.message}"
    return "a byte that is not UTF-8"
