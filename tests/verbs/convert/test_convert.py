"""What `convert` makes of files: formats, shards, compression, chosen records; all of it published, or nothing."""

import gzip
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.damage import cut, flip
from kit.messages import OF_INT64S, a_list, entry, example, int32s, law, names, numbers, ofrecord, sequence, tag
from kit.program import run
from pytest import MonkeyPatch, fixture, mark, raises

from tfrtool import DamageError, OpenError, RefusedError, TfrtoolError, WriteError, convert, records, verify
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.mapping import fast as mapping_templates
from tfrtool.payload.mapping.rules import Refused
from tfrtool.payload.wire import messages
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import ConvertOptions, convert_options
from tfrtool.verbs.convert.shards import oneflow_arguments
from tfrtool.verbs.formats import base as formats_base
from tfrtool.verbs.formats import registry as formats_registry

Lists = dict[str, Any]


def lists(n: int) -> Lists:
    return {"label": ("int64_list", [n - 2]), "image": ("bytes_list", [bytes(n)]), "w": ("float_list", [n / 2])}


ROWS = [lists(n) for n in range(10)]
EXAMPLES = [example(row) for row in ROWS]
PARTS = [ofrecord(row) for row in ROWS]
TF = b"".join(map(frame, EXAMPLES))
OF = b"".join(map(ofrecord_frame, PARTS))


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, data in {"tf": TF, "of": OF, "hurt": flip(TF, 14), "tf.gz": gzip.compress(TF)}.items():
        Path(name).write_bytes(data)
    return tmp_path


def made() -> dict[str, bytes]:
    """All files that were not there before, hidden ones too."""
    return {
        str(path): path.read_bytes()
        for path in sorted(Path().rglob("*"))
        if path.is_file() and path.name not in ("tf", "of", "hurt", "tf.gz", "more")
    }


def payloads(*files: str) -> list[bytes]:
    return [payload for name in files for payload in records(name)]


# From one format to the other


def test_formats_convert_and_round_trip() -> None:
    assert convert("tf", "out.of", to="ofrecord").outputs == ["out.of"]
    convert("out.of", "back", to="tfrecord")
    assert Path("back").read_bytes() == TF
    convert("of", "out.tf", to="tfrecord")
    convert("out.tf", "back.of", to="ofrecord")
    assert Path("back.of").read_bytes() == OF


a_row = st.dictionaries(
    names,
    a_list("int32_list", int32s) | a_list("double_list", st.floats()) | a_list("int64_list", int32s),
    min_size=1,
    max_size=3,
)


@mark.slow
@law
@given(st.lists(a_row, min_size=1, max_size=3))
def test_schema_restores_int32_and_doubles(rows: list[Lists]) -> None:
    kinds: dict[str, str] = {}
    if any(kinds.setdefault(name, kind) != kind for row in rows for name, (kind, _) in row.items()):
        return
    data = b"".join(ofrecord_frame(ofrecord(row)) for row in rows)
    Path("of").write_bytes(data)
    convert("of", "there", to="tfrecord", double="bytes", schema_out="kinds.json", force=True)
    convert("there", "back", to="ofrecord", schema="kinds.json", force=True)
    assert Path("back").read_bytes() == data


def test_schema_restores_names() -> None:
    convert("tf", "out", to="ofrecord", rename={"label": "y"}, strip_prefix="im", schema_out="schema")
    convert("out", "back", to="tfrecord", schema="schema")
    assert Path("back").read_bytes() == TF


def test_schema_with_two_kinds_for_a_feature_is_refused() -> None:
    Path("more").write_bytes(
        ofrecord_frame(ofrecord({"x": ("int32_list", [1])})) + ofrecord_frame(ofrecord({"x": ("int64_list", [1])}))
    )
    with raises(
        RefusedError,
        match="record 1 at byte .*: feature 'x': it is int32 in an earlier record or in this one, and int64 here",
    ):
        convert("more", "out", to="tfrecord", schema_out="schema")
    assert made() == {}


