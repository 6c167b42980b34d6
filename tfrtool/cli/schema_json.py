"""The `schema` object, for `schema --json`: one, before the summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.json_out import JsonPrinter
from tfrtool.payload.schema.schema import Schema
from tfrtool.report import Summary
from tfrtool.verbs.emit.as_json import schema_fields

if TYPE_CHECKING:
    from tfrtool.cli.session import Event


class SchemaJson(JsonPrinter):
    """Adds the schemas of the inputs up."""

    def __init__(self) -> None:
        super().__init__(("unread",))
        self.total = Schema()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Schema):
            self.total.merge(event)
        else:
            super().show(name, event)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.total.cut()
        self.write("schema", schema_fields(self.total))
        super().end(summary, missing)
