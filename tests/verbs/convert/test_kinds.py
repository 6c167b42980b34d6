"""A feature keeps its kind on every way and back, whatever shares its name; no other message is taken for rows."""

from __future__ import annotations

import json
import os
import struct
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    a_list,
    entry,
    example,
    int32s,
    int64s,
    law,
    numbers,
    ofrecord,
    ordered,
    raw_example,
    sized,
    tag,
)
from pytest import MonkeyPatch, fixture, mark, param, raises

from tfrtool import DamageError, OpenError, RefusedError, WriteError, convert, records
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.rows.convert import read_row
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import convert_options

parquet = param("parquet", marks=[mark.parquet, mark.skipif(find_spec("pyarrow") is None, reason="no pyarrow")])
both_rows = mark.parametrize("rows", ["jsonl", parquet])


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tfrecord(*payloads: bytes) -> str:
    Path("tf").write_bytes(b"".join(map(frame, payloads)))
    return "tf"


def lines(*texts: str) -> str:
    Path("rows.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return "rows.jsonl"


# By a schema

some_names = st.sampled_from(["a", "b", "c"])
of_rows = st.dictionaries(
    some_names,
    a_list("int32_list", int32s) | a_list("double_list", st.floats(width=32)) | a_list("int64_list", int64s),
    min_size=1,
)


@mark.slow
@law
@given(of_rows, st.permutations(["a", "b", "c", "d"]))
def test_kinds_are_restored_for_swapped_names(row: Any, new: list[str]) -> None:
    with TemporaryDirectory() as where:
        a, b, c, kinds = (f"{where}/{name}" for name in ("a", "b", "c", "kinds"))
        Path(a).write_bytes(ofrecord_frame(ofrecord(row)))
        convert(a, b, format="ofrecord", to="tfrecord", schema_out=kinds, rename=dict(zip("abcd", new, strict=True)))
        convert(b, c, to="ofrecord", schema=kinds)
        assert Path(c).read_bytes() == Path(a).read_bytes()


def test_requested_kind_applies_to_the_new_name() -> None:
    tfrecord(ordered({"a": ("int64_list", [1]), "b": ("int64_list", [2])}))
    convert("tf", "of", to="ofrecord", rename={"a": "b", "b": "a"}, types={"a": "int32"})
    (row,) = (read_row(payload, "ofrecord") for payload in records("of", format="ofrecord"))
    assert {name: cell.kind for name, cell in row.features.items()} == {"b": "int64", "a": "int32"}


def test_a_schema_is_not_replaced_while_it_is_read() -> None:
    with raises(ValueError, match="`schema_out` would replace the schema that `schema` reads"):
        convert(tfrecord(b""), "out", schema="./kinds", schema_out="kinds", force=True)


# By lines

texts = st.sampled_from([b"NaN", b"Infinity", b"-Infinity", b"a", b"1", b""])
of_any_kind = (
    a_list("int32_list", int32s)
    | a_list("double_list", st.floats())
    | a_list("int64_list", int64s)
    | a_list("float_list", st.floats(width=32, allow_nan=False))
    | a_list("bytes_list", texts)
)


@mark.slow
@law
@given(st.lists(st.dictionaries(some_names, of_any_kind, min_size=1), min_size=1, max_size=5))
def test_lines_without_schema_keep_changing_kinds(rows: list[Any]) -> None:
    with TemporaryDirectory() as where:
        a, b, c = (f"{where}/{name}" for name in ("a", "b.jsonl", "c"))
        Path(a).write_bytes(b"".join(ofrecord_frame(ofrecord(row)) for row in rows))
        done = convert(a, b, format="ofrecord")
        convert(b, c, to="ofrecord")
        assert done.lost or Path(c).read_bytes() == Path(a).read_bytes()


def test_unquoted_nan_is_a_float_and_reported() -> None:
    lines('{"a": NaN, "b": [1, -Infinity]}', '{"a": 0.5, "b": [2.5]}')
    (report,) = convert("rows.jsonl", "out", to="tfrecord").reports
    (first, _) = (read_row(payload, "example").features for payload in records("out"))
    assert (first["a"].kind, struct.pack("<f", first["b"].values[1])) == ("float", struct.pack("<f", float("-inf")))
    assert {(loss.feature, loss.what[:14], loss.lost) for loss in report.losses} >= {
        (b"a", "NaN or an infi", False),
        (b"b", "NaN or an infi", False),
    }


def test_example_never_reads_as_a_sequence_example() -> None:
    tfrecord(raw_example(entry(b"context", sized(3)), entry(b"feature_lists", sized(3))))
    with raises(RefusedError, match="of these two names alone read as a SequenceExample; `schema_out`"):
        convert("tf", "out.jsonl")
    convert("tf", "out.jsonl", schema_out="kinds")
    convert("out.jsonl", "back", to="tfrecord", schema="kinds")
    assert Path("back").read_bytes() == Path("tf").read_bytes()


# Other messages

EXAMPLE = example({"i": ("int64_list", [1])})
NESTED = sized(1, raw_example(entry(b"x", numbers(3, 1))))
OTHERS = {
    "nested": NESTED,
    "nested and more": NESTED + sized(2, EXAMPLE),
    "bare features": entry(b"x", numbers(3, 1, 2, 3, 4, 5, 6, 7, 8)),
    "another": tag(9, 0) + b"\5" + sized(12, b"text"),
}


@both_rows
@mark.parametrize("unknown", ["refuse", "drop"])
@mark.parametrize("other", OTHERS)
def test_another_message_is_damage_for_rows_and_ofrecord(rows: str, other: str, unknown: Any) -> None:
    tfrecord(EXAMPLE, OTHERS[other], EXAMPLE)
    for to in (rows, "ofrecord"):
        with raises(DamageError, match="payload at .*: the payload is no Example"):
            convert("tf", "out", to=to, unknown=unknown)
    (report,) = convert("tf", f"out.{rows}", unknown=unknown, skip_damaged=True).reports
    assert (report.written, report.skipped) == (2, 1)


@both_rows
@mark.parametrize("other", OTHERS)
def test_file_of_another_message_gives_no_rows(rows: str, other: str) -> None:
    tfrecord(OTHERS[other], OTHERS[other])
    with raises(DamageError, match="the payload is no Example: (?!.*at byte .*at byte)"):
        convert("tf", f"out.{rows}")
    assert os.listdir() == ["tf"]


# What is no option, and what cannot be an output

NO_OPTIONS: list[dict[str, Any]] = [
    *({name: "Keep"} for name in ("to", "source", "compress", "double", "int", "no_kind", "empty", "unknown")),
    {"sequence": "flat"},
    {"format": "of"},
    {"compression": "bz2"},
    {"skip": -1},
    {"n": -1},
    {"n": 1.5},
    {"shards": "2"},
    {"shard_size": 0},
    {"rename": {"a": 1}},
    {"select": "label"},
    {"drop": "label"},
    {"where": "label == 2"},
]


@mark.parametrize("how", NO_OPTIONS, ids=str)
def test_value_error_names_the_invalid_option(how: Any) -> None:
    with raises(ValueError, match=f"^{next(iter(how))} is "):
        convert_options(**how)


@mark.parametrize("how", [{"shards": 2}, {"records_per_shard": 1}, {"shard_size": 9}])
def test_shards_into_a_pipe_are_refused_first(how: Any) -> None:
    with raises(ValueError, match="takes one output alone"):
        Conversion([tfrecord(EXAMPLE)], "-", convert_options(**how))


def test_existing_schema_file_stops_a_pipe_first() -> None:
    tfrecord(EXAMPLE)
    Path("kinds").write_text("old")
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with raises(WriteError, match="'kinds' exists already"):
        convert("tf", "pipe", to="ofrecord", schema_out="kinds")
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_kept_empty_records_are_reported() -> None:
    (report,) = convert(tfrecord(EXAMPLE, b""), "out", to="ofrecord", empty="keep").reports
    assert [(loss.records, loss.lost) for loss in report.losses] == [(1, False)]
    assert json.dumps(report.losses[0].what).count("OneFlow stops") == 1


# What is read is told, where it comes out otherwise

LIST = numbers(3, 1)
RESPELLED = {
    "a name behind its value": raw_example(sized(1, sized(2, LIST), sized(1, b"a"))),
    "two names": raw_example(sized(1, sized(1, b"b"), sized(1, b"a"), sized(2, LIST))),
    "no name": raw_example(sized(1, sized(2, LIST))),
    "a drawn-out size of an entry": sized(1, b"\x0a\x8a\x00" + entry(b"a", LIST)[2:]),
    "a drawn-out size of all": b"\x0a\x8c\x00" + entry(b"a", LIST),
    "a drawn-out tag": sized(1, b"\x8a\x00" + entry(b"a", LIST)[1:]),
}


@mark.parametrize("payload", RESPELLED.values(), ids=RESPELLED)
def test_noncanonical_encoding_is_reported(payload: bytes) -> None:
    (report,) = convert(tfrecord(payload), "out", to="ofrecord").reports
    assert [(loss.feature, loss.what[:17], loss.lost) for loss in report.losses] == [(None, "spelled otherwise", False)]


@mark.parametrize(
    ("payload", "how", "why"),
    [
        (
            raw_example(entry(b"a", LIST), entry(b"a", sized(1, b""))),
            {},
            "it is int64 in an earlier record or in this one",
        ),
        (
            raw_example(entry(b"p/a", LIST), entry(b"a", LIST)),
            {"strip_prefix": "p/"},
            "two features would be named 'a'",
        ),
    ],
)
def test_value_outside_the_schema_names_its_record(payload: bytes, how: Any, why: str) -> None:
    with raises(RefusedError, match=why):
        convert(tfrecord(payload), "out", to="ofrecord", schema_out="kinds", **how)


# Lines that are broken

GOOD = '{"a": 1}'


@mark.parametrize(
    ("broken", "place"),
    [
        (b'{"a": "caf\xe9"}', "line 2, column 11: a byte that is not UTF-8"),
        (b"# a comment", "line 2, column 1: expecting value"),
        (b"{bad", "line 2, column 2: expecting property name"),
    ],
)
@mark.parametrize("first", [GOOD.encode(), b""], ids=["behind a good line", "first"])
def test_invalid_line_is_reported_or_skipped(broken: bytes, place: str, first: bytes) -> None:
    Path("rows.jsonl").write_bytes(b"\n".join([first, broken, GOOD.encode(), b""]))
    with raises(RefusedError, match=f"'rows.jsonl' {place}"):
        convert("rows.jsonl", "out", to="tfrecord")
    (report,) = convert("rows.jsonl", "out", to="tfrecord", skip_damaged=True).reports
    assert (report.written, report.skipped) == (1 + bool(first), 1)


@mark.parametrize("data", [b"caf\xe9,1\n", b"hello\n", b"\0" * 64])
def test_other_text_is_not_detected_as_lines(data: bytes) -> None:
    Path("rows.csv").write_bytes(data)
    with raises(DamageError, match="^(?!.*line 1)"):
        convert("rows.csv", "out", to="tfrecord")


# A schema of rows

ROW = {"image/label": ("int64_list", [1]), "w": ("float_list", [0.5])}


@both_rows
@mark.parametrize("how", [{"rename": {"w": "image/label", "image/label": "w"}}, {"strip_prefix": "image/"}], ids=str)
def test_a_schema_of_rows_gives_names_back(rows: str, how: Any) -> None:
    tfrecord(ordered(ROW), ordered(ROW))
    convert("tf", f"out.{rows}", schema_out="kinds", **how)
    convert(f"out.{rows}", "back", to="tfrecord", schema="kinds")
    assert Path("back").read_bytes() == Path("tf").read_bytes()


@mark.parquet
@mark.skipif(find_spec("pyarrow") is None, reason="no pyarrow")
def test_parquet_is_read_by_its_own_schema() -> None:
    tfrecord(ordered(ROW))
    convert("tf", "out.parquet", schema_out="kinds")
    convert("out.parquet", "back", to="tfrecord", schema="kinds")
    convert("tf", "less.parquet", select=["w"])
    with raises(
        RefusedError,
        match="'less.parquet' says the kinds of its columns itself, otherwise than the schema; leave `schema` out",
    ):
        convert("less.parquet", "less", to="tfrecord", schema="kinds")


@mark.parametrize("renamed", [[], {"a": 1}, {"a": "\ud800"}, {"\udcff": "a"}], ids=ascii)
def test_schema_with_invalid_names_is_refused(renamed: Any) -> None:
    lines(GOOD)
    Path("kinds").write_text(json.dumps({"tfrtool_rows": 1, "message": "example", "renamed": renamed}))
    with raises(OpenError, match="the schema 'kinds' cannot be used: no schema of rows: .*'renamed'"):
        convert("rows.jsonl", "out", to="tfrecord", schema="kinds")


@mark.parametrize("numbers_in", [b"\x0a\x05\xff\xff\xff\xff\x0f", b"\x0a\x05\x85\x80\x80\x80\x10"])
def test_reencoded_int32_values_are_reported(numbers_in: bytes) -> None:
    Path("of").write_bytes(ofrecord_frame(entry(b"a", sized(4, numbers_in))))
    (report,) = convert("of", "out", to="tfrecord", format="ofrecord").reports
    whats = {loss.what.partition(" ")[0] for loss in report.losses}
    assert whats == {"int32", "numbers"}