@mark.parametrize(
    ("text", "why"),
    [
        ("{}", "no schema that tfrtool wrote"),
        ("[]", "no schema"),
        ("nonsense", "cannot be used"),
        ('{"tfrtool_schema": 2}', "its layout is 2"),
        (
            '{"tfrtool_schema": 1, "from": "example", "to": "ofrecord", "features": []}',
            "leads from ofrecord to example",
        ),
        ('{"tfrtool_schema": 1, "from": "ofrecord", "to": "x", "features": []}', "neither example nor ofrecord"),
        ('{"tfrtool_schema": 1, "from": "ofrecord", "to": "example", "features": [{"name": 3}]}', "another kind"),
        ("[" * 100_000, "cannot be used"),
    ],
)
def test_invalid_schema_is_refused_with_a_reason(text: str, why: str) -> None:
    Path("schema").write_text(text)
    with raises(OpenError, match=f"the schema 'schema' cannot be used: .*{why}" if "cannot" not in why else why):
        convert("tf", "out", to="ofrecord", schema="schema")
    with raises(OpenError, match="cannot be read"):
        convert("tf", "out", to="ofrecord", schema="nowhere")


@mark.parametrize("made", [["--emit", "json"], ["--json"]])
@mark.parametrize("to", ["ofrecord", "jsonl"])
def test_output_of_schema_command_is_refused(made: list[str], to: str) -> None:
    Path("schema").write_text(run("schema", *made, "tf").stdout)
    with raises(OpenError, match="what the job schema tells of features; `schema` reads what `schema_out` wrote"):
        convert("tf", "out", to=to, schema="schema")


def test_integers_that_fit_become_int32() -> None:
    rows = [{"small": ("int64_list", [n]), "large": ("int64_list", [n << 31])} for n in range(3)]
    Path("more").write_bytes(b"".join(frame(example(row)) for row in rows))
    convert("more", "out", to="ofrecord", int="auto")
    expected = [{"small": ("int32_list", [n]), "large": ("int64_list", [n << 31])} for n in range(3)]
    assert Path("out").read_bytes() == b"".join(ofrecord_frame(ofrecord(row)) for row in expected)


def test_losses_are_reported_for_each_input() -> None:
    for name, count in (("one", 2), ("two", 1)):
        Path(name).write_bytes(
            ofrecord_frame(ofrecord({"d": ("double_list", [0.1]), "n": ("int32_list", [1])})) * count
        )
    done = convert(["one", "two"], "out", to="tfrecord", double="round")
    told = [[(loss.feature, loss.what, loss.lost, loss.records) for loss in report.losses] for report in done.reports]
    rounded, kept = "double rounded to float", "int32 stored as int64"
    assert told == [[(b"d", rounded, True, n), (b"n", kept, False, n)] for n in (2, 1)]
    assert done.lost


def test_sequence_is_flattened_on_request() -> None:
    Path("more").write_bytes(frame(sequence({}, {"w": [("int64_list", [1]), ("int64_list", [2, 3])]})))
    with raises(RefusedError, match="a SequenceExample, which has no counterpart"):
        convert("more", "out", to="ofrecord")
    convert("more", "out", to="ofrecord", sequence="flatten")
    (payload,) = payloads("out")
    flat = {"w": ("int64_list", [1, 2, 3]), "w/lengths": ("int64_list", [1, 2])}
    parse = messages.message_class("oneflow", "OFRecord").FromString
    assert parse(payload) == parse(ofrecord(flat))


ODD = {
    "unknown fields": entry(b"n", numbers(OF_INT64S, 1), tag(9, 0) + b"\1"),
    "a list set twice": entry(b"n", numbers(OF_INT64S, 1), numbers(OF_INT64S, 2)),
}


@mark.parametrize("odd", ODD.values(), ids=ODD)
def test_nonstandard_ofrecord_is_converted(odd: bytes) -> None:
    Path("more").write_bytes(OF + ofrecord_frame(odd) + OF)
    done = convert("more", "out", to="tfrecord", unknown="drop", shards=3)
    assert payloads(*done.outputs) == [*EXAMPLES, example({"n": ("int64_list", [1, 2][: odd.count(b"*")])}), *EXAMPLES]
    assert (done.reports[0].status, done.reports[0].records, done.reports[0].skipped) == ("clean", 21, 0)


