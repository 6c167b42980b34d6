"""The `schema` object, for `schema --json`: one, before the summary."""

from __future__ import annotations

from collections.abc import Sequence

from tfrtool.cli.json_out import JsonPrinter
from tfrtool.cli.schema_total import Adding
from tfrtool.report import Summary
from tfrtool.verbs.emit.as_json import schema_fields


class SchemaJson(Adding, JsonPrinter):
    """The objects of all commands, and the schema of all inputs before the last."""

    def __init__(self) -> None:
        super().__init__(("unread",))

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.total.cut()
        self.write("schema", schema_fields(self.total))
        super().end(summary, missing)
