"""Hold what the row inputs and outputs of one conversion share: message type, schema and losses.

The readers and writers of JSON Lines and Parquet (`verbs.formats`) get the message type and the schema from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tfrtool.payload.filter import Where
from tfrtool.payload.mapping.record import NotText, read_record
from tfrtool.payload.mapping.rules import Losses, NameMapping, Refused, Types
from tfrtool.payload.rows.columns import RowColumn, RowSchema
from tfrtool.payload.rows.convert import read_row
from tfrtool.payload.rows.row import Message, Row, RowChange, RowError
from tfrtool.payload.wire.reader import WireError
from tfrtool.types import Progress
from tfrtool.verbs.formats.jsonl import Changes

if TYPE_CHECKING:
    from tfrtool.payload.rows.json_schema import SchemaInference
    from tfrtool.payload.rows.json_writer import JsonWriter
    from tfrtool.sources.source import Source
    from tfrtool.types import Kind
    from tfrtool.verbs.convert.options import ConvertOptions
    from tfrtool.verbs.formats.base import Pieces, Rows, Target

_NAMES = {"example": "an Example", "sequence_example": "a SequenceExample", "ofrecord": "an OFRecord"}
_DROP = "{unknown=drop} reads the record as protobuf does, and leaves out what has no place in a row"
_APART = "convert them apart"


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def refusal(error: RowError, hint: str) -> Refused:
    """Return the refusal for an invalid row."""
    feature = None if error.feature is None else error.feature.encode("utf-8", "surrogateescape")
    return Refused(feature, error.why, hint)


class LossCounter(Changes):
    """Counts the changes of rows as losses of the input that is being read."""

    def __init__(self, losses: Losses) -> None:
        super().__init__()
        self._losses = losses

    def add(self, changes: list[RowChange], record: int) -> None:
        for change in dict.fromkeys(changes):
            feature = change.feature.encode("utf-8", "surrogateescape") if change.feature else None
            self._losses.add(feature, change.kind, record, change.about)


class RowPlan:
    """What all inputs and outputs of rows in one conversion share.

    `target` is set once it is known. `schema` is what `--schema` gave, if that is a schema of rows; `columns` those of
    the outputs; `surveys` gives the schema of all JSON Lines among the inputs, for which it reads them once, and
    `guessed` is what that was, `merged` its features of which only some values are integers. `names` knows which
    features are wanted, `where` which records. `losses` are those of the input that is being read, and `number` its
    record that is being written.
    """

    def __init__(self, options: ConvertOptions) -> None:
        self.options = options
        self.schema: RowSchema | None = None
        self.columns: RowSchema | None = None
        self.target: Target | None = None
        self.message: Message | None = None
        self.losses = Losses()
        self.number = 0
        self.surveys: Callable[[], SchemaInference] | None = None
        self.guessed: RowSchema | None = None
        self.merged: frozenset[str] = frozenset()
        self.names = NameMapping(options.rules)
        self.where = Where(options.conditions) if options.conditions else None
        self._lines: JsonWriter | None = None
        self._prepared: tuple[int, str] | None = None

    # Inputs

    def wants(self, name: str) -> bool:
        """Whether a feature is selected or named in a condition, so that it must be read."""
        encoded = _encoded(name)
        return self.names.target(encoded) is not None or (self.where is not None and encoded in self.where.names)

    @property
    def wanted(self) -> Callable[[str], bool] | None:
        """`wants`, or None if all features are wanted."""
        return self.wants if self.options.rules.renames else None

    def lines_schema(self) -> RowSchema:
        """Return the schema for JSON Lines: the schema of the user, or the result of a first pass."""
        if self.guessed is None:
            schema, wide = self.schema, False
            if schema is None:
                assert self.surveys is not None
                guess = self.surveys()
                schema, self.merged, wide = guess.schema(mixed=True), guess.merged(), guess.wide
            columns = dict(schema.features)
            columns |= self._typed(columns)
            message = schema.message
            if message != "sequence_example" and (message == "example" or self.schema is None):
                of_both = wide or any(column.kind in ("double", "int32") for column in columns.values())
                message = "ofrecord" if of_both else "example"
            self.guessed = RowSchema(message, columns, schema.feature_lists)
        return self.guessed

    def _typed(self, columns: Mapping[str, RowColumn]) -> dict[str, RowColumn]:
        """Return the columns whose kind an option sets, by their name in the rows."""
        rules = self.options.rules
        names, types = NameMapping(rules), Types(rules)
        typed = {}
        for name in map(_encoded, columns):
            by = types.asked(name, names.target(name))
            if by is not None:
                self.names.seen.types.add(by)
                typed[_decoded(name)] = RowColumn(rules.types[by])
        for name, kind in rules.types.items():
            befores = [before for before, after in rules.rename.items() if after == name]
            for before in (*befores, rules.strip_prefix + name, name):
                if _decoded(before) not in columns and names.target(before) in (name, None):
                    typed.setdefault(_decoded(before), RowColumn(kind))
        return typed

    def message_of(self, found: Message | None) -> Message:
        """Return the message type for rows that were written from `found` (None if unknown)."""
        if found == "example" and self.target == "ofrecord":
            return "ofrecord"
        return found or "ofrecord"  # which holds all kinds; what becomes of them in an Example the mapper knows

    # Outputs

    def row(self, payload: bytes | memoryview, kind: Kind, changes: list[RowChange] | None = None) -> Row:
        """Return the row of an output record. Raises WireError for another message, Refused for other problems."""
        message = self._message(kind)
        lenient = self.options.rules.unknown == "drop"
        try:
            return read_row(payload, message, changes, lenient=lenient)
        except RowError as error:
            raise self._why(payload, message, error) from None

    def _message(self, kind: Kind) -> Message:
        if kind == "event":  # as a file is that has one among others: each record tells for itself
            kind = "unknown"
        if self.message is None:
            self.message = "example" if kind == "unknown" else kind
            if self.columns is not None and not self._compatible(self.message, self.columns.message):
                raise Refused(
                    None,
                    f"{_NAMES[self.message]}, and the schema is that of {_NAMES[self.columns.message]}",
                    "convert without {schema}",
                )
        if kind == "unknown":
            return self.message
        if not self._compatible(kind, self.message):
            raise Refused(None, f"{_NAMES[kind]} after {_NAMES[self.message]}: rows are of one message", _APART)
        return kind

    def _compatible(self, one: Message, other: Message) -> bool:
        """Whether rows of two message types can share a file: Examples and OFRecords can."""
        return one == other or "sequence_example" not in (one, other)

    def _why(self, payload: bytes | memoryview, message: Message, error: RowError) -> Exception:
        from tfrtool.payload.kinds import kind_of

        if kind_of(payload) == "sequence_example" and message == "example":
            what = "a SequenceExample among Examples, which all rows are by the first records of the input"
            return Refused(None, what, "{sequence=flatten} writes its lists side by side")
        try:
            read_row(payload, message, lenient=True)
        except RowError:
            found = error.misfit
            return WireError(found.offset, found.why) if found else WireError(0, error.why)
        try:
            read_record(memoryview(payload), "ofrecord" if message == "ofrecord" else "example", sequence=True)
        except NotText as odd:
            return odd
        return refusal(error, _DROP)

    def line(self, pieces: Pieces, kind: Kind) -> str:
        """Return the line of a record."""
        if self._prepared is not None and self._prepared[0] == self.number:
            line, self._prepared = self._prepared[1], None
            return line
        if self._lines is None:
            from tfrtool.payload.rows.json_writer import JsonWriter

            self._lines = JsonWriter(self.columns)
        changes: list[RowChange] = []
        payload = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        try:
            line = self._lines.line(self.row(payload, kind, changes), changes)
        except RowError as error:
            raise refusal(error, "{schema_out} makes lines that {schema} reads as they are") from None
        if changes:
            self.tell(changes)
        return line

    def measure(self, pieces: Pieces, kind: Kind) -> int:
        """Return the size in bytes of the line of a record. The line is kept for `line`."""
        line = self.line(pieces, kind)
        self._prepared = self.number, line
        return len(line.encode()) + 1

    def tell(self, changes: list[RowChange]) -> None:
        """Count changes of the record that is being written."""
        LossCounter(self.losses).add(changes, self.number)


RowReader = Callable[["Source", RowPlan, Progress | None, Losses], "Rows"]
"""Takes an open input, what is known of the rows of this conversion, whom to tell of bytes that were read, and where to
count what did not come through."""