def test_nonstandard_ofrecord_is_refused_by_the_rules() -> None:
    Path("more").write_bytes(OF + ofrecord_frame(ODD["unknown fields"]) + OF)
    with raises(RefusedError, match=rf"record 10 at byte {len(OF)}: feature 'n': a field that the message does not"):
        convert("more", "out", to="tfrecord")


# Shards


@mark.parametrize("count", [1, 2, 3, 10])
@mark.parametrize(("source", "to"), [("tf", "tfrecord"), ("tf", "ofrecord"), ("of", "tfrecord"), ("of", "ofrecord")])
def test_shards_by_count_are_contiguous_and_never_empty(source: str, to: str, count: int) -> None:
    done = convert(source, "out", to=to, shards=count)
    parts = [payloads(name) for name in done.outputs]
    assert [len(part) for part in parts] == sorted((10 // count + (n < 10 % count) for n in range(count)), reverse=True)
    convert(done.outputs, "joined")
    assert payloads("joined") == (EXAMPLES if to == "tfrecord" else PARTS)
    stem = [f"out-{n:05d}-of-{count:05d}" if to == "tfrecord" else f"out/part-{n:05d}" for n in range(count)]
    assert done.outputs == stem


@mark.slow
@law
@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 200))
def test_shards_by_size_hold_at_least_one_record(sizes: list[int], most: int) -> None:
    data = [example({"x": ("bytes_list", [bytes(n)])}) for n in sizes]
    Path("more").write_bytes(b"".join(map(frame, data)))
    for source, to in (("more", "tfrecord"), ("more", "ofrecord")):
        done = convert(source, f"{to}-out", to=to, shard_size=most, force=True)
        shards = [payloads(name) for name in done.outputs]
        assert sum(map(len, shards)) == len(data)
        for name, shard, behind in zip(done.outputs, shards, [*shards[1:], None], strict=True):
            more = 16 if to == "tfrecord" else 8
            assert len(shard) == 1 or os.path.getsize(name) <= most
            assert behind is None or os.path.getsize(name) + len(behind[0]) + more > most
        for name in done.outputs:
            os.unlink(name)


@mark.parametrize("to", ["tfrecord", "ofrecord"])
def test_shards_by_record_count(to: str) -> None:
    done = convert(["tf", "tf"], "out", to=to, records_per_shard=3)
    assert [len(payloads(name)) for name in done.outputs] == [3, 3, 3, 1]  # the same file is one input
    done = convert(["tf", "of"], "all", to=to, records_per_shard=8)
    assert [len(payloads(name)) for name in done.outputs] == [8, 8, 4]
    assert [report.output for report in done.reports] == [done.outputs[:2], done.outputs[1:]]


def test_more_shards_than_records_are_refused() -> None:
    with raises(RefusedError, match="10 records cannot fill 11 shards, and a shard is never empty"):
        convert("tf", "out", shards=11)
    assert made() == {}


@mark.parametrize("how", [{"skip_damaged": True}, {"where": ["label > 0"]}, {"skip": 3, "n": 4}])
def test_shards_are_even_with_skipped_records(how: Any) -> None:
    done = convert("hurt", "out", shards=3, **{"skip_damaged": True, **how})
    counts = [len(payloads(name)) for name in done.outputs]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == done.written == {"skip_damaged": 9, "where": 7, "skip": 4}[next(iter(how))]


def test_pipe_input_can_be_sharded() -> None:
    reader, writer = os.pipe()
    os.write(writer, TF)
    os.close(writer)
    done = convert(f"/dev/fd/{reader}", "out", shards=3, to="ofrecord", int="auto")
    os.close(reader)
    assert [len(payloads(name)) for name in done.outputs] == [4, 3, 3]


def test_oneflow_arguments_match_the_part_names() -> None:
    names = convert("tf", "out", to="ofrecord", shards=2).outputs
    assert oneflow_arguments(names) == {
        "data_part_num": 2,
        "part_name_prefix": "part-",
        "part_name_suffix_length": 5,
    }
    assert oneflow_arguments(["a/part-1"]) is None
    assert oneflow_arguments(["a/some"]) is None


