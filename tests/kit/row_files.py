"""Whole files of rows from payloads and back, as `convert` makes them record by record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfrtool.errors import RefusedError
from tfrtool.payload.rows.columns import RowPlace, RowSchema, Survey
from tfrtool.payload.rows.convert import read_row
from tfrtool.payload.rows.json_schema import SchemaInference
from tfrtool.payload.rows.row import Message, RowChange, RowError
from tfrtool.payload.wire.reader import Buffer
from tfrtool.sources.sinks.atomic import atomic_output
from tfrtool.verbs.formats.jsonl import JsonlReader, JsonlWriter
from tfrtool.verbs.formats.parquet_types import arrow
from tfrtool.verbs.formats.parquet_writer import ParquetWriter, check_parquet


def said(changes: Iterable[RowChange]) -> list[tuple[str, str, bool]]:
    """What a list of changes says: of which feature, what, and whether something is lost."""
    return [(change.feature, change.what, change.lost) for change in changes]


def _write_all(writer: JsonlWriter | ParquetWriter, payloads: Iterable[Buffer]) -> None:
    for number, payload in enumerate(payloads):
        try:
            writer.write(payload)
        except RowError as error:
            raise RefusedError(f"record {number}: {error}") from None
    writer.finish()


def write_jsonl(
    payloads: Iterable[Buffer], path: str, message: Message, *, force: bool = False, **how: Any
) -> JsonlWriter:
    """Write JSON Lines; `how` are the options of `JsonlWriter`. The finished writer."""
    with atomic_output(path, force=force) as out:
        writer = JsonlWriter(out, message, **how)
        _write_all(writer, payloads)
    return writer


def write_parquet(
    payloads: Iterable[Buffer], path: str, schema: RowSchema, *, force: bool = False, **how: Any
) -> ParquetWriter:
    """Write a table, and read its footer back; `how` are the options of `ParquetWriter`. The finished writer."""
    arrow()
    made: list[ParquetWriter] = []
    with atomic_output(path, force=force, check=lambda hidden: check_parquet(hidden, made[0].records)) as out:
        made.append(ParquetWriter(out, schema, **how))
        _write_all(made[0], payloads)
    return made[0]


def survey_payloads(payloads: Iterable[Buffer], message: Message, path: str = "", *, lenient: bool = False) -> Survey:
    """Learn the schema of payloads; `path` names them in what is said of conflicts."""
    survey = Survey(message)
    for number, payload in enumerate(payloads):
        place = RowPlace(path, number)
        try:
            survey.add(read_row(payload, message, lenient=lenient), place)
        except RowError as error:
            raise RefusedError(f"{place if path else f'record {number}'}: {error}") from None
    return survey


def survey_jsonl(name: str, message: Message | None = None, **how: Any) -> RowSchema:
    """The schema of an input's lines; `how` are the options of `JsonlReader`."""
    reader = JsonlReader(name, message, **how)
    guess = SchemaInference(message)
    changes: list[RowChange] = []
    try:
        for number, value, row in reader.rows(changes):
            guess.add(value, row.message, number)
        return guess.schema()
    except RowError as error:
        raise RefusedError(f"'{name}' {error}") from None
