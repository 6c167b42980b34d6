"""JSON Lines: written whole, read line by line, and refused with the place."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.messages import example, examples, law, ofrecord, ordered, sequence
from kit.row_files import survey_jsonl, write_jsonl
from kit.sources import pieces

from tfrtool.errors import DamageError, RefusedError, WriteError
from tfrtool.framing.stream import MemoryStream
from tfrtool.payload.rows.columns import RowColumn, RowSchema
from tfrtool.payload.rows.convert import read_row
from tfrtool.sources.spool import LineTooLong, Spool, lines
from tfrtool.verbs.formats.jsonl import JsonlReader, JsonlWriter

ONE = ordered({"label": ("int64_list", [3]), "name": ("bytes_list", [b"cat"])})
TWO = ordered({"label": ("int64_list", [4]), "box": ("float_list", [0.5, 0.25])})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def read(path: Path, text: str | bytes, **how: Any) -> list[bytes]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return [payload for _, payload in JsonlReader(str(path), **how)]


def refusal(path: Path, text: str | bytes, **how: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        read(path, text, **how)
    return str(caught.value).replace(str(path), "F")


# Lines


@law
@given(st.lists(st.binary(max_size=9).filter(lambda b: b"\n" not in b), max_size=9), st.integers(1, 7), st.booleans())
def test_lines_are_those_between_line_feeds_however_they_come(some: list[bytes], step: int, ended: bool) -> None:
    data = b"\n".join(some) + b"\n" * (ended and bool(some))
    wanted = data.split(b"\n")
    wanted = wanted if wanted[-1] else wanted[:-1]
    assert list(lines(MemoryStream(data))) == wanted
    assert list(lines(Spool(pieces(data, step), "a"))) == wanted


def test_a_line_beyond_the_limit_is_refused_by_its_number() -> None:
    for data in (b"a\nbb\nccccc\nd", b"a\nbb\nccccc"):
        with pytest.raises(LineTooLong, match="line 3 has more than 4 bytes"):
            list(lines(MemoryStream(data), 4))


# Writing


def test_payloads_are_lines_and_come_back(path: Path) -> None:
    writer = write_jsonl([ONE, TWO], str(path), "example")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"label": 3, "name": "cat"},
        {"label": 4, "box": [0.5, 0.25]},
    ]
    assert (writer.records, list(writer.changes)) == (2, [])
    assert list(JsonlReader(str(path))) == [(1, ONE), (2, TWO)]


@settings(law, max_examples=40)
@given(st.lists(examples, max_size=4), st.sampled_from(["none", "gzip", "zlib"]))
def test_all_compressions_unpack_to_the_same_lines(payloads: list[bytes], compression: Any) -> None:
    import zlib

    plain, other = io.BytesIO(), io.BytesIO()
    for out, how in ((plain, "none"), (other, compression)):
        writer = JsonlWriter(out, "example", compression=how)  # type: ignore[arg-type]
        assert sum(map(writer.write, payloads)) >= 3 * len(payloads)
        writer.finish()
    undo = {"none": bytes, "gzip": gzip.decompress, "zlib": zlib.decompress}[compression]
    assert undo(other.getvalue()) == plain.getvalue()


def test_what_is_lost_is_counted_once_a_record(path: Path) -> None:
    payloads = [ofrecord({"a": ("int32_list", [n])}) + ofrecord({"b": ("int32_list", [n])}) for n in range(3)]
    writer = write_jsonl(payloads, str(path), "ofrecord", exact=False)
    what = "it is int32, which a reader without a schema takes for int64"
    assert [(c.feature, c.what, c.lost, c.records, c.first, c.last) for c in writer.changes] == [
        ("a", what, True, 3, 0, 2),
        ("b", what, True, 3, 0, 2),
    ]
    assert writer.changes.lost


def test_a_payload_of_another_kind_is_refused_and_nothing_is_published(path: Path) -> None:
    with pytest.raises(RefusedError, match="^record 1: the payload is not an Example: "):
        write_jsonl([ONE, ofrecord({"a": ("int32_list", [1])})], str(path), "example")
    assert list(path.parent.iterdir()) == []


def test_nothing_is_written_over(path: Path) -> None:
    write_jsonl([ONE], str(path), "example")
    with pytest.raises(WriteError, match="exists already"):
        write_jsonl([TWO], str(path), "example")
    assert [payload for _, payload in JsonlReader(str(path))] == [ONE]


# Reading


def test_marks_line_ends_and_blank_lines_are_passed_over(path: Path) -> None:
    text = '\ufeff{"label": 3, "name": "cat"}\r\n\r\n \n{"label": 4, "box": [0.5, 0.25]}'
    assert read(path, text) == read(path, gzip.compress(text.encode())) == [ONE, TWO]
    assert read(path, "") == []


def test_a_sequence_is_told_by_its_two_parts(path: Path) -> None:
    payload = sequence({"id": ("int64_list", [1])}, {"t": [("int64_list", [1])]})
    reader = JsonlReader(str(path))
    path.write_text('{"context": {"id": 1}, "feature_lists": {"t": [1]}}\n')
    assert [payload for _, payload in reader] == [payload]
    assert reader.message == "sequence_example"


def test_a_message_that_is_asked_for_is_made(path: Path) -> None:
    assert read(path, '{"a": {"double": 0.1}}', message="ofrecord") == [ofrecord({"a": ("double_list", [0.1])})]
    assert read(path, '{"context": {"id": 1}}', message="sequence_example") == [
        sequence({"id": ("int64_list", [1])}, {})
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": }\n', "'F' line 2, column 7: expecting value"),
        ('{"a": 1}\n{"a": 1', "'F' line 2, column 8: expecting ',' delimiter"),
        ('{"a": 1} {"a": 2}', "'F' line 1, column 10: extra data"),
        ('{"a": "\\u00e9", "b": [[1]]}', "'F' line 1, column 17: feature 'b': an array where a value is looked for"),
        (
            '{"context": {"a": 1, "b": [1, "x"]}, "feature_lists": {}}',
            "'F' line 1, column 22: feature 'b': numbers and",
        ),
        ('\n{"a": 1, "b": 2, "a": 3}', "'F' line 2, column 18: feature 'a': the name stands twice"),
        (b'{"a": "caf\xe9"}', "'F' line 1, column 11: a byte that is not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "'F' line 1, column 1: the text is UTF-16, and JSON Lines are UTF-8: `iconv"),
        ("[\n1]", "'F' line 1, column 2: expecting value; of one array of objects, `jq -c '.[]'` makes a line each"),
        (b"PAR1\xff", "'F' line 1, column 5: not JSON Lines: "),
        ('{"a": ' + "[" * 100_000, "'F' line 1, column 1: it nests too deep"),
    ],
)
def test_a_bad_line_is_refused_by_file_line_and_column(path: Path, text: str | bytes, said: str) -> None:
    assert refusal(path, text).startswith(said)


def test_a_line_that_is_too_long_is_refused(path: Path) -> None:
    assert refusal(path, '{}\n{"a": "' + "x" * 99, max_line=50) == "'F' line 2 has more than 50 bytes"


def test_a_stream_that_breaks_gives_what_it_held_and_then_says_so(path: Path) -> None:
    packed = gzip.compress(b'{"a": 1}\n' * 1000)
    path.write_bytes(packed[:-8])
    reading = iter(JsonlReader(str(path)))
    assert next(reading)[0] == 1
    with pytest.raises(DamageError):
        list(reading)


def test_changes_are_counted_by_line(path: Path) -> None:
    path.write_text('{"a": 1}\n{"a": true}\n{"a": false}\n')
    reader = JsonlReader(str(path))
    assert len(list(reader)) == 3
    assert [(c.feature, c.what, c.records, c.first, c.last) for c in reader.changes] == [
        ("a", "true and false became 1 and 0", 2, 2, 3)
    ]


def test_progress_comes_to_the_size_of_the_input(path: Path) -> None:
    for data in (b'{"a": 1}\n' * 1000, gzip.compress(b'{"a": 1}\n' * 1000)):
        path.write_bytes(data)
        steps: list[int] = []
        assert len(list(JsonlReader(str(path), progress=steps.append))) == 1000
        assert sum(steps) == len(data)


# The schema of lines


def test_a_survey_takes_integers_among_floats_for_floats(path: Path) -> None:
    path.write_text('{"a": 1, "b": [], "c": "x"}\n{"a": 2.5, "b": [1, 2]}\n{"a": "NaN", "c": "NaN", "d": null}\n')
    schema = survey_jsonl(str(path))
    assert schema == RowSchema(
        "example",
        {
            "a": RowColumn("float", True),
            "b": RowColumn("int64"),
            "c": RowColumn("bytes", True, True),
            "d": RowColumn(None),
        },
    )
    first = next(iter(JsonlReader(str(path), schema=schema)))[1]
    wanted = example({"a": ("float_list", [1]), "b": ("int64_list", []), "c": ("bytes_list", [b"x"])})
    assert read_row(first, "example") == read_row(wanted, "example")


def test_a_survey_refuses_a_feature_of_numbers_and_of_texts(path: Path) -> None:
    path.write_text('{"a": 1}\n\n{"a": "x"}\n')
    with pytest.raises(RefusedError) as caught:
        survey_jsonl(str(path))
    assert "feature 'a': it is of more than one kind: an integer in line 1, a text in line 3" in str(caught.value)


def test_a_survey_of_what_was_written_brings_the_same_kinds_back(path: Path) -> None:
    payloads = [ofrecord({"a": ("double_list", [0.1])}) + ofrecord({"b": ("int32_list", [n])}) for n in range(3)]
    write_jsonl(payloads, str(path), "ofrecord")
    assert survey_jsonl(str(path), "ofrecord").features == {
        "a": RowColumn("double", True),
        "b": RowColumn("int32", True),
    }
    assert [p for _, p in JsonlReader(str(path), "ofrecord")] == payloads