def test_leftover_parts_of_an_older_set_are_refused() -> None:
    convert("tf", "out", to="ofrecord", shards=3)
    before = made()
    with raises(WriteError, match="'out/part-00002' is no part of this set, and would be read with it"):
        convert("tf", "out", to="ofrecord", shards=2, force=True)
    assert made() == before


# Directories, joining, compression


def test_directory_output_keeps_input_names() -> None:
    done = convert(["tf", "tf.gz"], "out/", compress="gzip")
    assert done.outputs == ["out/tf", "out/tf.gz"]
    assert all(gzip.decompress(Path(name).read_bytes()) == TF for name in done.outputs)
    assert convert(["of", "tf.gz"], "tfs/", to="tfrecord", compress="none").outputs == [
        "tfs/of.tfrecord",
        "tfs/tf.tfrecord",
    ]
    assert convert(["tf", "of"], "parts/", to="ofrecord").outputs == ["parts/part-00000", "parts/part-00001"]


def test_inputs_with_the_same_base_name_are_refused() -> None:
    os.mkdir("a")
    Path("a/tf").write_bytes(TF)
    with raises(WriteError, match="'tf' and 'a/tf' would both be written as 'out/tf'"):
        convert(["tf", "a/tf"], "out/")
    assert not os.path.exists("out")


@mark.parametrize(("compress", "undo"), [("gzip", gzip.decompress), ("zlib", zlib.decompress), ("none", bytes)])
def test_files_are_recompressed(compress: str, undo: Callable[[bytes], bytes]) -> None:
    for source in ("tf", "tf.gz"):
        convert(source, "out", compress=compress, force=True)
        assert undo(Path("out").read_bytes()) == TF


def test_gzip_output_of_many_inputs_is_one_member() -> None:
    Path("more").write_bytes(
        gzip.compress(TF[: len(frame(EXAMPLES[0]))]) + gzip.compress(TF[len(frame(EXAMPLES[0])) :])
    )
    convert(["tf.gz", "more"], "out")
    inflate = zlib.decompressobj(31)
    assert inflate.decompress(Path("out").read_bytes()) == TF * 2
    assert (inflate.eof, inflate.unused_data) == (True, b"")


def test_compression_is_kept_within_a_format() -> None:
    convert("tf.gz", "same")
    convert("tf.gz", "other", to="ofrecord")
    assert (verify("same").compression, verify("other").compression) == ("gzip", "none")


def test_payloads_of_any_kind_are_copied_within_a_format() -> None:
    data = frame(b"any bytes") + frame(b"") + frame(bytes(300_000))
    Path("more").write_bytes(data)
    convert("more", "out")
    assert Path("out").read_bytes() == data


# Chosen records and features


def test_records_are_skipped_and_counted_over_all_inputs() -> None:
    convert(["tf", "tf.gz"], "out", skip=8, n=4)
    assert payloads("out") == EXAMPLES[8:] + EXAMPLES[:2]
    convert("tf", "of-out", to="ofrecord", skip=8, n=1)
    assert payloads("of-out") == PARTS[8:9]


@mark.parametrize("how", [{}, {"to": "ofrecord"}, {"to": "jsonl"}, {"where": ["label >= -1"], "n": 4}, {"shards": 2}])
def test_reading_stops_after_the_last_selected_record(how: dict[str, Any]) -> None:
    Path("more").write_bytes(TF[:-1])
    (report,) = convert("more", "out", **{"n": 5, **how}).reports
    assert (report.records, report.written, report.unread, report.finding) == (5, how.get("n", 5), True, False)


def test_completely_read_input_is_not_reported_as_unread() -> None:
    assert not convert("tf", "out", n=10).reports[0].unread
    first, second = convert(["tf", "of"], "more", to="tfrecord", n=10).reports
    assert (first.unread, second.unread, second.records) == (False, True, 0)


