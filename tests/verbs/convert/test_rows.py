"""Conversions whose inputs or outputs are rows: JSON Lines and Parquet, between themselves and with record files."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.damage import flip
from kit.forked import forked
from kit.messages import (
    entry,
    event,
    example,
    examples,
    law,
    numbers,
    ofrecord,
    ofrecords,
    ordered,
    raw_example,
    sequence,
    sequences,
)
from kit.program import json_lines, on_terminal, run, shell
from pytest import MonkeyPatch, fixture, mark, param, raises

from tfrtool import DamageError, RefusedError, UnsupportedError, WriteError, convert, records
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.rows.convert import read_row
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import convert_options

needs_pyarrow = mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
parquet = param("parquet", marks=[mark.parquet, needs_pyarrow])
both_rows = mark.parametrize("rows", ["jsonl", parquet])

EXAMPLES = [ordered({"label": ("int64_list", [n]), "name": ("bytes_list", [b"a\xff", b""])}) for n in range(5)]
SEQUENCES = [sequence({"id": ("int64_list", [n])}, {"words": [("bytes_list", [b"x"])] * n}) for n in range(3)]
OFRECORDS = [ofrecord({"n": ("int32_list", [n]), "d": ("double_list", [n / 10, 1e300])}) for n in range(3)]


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, payloads in {"tf": EXAMPLES, "seq": SEQUENCES}.items():
        Path(name).write_bytes(b"".join(map(frame, payloads)))
    Path("of").write_bytes(b"".join(map(ofrecord_frame, OFRECORDS)))
    return tmp_path


def lines(*objects: Any, name: str = "rows.jsonl") -> str:
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in objects))
    return name


def objects(name: str) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def features(name: str) -> list[dict[str, tuple[str | None, list[Any]]]]:
    return [
        {key: (cell.kind, list(cell.values)) for key, cell in read_row(payload, "example").features.items()}
        for payload in records(name)
    ]


def nothing_is_made(error: type[Exception], match: str, *inputs: str, **how: Any) -> None:
    before = sorted(os.listdir())
    with raises(error, match=match):
        convert(list(inputs), **{"output": "out", **how})
    assert sorted(os.listdir()) == before


# There and back


@both_rows
@mark.parametrize("name", ["tf", "seq", "of"])
def test_rows_round_trip_to_identical_records(name: str, rows: str) -> None:
    convert(name, f"out.{rows}")
    convert(f"out.{rows}", "back", to="ofrecord" if name == "of" else "tfrecord")
    assert Path("back").read_bytes() == Path(name).read_bytes()


@mark.parquet
@needs_pyarrow
@mark.parametrize("name", ["tf", "seq", "of"])
def test_json_lines_and_parquet_convert_both_ways(name: str) -> None:
    convert(name, "a.jsonl")
    convert("a.jsonl", "a.parquet")
    convert("a.parquet", "b.jsonl")
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()


def come_back(payloads: list[bytes], framed: Callable[[bytes], bytes], to: Any) -> None:
    """Records that became lines by a schema, and records by it again, are what they were, but for odd NaNs."""
    with TemporaryDirectory() as here:
        a, rows, back, kinds = (f"{here}/{name}" for name in ("a", "rows.jsonl", "back", "kinds"))
        Path(a).write_bytes(b"".join(map(framed, payloads)))
        (report,) = convert(a, rows, schema_out=kinds).reports
        convert(rows, back, to=to, schema=kinds, **({"empty": "keep"} if to == "ofrecord" else {}))
        if not report.losses:
            assert Path(back).read_bytes() == Path(a).read_bytes()


@mark.slow
@law
@given(st.lists(examples, min_size=1, max_size=4) | st.lists(sequences, min_size=1, max_size=4))
def test_lines_keep_examples_and_sequence_examples(payloads: list[bytes]) -> None:
    come_back(payloads, frame, "tfrecord")


@mark.slow
@law
@given(st.lists(ofrecords, min_size=1, max_size=4))
def test_lines_keep_ofrecords(payloads: list[bytes]) -> None:
    come_back(payloads, ofrecord_frame, "ofrecord")


def test_schema_gives_plain_lines_and_restores_kinds() -> None:
    convert("of", "plain.jsonl", schema_out="kinds.json")
    assert objects("plain.jsonl")[1] in ({"n": 1, "d": [0.1, 1e300]},)
    convert("plain.jsonl", "back", to="ofrecord", schema="kinds.json")
    assert Path("back").read_bytes() == Path("of").read_bytes()


def test_schema_of_lines_is_written_and_read() -> None:
    lines({"x": 1}, {"x": 1.5})
    convert("rows.jsonl", "out", to="tfrecord", schema_out="kinds.json")
    assert json.loads(Path("kinds.json").read_text())["features"]["x"]["kind"] == "float"
    lines({"x": 3}, name="more.jsonl")
    convert("more.jsonl", "more", to="tfrecord", schema="kinds.json")
    assert features("more") == [{"x": ("float", [3.0])}]


def test_schema_of_the_wrong_type_is_refused() -> None:
    convert("of", "out.tfrecord", double="bytes", schema_out="sides.json")
    convert("of", "out.jsonl", schema_out="rows.json")
    nothing_is_made(Exception, "it is no schema of rows", "out.jsonl", to="ofrecord", schema="sides.json")
    nothing_is_made(Exception, "it is one of rows", "out.tfrecord", to="ofrecord", schema="rows.json")


@mark.parquet
@needs_pyarrow
def test_a_table_has_the_columns_of_its_schema_and_no_others() -> None:
    convert("of", "out.jsonl", schema_out="rows.json")
    said = "'tf' record 0 at byte 0: feature 'label': it is not in the schema; convert without `schema`"
    nothing_is_made(RefusedError, said, "tf", to="parquet", schema="rows.json")
    assert convert("of", "of.parquet", schema="rows.json").written == 3
    said = "a SequenceExample, and the schema is that of an OFRecord"
    nothing_is_made(RefusedError, said, "seq", to="parquet", schema="rows.json")


# Kinds of what others wrote


def test_integers_among_floats_become_floats() -> None:
    lines({"x": 1, "n": 7}, {"x": 1.5, "n": 8})
    (report,) = convert("rows.jsonl", "out", to="tfrecord").reports
    assert features("out") == [
        {"x": ("float", [1.0]), "n": ("int64", [7])},
        {"x": ("float", [1.5]), "n": ("int64", [8])},
    ]
    assert [(loss.feature, loss.records, loss.lost) for loss in report.losses] == [(b"x", 1, False)]


def test_integers_among_floats_in_other_inputs() -> None:
    lines({"x": 1}, name="a.jsonl")
    lines({"x": 1.5}, name="b.jsonl")
    convert(["a.jsonl", "b.jsonl"], "out", to="tfrecord")
    assert features("out") == [{"x": ("float", [1.0])}, {"x": ("float", [1.5])}]


def test_values_of_incompatible_kinds_keep_their_kind() -> None:
    lines({"x": 1}, {"x": "a"})
    convert("rows.jsonl", "out", to="tfrecord")
    assert features("out") == [{"x": ("int64", [1])}, {"x": ("bytes", [b"a"])}]


def test_types_option_sets_the_kind_in_lines() -> None:
    lines({"x": 1}, {"x": 2})
    convert("rows.jsonl", "out", to="tfrecord", types={"x": "float"})
    assert features("out") == [{"x": ("float", [1.0])}, {"x": ("float", [2.0])}]
    convert("rows.jsonl", "wide.jsonl", types={"x": "double"})
    assert objects("wide.jsonl") == [{"x": {"double": 1.0}}, {"x": {"double": 2.0}}]


def test_decimals_beyond_float_precision_are_a_loss() -> None:
    lines({"x": 0.123456789012})
    done = convert("rows.jsonl", "out", to="tfrecord")
    assert done.lost
    assert not convert("rows.jsonl", "wide.jsonl", types={"x": "double"}).lost


@both_rows
def test_doubles_in_rows_follow_the_rules_for_doubles(rows: str) -> None:
    convert("of", f"of.{rows}")
    nothing_is_made(
        RefusedError, "feature 'd': value 1 of it, 1e\\+300, is no float; double=", f"of.{rows}", to="tfrecord"
    )
    convert(f"of.{rows}", "bytes", to="tfrecord", double="bytes")
    assert features("bytes")[0]["d"][0] == "bytes"
    convert(f"of.{rows}", "without", to="tfrecord", drop=["d"])
    assert features("without")[2] == {"n": ("int64", [2])}


@both_rows
@mark.parametrize(("how", "kind"), [({}, "int64"), ({"int": "int32"}, "int32"), ({"int": "auto"}, "int32")])
def test_integers_of_rows_get_the_requested_kind(rows: str, how: dict[str, Any], kind: str) -> None:
    convert(lines({"n": 1}, {"n": 2}), f"in.{rows}")
    convert(f"in.{rows}", "out", to="ofrecord", **how)
    assert [read_row(payload, "ofrecord").features["n"].kind for payload in records("out")] == [kind] * 2


def test_auto_leaves_int64_where_a_value_needs_it() -> None:
    convert(lines({"n": 1}, {"n": 2**40}), "out", to="ofrecord", int="auto")
    assert [read_row(payload, "ofrecord").features["n"].kind for payload in records("out")] == ["int64"] * 2


@both_rows
def test_empty_rows_are_refused_or_skipped_in_ofrecord(rows: str) -> None:
    convert(lines({"n": 1}, {}), f"in.{rows}")
    nothing_is_made(RefusedError, "an OFRecord of no features", f"in.{rows}", to="ofrecord")
    done = convert(f"in.{rows}", "out", to="ofrecord", empty="skip")
    assert (done.written, done.lost) == (1, True)


@mark.parquet
@needs_pyarrow
def test_foreign_parquet_becomes_records() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = {
        "i": pa.array([1, None], pa.int32()),
        "s": ["a", None],
        "l": [[1.5], []],
        "when": pa.array([0, 1], pa.date32()),
    }
    pq.write_table(pa.table(table), "t.parquet")
    nothing_is_made(RefusedError, "column 'when' is of date32", "t.parquet", to="tfrecord")
    convert("t.parquet", "out", to="tfrecord", drop=["when"])
    assert features("out") == [
        {"i": ("int64", [1]), "s": ("bytes", [b"a"]), "l": ("float", [1.5])},
        {"l": ("float", [])},
    ]


# Which records and features


@both_rows
def test_rows_are_filtered_and_selected_both_ways(rows: str) -> None:
    how: dict[str, Any] = {"where": ["label > 0"], "skip": 1, "n": 2, "select": ["label"], "rename": {"label": "y"}}
    convert("tf", f"out.{rows}", **how)
    convert("tf", f"all.{rows}")
    convert(f"all.{rows}", f"chosen.{rows}", **how)
    for name in ("out", "chosen"):
        convert(f"{name}.{rows}", name, to="tfrecord")
        assert features(name) == [{"y": ("int64", [2])}, {"y": ("int64", [3])}]


def test_unselected_parts_of_a_line_are_ignored() -> None:
    lines({"meta": {"a": [1, {}]}, "x": 1})
    nothing_is_made(RefusedError, "line 1, column 2: feature 'meta'", "rows.jsonl", to="tfrecord")
    convert("rows.jsonl", "out", to="tfrecord", drop=["meta"])
    assert features("out") == [{"x": ("int64", [1])}]


@both_rows
def test_unused_name_is_reported_for_rows(rows: str) -> None:
    convert(lines({"x": 1}), f"in.{rows}")
    (report,) = convert(f"in.{rows}", "out", to="tfrecord", drop=["y"]).reports
    assert [(loss.feature, loss.what) for loss in report.losses] == [(b"y", "named, and in no record")]


@both_rows
def test_sequence_example_is_flattened_on_request(rows: str) -> None:
    convert("seq", f"out.{rows}", sequence="flatten")
    convert(f"out.{rows}", "flat", to="tfrecord")
    assert features("flat")[2]["words/lengths"] == ("int64", [1, 1])
    convert("seq", f"seq.{rows}")
    nothing_is_made(RefusedError, "a SequenceExample, which has no counterpart", f"seq.{rows}", to="ofrecord")


# Several inputs, several outputs


@both_rows
def test_shards_of_rows_are_contiguous_and_keep_their_ending(rows: str) -> None:
    done = convert("tf", f"out.{rows}", shards=2)
    assert done.outputs == [f"out-0000{n}-of-00002.{rows}" for n in range(2)]
    convert(done.outputs, "back", to="tfrecord")
    assert list(records("back")) == EXAMPLES


def test_lines_fill_shards_to_the_byte() -> None:
    convert("tf", "out.jsonl")
    size = len(Path("out.jsonl").read_bytes().splitlines(keepends=True)[0])
    done = convert("tf", "cut.jsonl", shard_size=2 * size)
    assert [len(objects(name)) for name in done.outputs] == [2, 2, 1]


@both_rows
def test_each_input_has_its_own_output_in_a_directory(rows: str) -> None:
    lines({"x": 1}, name="a.jsonl")
    lines({"x": 1.5}, name="b.jsonl")
    done = convert(["a.jsonl", "b.jsonl"], "made/", to=rows)
    assert done.outputs == [f"made/a.{rows}", f"made/b.{rows}"]


def test_output_suffix_shows_format_and_compression() -> None:
    os.mkdir("in")
    convert("tf", "in/a.jsonl")
    convert("tf", "in/b.jsonl.gz")
    convert("tf", "in/c.tfrecord")
    assert convert(["in"], "made/", to="jsonl").outputs == ["made/a.jsonl", "made/b.jsonl", "made/c.jsonl"]


@both_rows
def test_rows_without_selected_features_are_kept(rows: str) -> None:
    lines({"n": {"int32": 1}, "m": 2}, {"m": 2}, {"n": {}, "m": 3})
    done = convert("rows.jsonl", f"out.{rows}", select=["n"])
    assert (done.written, [loss.what for loss in done.reports[0].losses if "OneFlow" in loss.what]) == (3, [])


def test_lines_with_other_compression_are_refused() -> None:
    lines({"x": 1})
    said = "gzip data was asked for, and this is none: JSON text .*; leave `compression` out"
    nothing_is_made(RefusedError, said, "rows.jsonl", to="tfrecord", source="jsonl", compression="gzip")


def test_lines_of_examples_and_of_ofrecords_may_be_joined() -> None:
    assert convert(["tf", "of"], "out.jsonl").written == 8
    nothing_is_made(RefusedError, "a SequenceExample after an Example", "tf", "seq", to="jsonl")


@mark.parquet
@needs_pyarrow
def test_parquet_conflict_names_both_records() -> None:
    Path("a").write_bytes(frame(example({"x": ("int64_list", [1])})))
    Path("b").write_bytes(frame(example({"x": ("bytes_list", [b"1"])})))
    nothing_is_made(RefusedError, "int64 in 'a' record 0, bytes in 'b' record 0.*`drop` leaves", "a", "b", to="parquet")


@mark.parquet
@needs_pyarrow
def test_parquet_of_both_messages_has_all_kinds() -> None:
    assert convert(["tf", "of"], "out.parquet").written == 8
    convert("out.parquet", "out.jsonl")
    assert objects("out.jsonl")[1]["label"] == 1
    assert objects("out.jsonl")[6]["n"] == {"int32": 1}
    nothing_is_made(RefusedError, "a SequenceExample after an Example", "tf", "seq", to="parquet")


# What cannot be a row


def test_unknown_fields_are_refused_or_dropped() -> None:
    Path("odd").write_bytes(frame(EXAMPLES[0] + b"\x28\x01"))
    nothing_is_made(RefusedError, "'odd' record 0 at byte 0: .*field 5.*unknown=.drop.", "odd", to="jsonl")
    assert convert("odd", "out.jsonl", unknown="drop").lost


def test_an_ofrecord_of_unknown_fields_is_no_damage() -> None:
    Path("odd").write_bytes(b"".join(map(ofrecord_frame, [OFRECORDS[0], OFRECORDS[1] + b"\x28\x01", OFRECORDS[2]])))
    nothing_is_made(RefusedError, "'odd' record 1 at byte .*unknown=.drop.", "odd", to="jsonl")
    done = convert("odd", "out.jsonl", unknown="drop")
    assert (done.written, done.reports[0].status, done.lost) == (3, "clean", True)


def test_another_message_is_damage_with_offset() -> None:
    Path("mixed").write_bytes(b"".join(map(frame, [*EXAMPLES, event(file_version="brain.Event:2"), *EXAMPLES])))
    nothing_is_made(DamageError, "payload at", "mixed", to="jsonl")
    done = convert("mixed", "out.jsonl", skip_damaged=True)
    assert (done.written, done.reports[0].skipped) == (10, 1)


@both_rows
def test_damage_stops_conversion_to_rows_unless_skipped(rows: str) -> None:
    Path("hurt").write_bytes(flip(Path("tf").read_bytes(), 14))
    nothing_is_made(DamageError, "data-crc", "hurt", to=rows)
    assert convert("hurt", f"out.{rows}", skip_damaged=True).written == 4


def test_invalid_line_stops_or_is_skipped() -> None:
    Path("bad.jsonl").write_text('{"x":1}\n{"x":oops}\n{"x":2}\n')
    nothing_is_made(RefusedError, "'bad.jsonl' line 2, column 6: expecting value", "bad.jsonl", to="tfrecord")
    (report,) = convert("bad.jsonl", "out", to="tfrecord", skip_damaged=True).reports
    assert (report.written, report.skipped, report.losses[0].first) == (2, 1, 2)
    said = "a line that is no row, left out; the first is 'bad.jsonl' line 2, column 6: expecting value"
    assert (report.status, report.losses[0].what) == ("damaged", said)


def test_lines_whose_gzip_breaks_are_damage() -> None:
    lines(*({"x": n} for n in range(500)))
    whole = gzip.compress(Path("rows.jsonl").read_bytes(), mtime=0)
    Path("torn.gz").write_bytes(whole[:-40])
    nothing_is_made(DamageError, "codec at", "torn.gz", to="tfrecord")
    done = convert("torn.gz", "out", to="tfrecord", skip_damaged=True)
    assert 0 < done.written < 500 and done.reports[0].status == "damaged"


def test_other_json_suggests_a_fix() -> None:
    Path("pretty").write_text('{\n "x": 1\n}\n')
    nothing_is_made(RefusedError, "jq -c", "pretty", to="tfrecord")
    lines({"error": {"code": 404}}, name="error.json")
    nothing_is_made(DamageError, "an error message in JSON", "error.json", to="tfrecord")


# The command


@both_rows
def test_formats_come_from_output_name_and_input_bytes(rows: str) -> None:
    assert run("convert", "tf", "-o", f"out.{rows}").returncode == 0
    os.rename(f"out.{rows}", "unnamed")
    assert run("convert", "unnamed", "-o", "back.tfrecord").returncode == 0
    assert Path("back.tfrecord").read_bytes() == Path("tf").read_bytes()


def test_gz_suffix_compresses_rows() -> None:
    assert forked("convert", "tf", "-o", "out.jsonl.gz").code == 0
    assert gzip.decompress(Path("out.jsonl.gz").read_bytes()).count(b"\n") == 5
    assert forked("convert", "out.jsonl.gz", "-o", "back").code == 0
    assert Path("back").read_bytes() == Path("tf").read_bytes()


@both_rows
def test_rows_go_through_pipes(rows: str) -> None:
    result = shell(f"cat tf | tfrtool convert - -o - --to {rows} -q | tfrtool convert - -o back -q && cmp tf back")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_lines_on_a_terminal_have_no_escapes() -> None:
    Path("evil").write_bytes(frame(example({"\x9b31m\u202ered": ("bytes_list", ["\x9b\u2066".encode()])})))
    shown = on_terminal("convert", "evil", "-o", "-", "--to", "jsonl", "-q")
    assert shown == '{"\\u009b31m\\u202ered":"\\u009b\\u2066"}\n'
    convert("evil", "evil.jsonl")
    convert("evil.jsonl", "back", to="tfrecord")
    assert Path("back").read_bytes() == Path("evil").read_bytes()


def test_packed_lines_are_read_from_a_pipe() -> None:
    convert("tf", "out.jsonl")
    result = shell("gzip < out.jsonl | tfrtool convert - -o back -q && cmp tf back")
    assert (result.returncode, result.stderr) == (0, "")


@both_rows
def test_json_report_has_losses_and_changes_of_rows(rows: str) -> None:
    lines({"x": 0.123456789012, "b": True})
    one, summary = json_lines("convert", "rows.jsonl", "-o", f"out.{rows}")
    assert [(loss["feature"], loss["what"], loss["first"]) for loss in one["losses"]] == [
        ("x", "rounded to float32", 1)
    ]
    assert [change["feature"] for change in one["changes"]] == ["b"]
    assert (summary["exit"], summary["output"]) == (1, [f"out.{rows}"])


def test_unrequested_loss_is_not_reported_as_requested() -> None:
    lines({"x": 0.123456789012})
    assert (
        run("convert", "rows.jsonl", "-o", "out.tfrecord").stdout.splitlines()[1].endswith("1 record written, 1 loss")
    )


@both_rows
def test_dry_run_of_rows_writes_nothing(rows: str) -> None:
    lines({"x": 0.123456789012})
    before = sorted(os.listdir())
    assert run("convert", "rows.jsonl", "--to", rows, "--dry-run").returncode == 1
    assert sorted(os.listdir()) == before


@mark.parametrize(
    "how",
    [
        ["--to", "jsonl", "--int", "int32"],
        ["--to", "jsonl", "--double", "round"],
        ["--to", "jsonl", "--empty", "skip"],
        ["--to", "jsonl", "--unknown", "keep"],
        ["--to", "parquet", "--compress", "gzip"],
        ["--to", "tfrecord", "--from", "jsonl", "-F", "tfrecord"],
        ["--from", "csv"],
        ["--schema-out", "-"],
    ],
    ids=" ".join,
)
def test_options_without_effect_on_rows_are_wrong_usage(how: list[str]) -> None:
    before = sorted(os.listdir())
    assert (forked("convert", "tf", "-o", "out", *how).code, sorted(os.listdir())) == (2, before)


def test_an_output_that_exists_is_kept() -> None:
    Path("out.jsonl").write_text("mine")
    with raises(WriteError, match="exists already"):
        convert("tf", "out.jsonl")
    assert Path("out.jsonl").read_text() == "mine"


@both_rows
def test_full_disk_is_reported(rows: str) -> None:
    assert run("convert", "tf", "-o", "/dev/full", "--to", rows).returncode == 3


@both_rows
def test_no_records_make_a_file_of_no_rows(rows: str) -> None:
    Path("empty").write_bytes(b"")
    assert convert("empty", f"out.{rows}").written == 0
    assert convert(f"out.{rows}", "back", to="tfrecord", source=rows).written == 0


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    nothing_is_made(UnsupportedError, r"pip install 'tfrtool\[parquet\]'", "tf", to="parquet")
    Path("t.parquet").write_bytes(b"PAR1" + bytes(50) + b"PAR1")
    nothing_is_made(UnsupportedError, r"pip install 'tfrtool\[parquet\]'", "t.parquet", to="tfrecord")


@mark.parametrize(
    ("output", "how", "passes"),
    [
        ("out.jsonl", {}, 1),
        ("out.jsonl", {"schema_out": "kinds"}, 2),
        ("out.jsonl", {"shards": 2}, 1),
        param("out.parquet", {}, 2, marks=[mark.parquet, needs_pyarrow]),
    ],
)
def test_progress_counts_each_byte_of_each_pass(output: str, how: dict[str, Any], passes: int) -> None:
    told: list[int] = []
    with Conversion(["tf"], output, convert_options(**how)) as conversion:
        list(conversion.read("tf", told.append))
        assert (conversion.passes, sum(told)) == (passes, passes * os.path.getsize("tf"))


@mark.slow
def test_memory_does_not_grow_with_the_rows() -> None:
    import tracemalloc

    def peak(count: int) -> int:
        Path("many").write_bytes(frame(EXAMPLES[0]) * count)
        tracemalloc.start()
        convert("many", "many.jsonl", force=True)
        convert("many.jsonl", "again", to="tfrecord", force=True)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(8_000) < 3 * peak(2_000)


def test_duplicate_feature_is_a_loss() -> None:
    Path("twice").write_bytes(frame(raw_example(entry(b"a", numbers(3, 1)), entry(b"a", numbers(3, 2)))))
    (report,) = convert("twice", "out.jsonl").reports
    assert (objects("out.jsonl"), report.losses[0].lost) == ([{"a": 2}], True)
