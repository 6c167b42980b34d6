"""Writers of rows for a conversion: what `targets.WRITERS` names for JSON Lines and Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from tfrtool.payload.mapping_rules import Refused
from tfrtool.payload.rows import RowError
from tfrtool.verbs.convert_rows import RowPlan, Telling

if TYPE_CHECKING:
    from tfrtool.report import Kind
    from tfrtool.verbs.targets import Layout, Pieces


class JsonlOut:
    """Lines, each made by the plan, since a line that opens the next shard is made before that is open."""

    def __init__(self, out: BinaryIO, layout: Layout) -> None:
        from tfrtool.verbs.jsonl import JsonlWriter

        assert isinstance(layout.rows, RowPlan)
        self._plan = layout.rows
        self._writer = JsonlWriter(out, "example", compression=layout.compression, level=layout.level)

    def write(self, pieces: Pieces, kind: Kind) -> int:
        return self._writer.put(self._plan.line(pieces, kind))

    def settle(self) -> None:
        """Lines are no views."""

    def finish(self) -> None:
        self._writer.finish()


class ParquetOut:
    """A table whose columns the plan knows."""

    def __init__(self, out: BinaryIO, layout: Layout) -> None:
        from tfrtool.payload.rows_schema import RowSchema
        from tfrtool.verbs.parquet import ParquetWriter

        assert isinstance(layout.rows, RowPlan)
        self._plan = plan = layout.rows
        columns = plan.columns or RowSchema("example")
        self._writer = ParquetWriter(out, columns, lenient=plan.options.rules.unknown == "drop")

    def write(self, pieces: Pieces, kind: Kind) -> int:
        plan, payload = self._plan, pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if plan.message is None or kind not in ("unknown", "event", plan.message):
            plan.row(payload, kind)  # which says why not
        self._writer.changes = Telling(plan.losses)
        try:
            return self._writer.write(payload, plan.number)
        except RowError as error:
            plan.row(payload, kind)
            feature = None if error.feature is None else error.feature.encode("utf-8", "surrogateescape")
            given = plan.schema is not None
            hint = "convert without --schema" if given else "the inputs changed while they were read: run this again"
            raise Refused(feature, error.why, hint) from None

    def settle(self) -> None:
        """Values were copied."""

    def finish(self) -> None:
        self._writer.finish()