def test_input_after_the_last_selected_record_has_no_output() -> None:
    convert(["tf", "of"], "dir/", to="tfrecord", n=3)
    convert(["tf", "of"], "none/", to="tfrecord", n=0)
    assert (os.listdir("dir"), sorted(os.listdir("none"))) == (["tf"], ["of", "tf"])


def test_features_are_selected_and_renamed_within_a_format() -> None:
    convert("tf", "out", select=["label", "w"], drop=["w"], rename={"label": "y"})
    assert payloads("out") == [example({"y": row["label"]}) for row in ROWS]
    convert("of", "of-out", drop=["image", "w"])
    assert payloads("of-out") == [ofrecord({"label": row["label"]}) for row in ROWS]


def test_selection_without_match_is_refused() -> None:
    nothing_is_made(RefusedError, "no record has a feature that is selected: labell", "tf", "out", select=["labell"])
    (report,) = convert("tf", "out", select=["label", "x*"], drop=["y"], rename={"z": "a"}).reports
    unmet = [loss.feature for loss in report.losses if loss.what == "named, and in no record"]
    assert (unmet, report.finding) == ([b"x*", b"y", b"z"], False)


@mark.parametrize(
    ("where", "expected"),
    [
        (["label == 3"], [5]),
        (["label>=6"], [8, 9]),
        (["label != 0", "w < 1.5"], [0, 1]),
        (["image == 'x'"], []),
        (["nothing == 1"], []),
        (["label == 'x'"], []),
        (["w == 4.5"], [9]),
    ],
)
def test_records_are_filtered_by_value(where: list[str], expected: list[int]) -> None:
    convert("tf", "out", where=where)
    assert payloads("out") == [EXAMPLES[n] for n in expected]


@mark.parametrize("text", ["label", "label = 3", "== 3", "label == x", "label == 1; import os", "label == (1)", ""])
def test_invalid_condition_is_refused(text: str) -> None:
    with raises(ValueError, match="no condition|no number"):
        convert("tf", "out", where=[text])


# What is refused, and leaves nothing


def nothing_is_made(error: type[TfrtoolError], match: str, *args: Any, **how: Any) -> None:
    before = made()
    with raises(error, match=match):
        convert(*args, **how)
    assert made() == before


def test_damage_stops_the_conversion_unless_skipped() -> None:
    for to in ("tfrecord", "ofrecord"):
        nothing_is_made(DamageError, r"hurt: data-crc at \[0, ", ["tf", "hurt"], "out", to=to)
        nothing_is_made(DamageError, r"hurt: data-crc", ["hurt", "tf"], "out/", to=to)
    done = convert(["hurt", "tf"], "out", skip_damaged=True)
    assert payloads("out") == EXAMPLES[1:] + EXAMPLES
    assert [(report.written, report.skipped) for report in done.reports] == [(9, 1), (10, 0)]
    assert done.lost


@mark.parametrize("framed", [True, False])
@mark.parametrize("how", ["swapped", "raw", "hurt"])
def test_payloads_of_another_kind_are_refused_with_offset(framed: bool, how: str) -> None:
    wrap, other = (frame, PARTS) if framed else (ofrecord_frame, EXAMPLES)
    mine = EXAMPLES if framed else PARTS
    wrong = {"swapped": other[1], "raw": b"raw bytes", "hurt": mine[1][:-1]}[how]
    Path("more").write_bytes(wrap(mine[0]) + wrap(wrong) + wrap(mine[2]))
    to = "ofrecord" if framed else "tfrecord"
    at = len(wrap(mine[0]))
    nothing_is_made(DamageError, rf"more: payload at \[{at}, {at + len(wrap(wrong))}\): ", "more", "out", to=to)
    done = convert("more", "out", to=to, skip_damaged=True)
    assert (done.written, done.reports[0].skipped) == (2, 1)


def test_unrepresentable_values_are_refused_with_offset() -> None:
    Path("more").write_bytes(OF + ofrecord_frame(ofrecord({"d": ("double_list", [0.1])})))
    match = rf"'more' record 10 at byte {len(OF)}: feature 'd': value 0 of it, 0.1, is no float; double='round'"
    nothing_is_made(RefusedError, match, "more", "out", to="tfrecord")


