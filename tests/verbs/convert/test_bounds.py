"""What a conversion remembers is bounded by bytes, not only by how many names there are: names may be long."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit.messages import example

from tfrtool import convert
from tfrtool.framing.encode import frame
from tfrtool.payload.mapping.mapper import Mapper
from tfrtool.payload.mapping.record import NOT_TEXT
from tfrtool.payload.mapping.rules import Losses, NameMapping, Rules
from tfrtool.payload.rows.columns import MAX_NAMES, RowPlace, Survey
from tfrtool.payload.rows.convert import write_row
from tfrtool.payload.rows.json_schema import SchemaInference
from tfrtool.payload.rows.json_writer import JsonWriter
from tfrtool.payload.rows.row import Cell, Row, RowChange, RowError
from tfrtool.verbs.formats.jsonl import Changes

LONG = 1 << 15
MANY = 400
"""So many names of that length are 12.5 MiB."""

JSON = JsonWriter()
MAPPER = Mapper("example", "ofrecord", Rules())
NAMES = NameMapping(Rules(drop=("x*",)))
LOSSES, CHANGES = Losses(), Changes()


def row(name: str) -> Row:
    return Row("example", {name: Cell("bytes", [b"v"])})


def integers(name: str) -> Row:
    from array import array

    return Row("example", {name: Cell("int64", array("q", [1]))})


@pytest.mark.parametrize(
    "take",
    [
        lambda name: write_row(row(name)),
        lambda name: JSON.line(integers(name), []),
        lambda name: MAPPER.convert(example({name: ("int64_list", [1])}), 0),
        lambda name: NAMES.target(name.encode()),
        lambda name: LOSSES.add(name.encode(), NOT_TEXT, 0),
        lambda name: CHANGES.add([RowChange(name, NOT_TEXT)], 0),
    ],
    ids=["writing a row", "a line", "mapping", "choosing", "losses", "changes"],
)
def test_long_names_are_not_remembered(take: Callable[[str], Any]) -> None:
    take("warm")
    tracemalloc.start()
    for number in range(MANY):
        take(f"{number:x>{LONG}}")
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 6 << 20


def test_changes_to_features_with_long_names_are_reported() -> None:
    losses, changes = Losses(), Changes()
    for number in range(MANY):
        name = f"{number:x>{LONG}}"
        losses.add(name.encode(), NOT_TEXT, number)
        changes.add([RowChange(name, NOT_TEXT)], number)
    assert sum(loss.records for loss in losses.all()) == sum(one.records for one in changes) == MANY
    assert losses.all()[0].feature and losses.all()[-1].feature is None


def test_long_name_keeps_its_kind_after_a_change_of_kind() -> None:
    from array import array

    lines = JsonWriter()
    name = "n" * LONG
    assert json.loads(lines.line(integers(name), [])) == {name: 1}
    other = Row("example", {name: Cell("float", array("f", [0.5]))})
    assert json.loads(lines.line(other, [])) == {name: {"float": 0.5}}
    assert json.loads(lines.line(integers(name), [])) == {name: 1}


def test_too_many_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_NAMES >= 1 << 26
    monkeypatch.setattr("tfrtool.payload.rows.columns.MAX_NAMES", 10)
    guess, survey = SchemaInference(), Survey("example")
    for name in ("aaaa", "bbbb", "aaaa"):
        guess.add({name: 1}, "example", 1)
        survey.add(row(name), RowPlace("f", 1))
    for add in (lambda: guess.add({"cccc": 1}, "example", 2), lambda: survey.add(row("cccc"), RowPlace("f", 2))):
        with pytest.raises(RowError, match="more than 10 characters"):
            add()


def test_schema_keeps_renamed_feature_with_many_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tfrtool.payload.mapping.rules._MOST", 10)
    long = "l" * 2000
    first: dict[str, Any] = {"a": ("int64_list", [1]), long: ("int64_list", [1])}
    others: dict[str, Any] = {f"x{number}": ("int64_list", [1]) for number in range(50)}
    Path("tf").write_bytes(b"".join(map(frame, map(example, (first, others | {"b": ("int64_list", [1])})))))
    convert("tf", "out.jsonl", rename={"a": "A", long: "L"}, drop=["x*"], schema_out="schema")
    assert json.loads(Path("schema").read_bytes())["renamed"] == {"A": "a", "L": long}
    convert("out.jsonl", "back", to="tfrecord", schema="schema")
    assert convert("back", "again.jsonl", select=["a", long, "b"]).written == 2
