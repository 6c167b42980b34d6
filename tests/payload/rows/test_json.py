"""Rows as JSON: what comes back, and what is said of what does not."""

from __future__ import annotations

import json
import math
import struct
from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.messages import an_of_feature, example, examples, int64s, law, names, ofrecord, ofrecords, sequence, sequences
from kit.row_files import said

from tfrtool.payload.rows.columns import RowPlace, RowSchema, Survey
from tfrtool.payload.rows.convert import read_row, write_row
from tfrtool.payload.rows.json_reader import BadJson, JsonParser
from tfrtool.payload.rows.json_writer import NAN_BITS, JsonWriter
from tfrtool.payload.rows.row import Cell, Message, Row, RowChange, RowError
from tfrtool.payload.rows.values import floats, string

Kinded = tuple[str, bytes]
canonical: st.SearchStrategy[Kinded] = st.one_of(
    examples.map(lambda p: ("example", p)),
    sequences.map(lambda p: ("sequence_example", p)),
    ofrecords.map(lambda p: ("ofrecord", p)),
)


def shown(payload: bytes, message: str = "example", schema: RowSchema | None = None, **how: Any) -> str:
    return JsonWriter(schema, **how).line(read_row(payload, message), [])  # type: ignore[arg-type]


def back(line: str, message: str = "example", schema: RowSchema | None = None, **how: Any) -> bytes:
    return write_row(JsonParser(message, schema, **how).row(line, []))  # type: ignore[arg-type]


def learnt(*rows: Row) -> RowSchema:
    survey = Survey(rows[0].message)
    for number, row in enumerate(rows):
        survey.add(row, RowPlace("a", number))
    return survey.schema()


@law
@given(canonical)
def test_a_payload_of_the_usual_spelling_comes_back_byte_for_byte_but_for_the_bits_of_nans(it: Kinded) -> None:
    message, payload = it
    changes: list[RowChange] = []
    row = read_row(payload, message)  # type: ignore[arg-type]
    line = JsonWriter().line(row, changes)
    assert line.count("\n") == 0
    assert len(line.splitlines()) == 1
    assert {change.what for change in changes} <= {NAN_BITS.words}
    again = JsonParser(message).row(line, changes)  # type: ignore[arg-type]
    assert write_row(again) == write_row(row) or any(change.what == NAN_BITS.words for change in changes)


@settings(law, max_examples=60)
@given(st.lists(examples, min_size=1, max_size=4) | st.lists(sequences, min_size=1, max_size=4))
def test_with_a_schema_all_comes_back_whatever_the_other_records_hold(payloads: list[bytes]) -> None:
    from tfrtool.payload.kinds import kind_of

    message = "sequence_example" if any(kind_of(p) == "sequence_example" for p in payloads) else "example"
    rows = [read_row(payload, message) for payload in payloads]  # type: ignore[arg-type]
    schema = learnt(*rows)
    assert RowSchema.from_json(json.loads(json.dumps(schema.to_json()))) == schema
    changes: list[RowChange] = []
    for row in rows:
        line = JsonWriter(schema).line(row, changes)
        again = JsonParser(schema=schema).row(line, changes)
        assert write_row(again) == write_row(row) or {c.what for c in changes} == {NAN_BITS.words}


@settings(law, max_examples=60)
@given(st.lists(st.dictionaries(names, an_of_feature, min_size=1, max_size=4).map(ofrecord), min_size=1, max_size=4))
def test_with_a_schema_doubles_and_int32_are_plain_and_come_back(payloads: list[bytes]) -> None:
    rows = [read_row(payload, "ofrecord") for payload in payloads]
    schema = learnt(*rows)
    for row in rows:
        changes: list[RowChange] = []
        again = JsonParser(schema=schema).row(JsonWriter(schema).line(row, changes), changes)
        assert write_row(again) == write_row(row) or {c.what for c in changes} == {NAN_BITS.words}


def test_values_stand_as_jq_expects_them() -> None:
    payload = example({"id": ("int64_list", [2**63 - 1])})
    assert shown(payload) == '{"id":9223372036854775807}'
    assert shown(example({"a": ("float_list", [1, 0.1, 1e-45, 16777216])})) == '{"a":[1.0,0.1,1e-45,16777216.0]}'
    assert shown(example({"a": ("bytes_list", ["Zoë".encode()])})) == '{"a":"Zoë"}'
    assert shown(example({"a": ("bytes_list", [b"ab", b"\xff"])})) == '{"a":[{"bytes":"YWI="},{"bytes":"/w=="}]}'
    assert shown(example({"a": ("bytes_list", [b"a\0"])})) == '{"a":{"bytes":"YQA="}}'
    assert shown(example({"a": ("float_list", [math.nan, 1])})) == '{"a":["NaN",1.0]}'


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        (None, "{}"),
        (("int64_list", []), '{"int64":[]}'),
        (("bytes_list", []), '{"bytes":[]}'),
        (("float_list", [-math.inf]), '{"float":"-Infinity"}'),
    ],
)
def test_what_would_read_back_as_another_kind_bears_its_own(feature: Any, text: str) -> None:
    payload = example({"a": feature})
    assert shown(payload) == f'{{"a":{text}}}'
    assert back(shown(payload)) == payload