def test_empty_ofrecord_set_is_refused() -> None:
    Path("more").write_bytes(b"")
    nothing_is_made(RefusedError, "OneFlow stops at a part without records", "more", "out", to="ofrecord")
    nothing_is_made(RefusedError, "a shard is never empty", "more", "out", to="tfrecord", records_per_shard=2)
    assert convert("more", "out", to="tfrecord").outputs == ["out"]
    assert Path("out").read_bytes() == b""
    done = convert(["more", "tf"], "parts/", to="ofrecord")
    assert ([report.output for report in done.reports], done.outputs) == (
        [[], ["parts/part-00000"]],
        ["parts/part-00000"],
    )


def test_existing_outputs_need_force_and_inputs_are_protected() -> None:
    Path("out").write_bytes(b"old")
    Path("out-00001-of-00002").write_bytes(b"old")
    nothing_is_made(WriteError, "'out' exists already", "tf", "out")
    nothing_is_made(WriteError, "'out-00001-of-00002' exists already", "tf", "out", shards=2)
    nothing_is_made(WriteError, "'out-00001-of-00002' exists already", "tf", "out", records_per_shard=5)
    nothing_is_made(WriteError, "the output 'tf' is the input", ["of", "tf"], "tf", force=True, to="tfrecord")
    convert("tf", "out", force=True)
    assert Path("out").read_bytes() == TF


def test_schema_is_published_with_the_outputs() -> None:
    Path("schema").write_bytes(b"old")
    nothing_is_made(WriteError, "'schema' exists already", "tf", "out", to="ofrecord", schema_out="schema")
    nothing_is_made(DamageError, "hurt", "hurt", "out", to="ofrecord", schema_out="new")


def test_a_schema_is_of_inputs_of_one_format() -> None:
    nothing_is_made(RefusedError, "of both", ["of", "tf"], "out", to="tfrecord", schema_out="schema")


def test_empty_input_does_not_set_the_format() -> None:
    Path("more").write_bytes(b"")
    assert convert(["more", "of"], "out").written == 10
    assert Path("out").read_bytes() == OF
    assert convert(["of", "more"], "there", to="tfrecord", schema_out="schema").written == 10


def test_a_condition_on_payloads_without_features_is_refused() -> None:
    Path("more").write_bytes(frame(b"raw bytes") * 2)
    nothing_is_made(DamageError, "has no features for a condition", "more", "out", where=["label == 1"])


def test_features_without_values_are_dropped_within_a_format() -> None:
    Path("more").write_bytes(frame(example({"a": None, "n": ("int64_list", [1])})))
    assert convert("more", "out", no_kind="drop").lost
    assert payloads("out") == [example({"n": ("int64_list", [1])})]


def test_schema_and_output_must_differ() -> None:
    nothing_is_made(WriteError, "would be written twice", "of", "out", to="tfrecord", schema_out="out")


def test_no_input_is_read_after_a_write_error() -> None:
    with Conversion(["tf", "hurt"], "nowhere/out", ConvertOptions()) as conversion:
        found = [list(conversion.read(name))[-1] for name in conversion.inputs]
        conversion.publish()
    assert [report.error[0] for report in found] == ["write", "write"]  # type: ignore[union-attr, index]
    assert "was not read, since the output could not be written" in found[1].error[1]  # type: ignore[union-attr, index]


def test_foreign_file_is_refused() -> None:
    Path("more").write_bytes(b"<!DOCTYPE html><html></html>")
    nothing_is_made(DamageError, "HTML", "more", "out", to="tfrecord")
    nothing_is_made(OpenError, "nowhere", "nowhere", "out", to="tfrecord")


def test_a_missing_shard_is_refused_unless_damage_is_skipped() -> None:
    for name in convert("tf", "set", shards=3).outputs[:2]:
        assert os.path.exists(name)
    os.unlink("set-00001-of-00003")
    nothing_is_made(OpenError, "'set-00001-of-00003' is missing", "set@3", "out")
    assert convert("set@3", "out", skip_damaged=True).written == 7


