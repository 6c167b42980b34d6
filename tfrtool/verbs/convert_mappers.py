"""What maps the payloads of each input of a conversion, and what is known once all were mapped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfrtool.errors import RefusedError
from tfrtool.payload.mapping import Gate, Mapper
from tfrtool.payload.mapping_rules import KINDS, Rules, Side
from tfrtool.payload.sidecar import Schema
from tfrtool.report import Remedy
from tfrtool.verbs.convert_schema import with_schema
from tfrtool.verbs.formats_base import ROWS, Target

if TYPE_CHECKING:
    from tfrtool.payload.mapping_names import Met
    from tfrtool.verbs.convert_inputs import Input
    from tfrtool.verbs.convert_options import ConvertOptions


class Mappers:
    """Gives each input its mapper. `schema` learns the names and kinds of all, where it is to be written; `met` has
    what was asked for and met, by input; `renamed` the names that features had, by those that they have, where a schema
    of rows is to be written; `back` are the new names that a schema of rows gives back to what is read by it."""

    def __init__(self) -> None:
        self.schema: Schema | None = None
        self.met: list[Met] = []
        self.renamed: dict[bytes, bytes] = {}
        self.back: dict[str, str] = {}
        self._rules: dict[tuple[Side, Side, bool], Rules] = {}

    def of(self, source: Input, target: Target, options: ConvertOptions) -> Mapper | None:
        """What maps the payloads of an input, if anything has to.

        Raises OpenError for a schema that cannot be used, and RefusedError where one would be of two formats.
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
            self.schema = Schema(side, to)
        if self.schema is not None and self.schema.source != side:
            raise RefusedError(
                "a schema is of inputs of one format, and these are of both",
                Remedy(words="convert without {schema_out}"),
            )
        told = (self.schema.see, self.schema.flattened) if self.schema else ()
        learns = options.schema_out is not None and target in ROWS
        mapper = (Gate if stays else Mapper)(
            side, to, self._rules[key], *told, renamed=self.renamed if learns else None
        )
        self.met.append(mapper.names.met)
        return mapper
