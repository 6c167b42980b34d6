"""Choose the mapper of each input, and read and write schema files.

There are two kinds of schema file: of Examples and OFRecords, and of rows. A key in the file distinguishes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfrtool.errors import OpenError, RefusedError
from tfrtool.payload.mapping.mapper import Mapper, PassThrough
from tfrtool.payload.mapping.rules import KINDS, Rules, Side
from tfrtool.payload.mapping.schema_file import SchemaRecorder
from tfrtool.suggestion import Suggestion
from tfrtool.verbs.formats.base import ROWS, Target

if TYPE_CHECKING:
    from tfrtool.payload.mapping.rules import NamesSeen
    from tfrtool.payload.rows.columns import RowSchema
    from tfrtool.verbs.convert.inputs import Input
    from tfrtool.verbs.convert.options import ConvertOptions


_MOST = 1 << 26
"""Size limit of a schema file in bytes."""
_OF_ROWS = "tfrtool_rows"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        from tfrtool.sources.os_text import reason

        raise OpenError(f"the schema '{path}' cannot be read: {reason(error)}") from error
    if len(data) > _MOST:
        raise _unusable(path, "it is larger than any schema")
    return data


def _unusable(path: str, why: object, suggestion: Suggestion | None = None) -> OpenError:
    return OpenError(f"the schema '{path}' cannot be used: {why}", suggestion)


def _refuse_other_json(path: str, data: bytes) -> None:
    """Raise OpenError for a file that a conversion did not write."""
    from tfrtool.payload.mapping.schema_file import not_one

    why = not_one(data)
    if why:
        raise _unusable(path, why, Suggestion(words="{schema} reads what {schema_out} wrote on the way there"))


def _is_of_rows(data: bytes) -> dict[str, Any] | None:
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _OF_ROWS in value else None


def with_schema(rules: Rules, path: str, source: Side, target: Side) -> Rules:
    """Return the rules, completed with names and kinds of a schema file. Rules take precedence. Raises OpenError."""
    from tfrtool.payload.mapping.schema_file import LoadedSchema

    data = _read(path)
    if _is_of_rows(data) is not None:
        raise _unusable(path, "it is one of rows, for JSON Lines and Parquet")
    _refuse_other_json(path, data)
    try:
        known = LoadedSchema.from_json(data)
        if (known.source, known.target) != (source, target):
            raise ValueError(
                f"it leads from {known.source} to {known.target}, and this conversion from {source} to {target}"
            )
    except ValueError as error:
        raise _unusable(path, error) from None
    return replace(
        rules, kinds={**known.types, **rules.kinds}, rename={**known.rename, **rules.rename}, lists=known.lists
    )


def schema_of_rows(path: str) -> RowSchema:
    """Read a schema of rows from a file. Raises OpenError."""
    from tfrtool.payload.rows.columns import RowSchema

    data = _read(path)
    value = _is_of_rows(data)
    if value is None:
        _refuse_other_json(path, data)
        raise _unusable(path, "it is no schema of rows, which is written where one side is JSON Lines or Parquet")
    try:
        return RowSchema.from_json(value)
    except ValueError as error:
        raise _unusable(path, error) from None


def written(schema: RowSchema) -> bytes:
    """Serialize a schema of rows."""
    import json

    return json.dumps(schema.to_json(), indent=1).encode() + b"\n"


class Mappers:
    """Gives each input its mapper. `schema` learns the names and kinds of all, where it is to be written; `seen` has
    what was asked for and met, by input; `renamed` the names that features had, by those that they have, where a schema
    of rows is to be written; `back` are the new names that a schema of rows gives back to what is read by it."""

    def __init__(self) -> None:
        self.schema: SchemaRecorder | None = None
        self.seen: list[NamesSeen] = []
        self.renamed: dict[bytes, bytes] = {}
        self.back: dict[str, str] = {}
        self._rules: dict[tuple[Side, Side, bool], Rules] = {}

    def for_input(self, source: Input, target: Target, options: ConvertOptions) -> Mapper | None:
        """Return the mapper for the payloads of an input, or None if they stay as they are.

        Raises OpenError for an unusable schema, and RefusedError if one schema would describe two formats.
        """
        side = source.side
        to: Side = "ofrecord" if target == "ofrecord" else "example" if target == "tfrecord" else side
        of_rows = target in ROWS or source.format in ROWS
        back = self.back if source.format in ROWS and target not in ROWS else {}
        asked = options.edits(to, of_rows) or options.rules.sequence != "refuse" or bool(back)
        empties = to == "ofrecord" and source.format in ROWS  # which are not there at all, unlike those of an Example
        stays = side == to and not asked and not empties
        if stays and (of_rows or not options.gates):
            return None
        key = side, to, source.format == "jsonl"
        if key not in self._rules:
            rules = options.rules
            if options.schema and not of_rows:
                rules = with_schema(rules, options.schema, side, to)
            if source.format == "jsonl":  # whose kinds were said when it was read
                types = {name: kind for name, kind in rules.types.items() if kind in KINDS[to]}
                rules = replace(rules, types=types)
            renamed = {new.encode("utf-8", "surrogateescape"): old.encode() for new, old in back.items()}
            self._rules[key] = replace(rules, for_rows=target in ROWS, rename={**renamed, **rules.rename})
        if options.schema_out is not None and self.schema is None and not of_rows:
            self.schema = SchemaRecorder(side, to)
        if self.schema is not None and self.schema.source != side:
            raise RefusedError(
                "a schema is of inputs of one format, and these are of both",
                Suggestion(words="convert without {schema_out}"),
            )
        told = (self.schema.note_feature, self.schema.flattened) if self.schema else ()
        learns = options.schema_out is not None and target in ROWS
        mapper = (PassThrough if stays else Mapper)(
            side, to, self._rules[key], *told, renamed=self.renamed if learns else None
        )
        self.seen.append(mapper.names.seen)
        return mapper