def test_doubles_and_int32_bear_their_kind_unless_plain_values_are_asked_for() -> None:
    payload = ofrecord({"a": ("double_list", [0.1])})
    assert shown(payload, "ofrecord") == '{"a":{"double":0.1}}'
    changes: list[RowChange] = []
    assert JsonWriter(exact=False).line(read_row(payload, "ofrecord"), changes) == '{"a":0.1}'
    assert said(changes) == [("a", "it is double, which a reader without a schema takes for float", True)]


def test_a_list_is_an_array_throughout_where_a_schema_or_the_caller_says_so() -> None:
    one, two = (read_row(example({"a": ("int64_list", values)}), "example") for values in ([1], [1, 2]))
    assert JsonWriter(learnt(one, two)).line(one, []) == JsonWriter(lists="always").line(one, []) == '{"a":[1]}'
    assert JsonWriter(learnt(one)).line(one, []) == '{"a":1}'


def test_a_feature_of_another_kind_than_the_schema_says_bears_its_own() -> None:
    schema = learnt(read_row(example({"a": ("float_list", [1])}), "example"))
    payload = example({"a": ("int64_list", [3])})
    assert (
        shown(payload, schema=schema) == '{"a":{"int64":[3]}}' or shown(payload, schema=schema) == '{"a":{"int64":3}}'
    )
    assert back(shown(payload, schema=schema), schema=schema) == payload


def test_a_sequence_shows_a_value_a_step_or_an_array_a_step() -> None:
    payload = sequence({"id": ("int64_list", [7])}, {"t": [("int64_list", [1]), ("int64_list", [2])]})
    assert shown(payload, "sequence_example") == '{"context":{"id":7},"feature_lists":{"t":[1,2]}}'
    assert back(shown(payload, "sequence_example"), None) == payload  # type: ignore[arg-type]
    payload = sequence({}, {"t": [("int64_list", [1]), ("int64_list", []), None]})
    assert shown(payload, "sequence_example") == '{"context":{},"feature_lists":{"t":[[1],{"int64":[]},{}]}}'


def test_the_end_of_a_line_inside_a_text_is_escaped() -> None:
    assert string("a\n\x85\u2028\u2029") == '"a\\n\\u0085\\u2028\\u2029"'


@law
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=9))
def test_each_float_is_a_decimal_that_reads_back_and_none_of_fewer_digits_does(values: list[float]) -> None:
    for value, text in zip(values, floats(array("f", values)), strict=True):
        number = float(text.strip('"'))
        assert array("f", [number])[0] == value
        digits = len(text.strip('-"').partition("e")[0].replace(".", "").strip("0"))
        if math.isfinite(value) and digits > 1:
            assert array("f", [float(f"{value:.{digits - 2}e}")])[0] != value


@law
@given(st.lists(int64s, min_size=1, max_size=20))
def test_integers_stay_what_they_are(values: list[int]) -> None:
    payload = example({"a": ("int64_list", values)})
    assert json.loads(shown(payload, lists="always")) == {"a": values}
    assert back(shown(payload)) == payload


# What others write


@pytest.mark.parametrize(
    ("line", "feature"),
    [
        ('{"a": null}', None),
        ('{"a": [1, 2.5]}', ("float_list", [1, 2.5])),
        ('{"a": [1, "NaN"]}', ("float_list", [1, math.nan])),
        ('{"a": NaN, "b": 1}', ("bytes_list", [b"NaN"])),
        ('{"a": [true, false]}', ("int64_list", [1, 0])),
        ('{"a": ["x", {"bytes": "/w=="}]}', ("bytes_list", [b"x", b"\xff"])),
    ],
)
def test_values_tell_their_kind(line: str, feature: Any) -> None:
    found = JsonParser().row(line, []).features
    assert found.get("a") == (read_row(example({"a": feature}), "example").features["a"] if feature else None) or (
        "NaN" in line
    )


def test_with_a_schema_a_number_that_jq_shortened_is_a_float_still() -> None:
    schema = learnt(read_row(example({"a": ("float_list", [1.0])}), "example"))
    assert back('{"a": 1}', schema=schema) == example({"a": ("float_list", [1.0])})
    assert back('{"a": "NaN"}', schema=schema) == example({"a": ("float_list", [math.nan])})
    assert back('{"a": []}', schema=schema) == example({"a": ("float_list", [])})


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"a": 0.1234567890123}', "rounded to float32"),
        ('{"a": true}', "true and false became 1 and 0"),
        ('{"a": []}', "an empty list of no kind is a feature of no kind"),
        ('{"a": {"int32": 1}}', "int32 became int64"),
    ],
)
def test_what_is_read_otherwise_than_written_is_told(line: str, what: str) -> None:
    changes: list[RowChange] = []
    JsonParser("example").row(line, changes)
    assert [(change.feature, change.what) for change in changes] == [("a", what)]


