"""Write rows in a conversion: the `WRITERS` of JSON Lines and Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from tfrtool.payload.rows.convert import write_row
from tfrtool.payload.rows.row import RowChange, RowError
from tfrtool.verbs.convert.row_plan import LossCounter, RowPlan, refusal

if TYPE_CHECKING:
    from tfrtool.types import Kind
    from tfrtool.verbs.formats.base import Layout, Pieces


class JsonlOut:
    """Write lines, which the plan makes, since a line that starts the next shard is made before that is open."""

    def __init__(self, out: BinaryIO, layout: Layout) -> None:
        from tfrtool.verbs.formats.jsonl import JsonlWriter

        assert isinstance(layout.rows, RowPlan)
        self._plan = layout.rows
        self._writer = JsonlWriter(out, "example", compression=layout.compression, level=layout.level)

    def write(self, pieces: Pieces, kind: Kind) -> int:
        return self._writer.put(self._plan.line(pieces, kind))

    def release_views(self) -> None:
        """Do nothing: lines are not views."""

    def finish(self) -> None:
        self._writer.finish()


class ParquetOut:
    """Write a table whose columns the plan knows."""

    def __init__(self, out: BinaryIO, layout: Layout) -> None:
        from tfrtool.payload.rows.columns import RowSchema
        from tfrtool.verbs.formats.parquet_writer import ParquetWriter

        assert isinstance(layout.rows, RowPlan)
        self._plan = plan = layout.rows
        columns = plan.columns or RowSchema("example")
        self._writer = ParquetWriter(out, columns, lenient=plan.options.rules.unknown == "drop")

    def write(self, pieces: Pieces, kind: Kind) -> int:
        plan, payload = self._plan, pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._writer.changes = LossCounter(plan.losses)
        try:
            fitting = payload if kind == self._writer.message else self._other(payload, kind)
            return self._writer.write(fitting, plan.number)
        except RowError as error:
            plan.row(payload, kind)
            given = plan.schema is not None
            hint = "convert without {schema}" if given else "the inputs changed while they were read: run this again"
            raise refusal(error, hint) from None

    def _other(self, payload: bytes | memoryview, kind: Kind) -> bytes | memoryview:
        """Convert a record of another message than the table (an Example as an OFRecord). Raises what `RowPlan.row`
        raises."""
        changes: list[RowChange] = []
        row = self._plan.row(payload, kind, changes)
        if row.message == self._writer.message:
            return payload
        if changes:
            self._plan.tell(changes)
        row.message = self._writer.message
        return write_row(row)

    def release_views(self) -> None:
        """Do nothing: values were copied."""

    def finish(self) -> None:
        self._writer.finish()
