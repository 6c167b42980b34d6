"""List all output formats of `convert` and the row formats that it reads, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from tfrtool.types import Progress
from tfrtool.verbs.formats.base import Layout, Rows, Target, Writer
from tfrtool.verbs.formats.frames import ofrecord_writer, tfrecord_writer

if TYPE_CHECKING:
    from tfrtool.payload.mapping.rules import Losses
    from tfrtool.sources.source import Source
    from tfrtool.verbs.convert.row_plan import RowPlan, RowReader

# Rows are imported where they are used: most conversions have none.


def _jsonl_writer(out: BinaryIO, layout: Layout) -> Writer:
    from tfrtool.verbs.formats.row_writers import JsonlOut

    return JsonlOut(out, layout)


def _parquet_writer(out: BinaryIO, layout: Layout) -> Writer:
    from tfrtool.verbs.formats.row_writers import ParquetOut

    return ParquetOut(out, layout)


WRITERS: dict[Target, Callable[[BinaryIO, Layout], Writer]] = {
    "tfrecord": tfrecord_writer,
    "ofrecord": ofrecord_writer,
    "jsonl": _jsonl_writer,
    "parquet": _parquet_writer,
}


def _jsonl_rows(source: Source, plan: RowPlan, progress: Progress | None, losses: Losses) -> Rows:
    from tfrtool.verbs.convert.row_inputs import jsonl_rows

    return jsonl_rows(source, plan, progress, losses)


def _parquet_rows(source: Source, plan: RowPlan, progress: Progress | None, losses: Losses) -> Rows:
    from tfrtool.verbs.convert.row_inputs import parquet_rows

    return parquet_rows(source, plan, progress, losses)


READERS: dict[str, RowReader] = {"jsonl": _jsonl_rows, "parquet": _parquet_rows}
"""Readers of inputs that are not record files, by format."""