def test_a_decimal_that_a_float_shows_as_is_no_loss() -> None:
    changes: list[RowChange] = []
    row = JsonParser().row('{"a": [0.1, 3.4028235e38, 1e-45, 16777216, 5e-324]}', changes)
    assert said(changes) == [("a", "rounded to float32", True)]
    assert row.features["a"] == Cell(
        "float", array("f", [0.1, struct.unpack("<f", b"\xff\xff\x7f\x7f")[0], 1e-45, 2**24, 0])
    )


@pytest.mark.parametrize("message", ["example", "ofrecord"])
@pytest.mark.parametrize("number", ["16777217", "9007199254740993", "1e-46"])
def test_a_number_that_is_rounded_is_told_however_it_is_written(number: str, message: Message) -> None:
    changes: list[RowChange] = []
    row = JsonParser(message).row(f'{{"a": [0.5, {number}]}}', changes)
    assert said(changes) == [("a", "rounded to float32", True)]
    assert row.features["a"] == Cell("float", array("f", [0.5, float(number)]))


@pytest.mark.parametrize(
    ("number", "told"),
    [("16777217", False), ("1e-46", False), ("9007199254740993", True), ("0e-400", False)],
)
def test_a_double_is_told_where_none_is_equal_to_the_number(number: str, told: bool) -> None:
    changes: list[RowChange] = []
    JsonParser("ofrecord").row(f'{{"a": {{"double": {number}}}}}', changes)
    assert said(changes) == [("a", "rounded to a double", True)] * told


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"a": 9223372036854775808}', "feature 'a': 9223372036854775808 is beyond int64"),
        ('{"a": 1e39}', "feature 'a': 1e+39 is beyond float32"),
        ('{"a": 1e999}', "feature 'a': a number beyond float"),
        ('{"a": [1, "x"]}', "feature 'a': numbers and texts in one list"),
        ('{"a": [[1]]}', "feature 'a': an array where a value is looked for"),
        ('{"a": [null]}', "feature 'a': null where a value is looked for"),
        ('{"a": {"b": 1}}', "feature 'a': an object with the key 'b'; a value may be an object of one key: bytes, "),
        ('{"a": {"bytes": "?"}}', "feature 'a': no base64"),
        ('{"a": {"int64": "x"}}', "feature 'a': a text where int64 is looked for"),
        ('{"a": {"int64": 1.5}}', "feature 'a': a number where int64 is looked for"),
        (
            '{"a": {"int64": 1e18}}',
            "feature 'a': 1e+18 where int64 is looked for: from 2^53 on, write it without a point",
        ),
        ('{"a": {"int32": 2147483648}}', "feature 'a': 2147483648 is beyond int32"),
        ('{"a": {"double": 0.1}}', "feature 'a': 0.1 is a double that no float32 is equal to"),
        ('{"a": 1, "a": 2}', "feature 'a': the name stands twice in one object"),
        ('{"a": "\\ud800"}', "feature 'a': half a surrogate pair, which is no text"),
        ('{"\\ud800": 1}', "half a surrogate pair in the name"),
    ],
)
def test_a_value_that_fits_nowhere_is_refused_by_its_name(line: str, why: str) -> None:
    with pytest.raises(RowError) as caught:
        JsonParser("example").row(line, [])
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("line", "column"),
    [("{", 2), ('{"a": }', 7), ("[1]", 1), ("3", 1), ("[" * 100_000, 1), ('{"a": ' + "1" * 5000 + "}", 1)],
)
def test_what_is_no_json_is_refused_by_its_column(line: str, column: int) -> None:
    with pytest.raises(BadJson) as caught:
        JsonParser().row(line, [])
    assert caught.value.column == column


@pytest.mark.parametrize(("double", "lost"), [("exact", []), ("round", [])])
def test_doubles_that_are_float32_values_fit_an_example(double: str, lost: list[RowChange]) -> None:
    changes: list[RowChange] = []
    row = JsonParser("example", double=double).row('{"a": {"double": [0.5, "NaN"]}}', changes)  # type: ignore[arg-type]
    assert (row.features["a"].kind, changes) == ("float", lost)
    with pytest.raises(RowError, match="an Example has floats only"):
        JsonParser("example", double="refuse").row('{"a": {"double": 0.5}}', [])


@pytest.mark.parametrize("value", [None, [], {"tfrtool_rows": 2}, {"tfrtool_rows": 1, "message": "x"}])
def test_what_is_no_schema_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="no schema of rows"):
        RowSchema.from_json(value)