@mark.parametrize("at", range(0, len(TF), 97))
def test_truncated_file_gives_intact_records_or_nothing(at: int) -> None:
    Path("more").write_bytes(cut(TF, at))
    done = convert("more", "out", to="tfrecord", skip_damaged=True)
    assert payloads("out") == EXAMPLES[: done.written]


def test_all_inputs_are_read_after_the_first_fails() -> None:
    with Conversion(["hurt", "tf", "nowhere"], "out", ConvertOptions()) as conversion:
        for name in conversion.inputs:
            list(conversion.read(name))
        conversion.publish()
    assert [(report.status, report.written) for report in conversion.reports] == [
        ("damaged", 0),
        ("clean", 0),
        ("error", 0),
    ]
    assert made() == {}


def test_dry_run_writes_nothing_and_reports_the_result() -> None:
    with Conversion(["of"], "out", ConvertOptions(to="tfrecord", dry_run=True)) as conversion:
        (report,) = conversion.read("of")
        conversion.publish()
    assert (report.written, report.output, made()) == (10, [], {})  # type: ignore[union-attr]


@mark.parametrize(
    "how",
    [{"shards": 0}, {"shards": 2, "shard_size": 3}, {"types": {"a": "string"}}, {"shards": 10**6}, {"source": "x"}],
)
def test_invalid_option_is_a_value_error(how: Any) -> None:
    with raises(ValueError):
        convert("tf", "out", **how)


def test_schema_records_the_mapping_of_each_feature() -> None:
    convert("of", "out", to="tfrecord", schema_out="schema")
    found = json.loads(Path("schema").read_text())
    assert (found["from"], found["to"], len(found["features"])) == ("ofrecord", "example", 3)


class Lines:
    """A format of rows, for the seam at which others are added."""

    def __init__(self, out: Any, layout: Any) -> None:
        self.out = out

    def write(self, pieces: Any, kind: str) -> int:
        return self.out.write(kind.encode() + b" " + b"".join(pieces).hex().encode() + b"\n")  # type: ignore[no-any-return]

    def release_views(self) -> None:
        pass

    def finish(self) -> None:
        self.out.write(b"end")


class RowsOf:
    message = "example"

    def __init__(self, source: Any, *how: Any) -> None:
        self.name = source.name

    def __iter__(self) -> Any:
        for number, line in enumerate(Path(self.name).read_text().splitlines()[:-1]):
            yield number, bytes.fromhex(line.split()[1])


def test_each_format_choice_has_a_writer_or_a_reader() -> None:
    assert list(formats_registry.WRITERS) == list(formats_base.SUFFIXES)
    assert tuple(formats_registry.READERS) == formats_base.ROWS


def test_formats_can_be_added_to_the_registry(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setitem(formats_registry.WRITERS, "jsonl", Lines)
    monkeypatch.setitem(formats_registry.READERS, "jsonl", RowsOf)
    done = convert("tf", "out.jsonl", to="jsonl", shards=2)
    assert done.outputs == ["out-00000-of-00002.jsonl", "out-00001-of-00002.jsonl"]
    assert Path(done.outputs[1]).read_text().splitlines()[-1] == "end"
    assert Path(convert("of", "of.jsonl", to="jsonl").outputs[0]).read_text().startswith("ofrecord ")
    for how in ({}, {"shards": 3}):
        with Conversion(
            done.outputs, f"back{len(how)}", convert_options(to="ofrecord", source="jsonl", force=True, **how)
        ) as back:
            for name in back.inputs:
                list(back.read(name))
            back.publish()
        assert payloads(*back.outputs) == PARTS


class Picky(Lines):
    def write(self, pieces: Any, kind: str) -> int:
        raise Refused(b"label", "not to our taste", "choose another format")


def test_refusal_by_another_format_is_reported_with_offset(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setitem(formats_registry.WRITERS, "jsonl", Picky)
    monkeypatch.setattr(mapping_templates, "_LEARN_FIRST", 1)
    for how in ({}, {"no_kind": "drop"}, {"select": ["label"]}):
        nothing_is_made(RefusedError, "'tf' record 0 at byte 0: feature 'label': not", "tf", "out", to="jsonl", **how)
