"""`tfrtool schema` as a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kit.damage import flip
from kit.forked import forked
from kit.messages import VARINT, entry, event, example, ofrecord, raw_example, scalar, sequence, sized, tag
from kit.program import json_lines, on_terminal, run
from kit.schemas import batch

from tfrtool.cli.commands.schema import run_schema
from tfrtool.cli.options import Common
from tfrtool.cli.printers.schema import unsaid
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.schema import shards, table
from tfrtool.payload.schema import unknown as wire_table
from tfrtool.payload.schema.dataset import Schema
from tfrtool.verbs.schema.emit.forms import emit, table_of


def write(path: Path, *payloads: bytes) -> Path:
    path.write_bytes(b"".join(map(frame, payloads)))
    return path


def labelled(*labels: int) -> list[bytes]:
    return [example({"label": ("int64_list", [n]), "name": ("bytes_list", [b"cat"])}) for n in labels]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "train.tfrecord", *labelled(*[0, 1, 2] * 4))


def lines(text: str) -> list[list[str]]:
    return sorted(line.split("\t") for line in text.splitlines())


def test_a_pipe_gets_a_line_of_fields_for_each_feature(path: Path) -> None:
    done = run("schema", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert lines(done.stdout) == [
        ["label", "int64", "12", "1", "1", "0 to 2, 3 different, a label", ""],
        ["name", "bytes", "12", "1", "1", "utf-8; 3 bytes", ""],
    ]


def test_conflicts_stand_behind_their_feature_with_file_and_record(tmp_path: Path) -> None:
    one = write(tmp_path / "a", *labelled(1, 2), example({"label": ("float_list", [1])}))
    (label, name) = lines(run("schema", "a", cwd=tmp_path).stdout)
    assert one.exists()
    assert label[1] == "int64/float"
    assert label[-1] == "int64 in 2 records, float in 1 record; the first float is in record 2 of a"
    assert name[-1] == "missing in 1 of 3 records, first in record 2 of a"


def test_records_with_and_without_lists_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path / "a", *labelled(1, 2, 3))
    write(tmp_path / "b", *[sequence({}, {"tokens": [("int64_list", [1])]})] * 2)
    assert "2 files: 3 example, 2 sequence_example records" in on_terminal(
        "schema", "a", "b", cwd=tmp_path, NO_COLOR="1"
    )
    (found,) = [line for line in json_lines("schema", tmp_path / "a", tmp_path / "b") if line["type"] == "schema"]
    assert found["kinds"] == {"example": 3, "sequence_example": 2}


def test_differences_between_shards_do_not_flood_standard_error(tmp_path: Path) -> None:
    names = "abcdefghijk"
    for name in names:
        write(tmp_path / name, *[example({f"{name}{n}": ("int64_list", [n]) for n in range(12)})] * 2)
    told = run("schema", *names, cwd=tmp_path).stderr.splitlines()
    odd = [line for line in told if "shards differ" in line]
    assert len(odd) == 8 and len(max(odd, key=len)) < 250
    assert "tfrtool: 2 more kinds of shard differ from the others; --json lists all" in told
    assert odd[0].endswith(
        "a0, a1, a10, a11, a2, a3, a4, a5 and 4 more are in every record of a, and in no record of b; "
        "b0, b1, b10, b11, b2, b3, b4, b5 and 4 more are in every record of b, and in no record of a"
    )


def test_a_shard_that_differs_is_told_of_once_with_what_is_so_in_most_others(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path / name, *[example({"x": ("int64_list", [1]), "y": ("int64_list", [2])})] * 2)
    write(tmp_path / "odd", example({"audio": ("bytes_list", [b"a"]), "label": ("int64_list", [1])}))
    told = run("schema", "a", "b", "c", "odd", cwd=tmp_path).stderr.splitlines()
    assert [line for line in told if "differ" in line] == [
        "tfrtool: the shard odd differs: audio and label are in every record of it, and in no record of most shards; "
        "x and y are in every record of most shards, and in no record of it"
    ]


def test_names_from_the_data_are_made_harmless(tmp_path: Path) -> None:
    bad = "a\x1b[31m\t\nb\u202e\\"
    path = write(tmp_path / "a", example({bad: ("int64_list", [1])}), example({}))
    (only,) = lines(run("schema", path).stdout)
    assert only[0] == "a\\x1b[31m\\t\\nb\\u202e\\\\"
    shown = on_terminal("schema", path, NO_COLOR="1")
    assert "\x1b" not in shown and "\u202e" not in shown and "a\\x1b[31m" in shown


def test_a_terminal_gets_a_table_and_what_is_odd_below_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a", *labelled(1, 2), example({"name": ("bytes_list", [b"x"])}))
    shown = on_terminal("schema", path, columns=100, NO_COLOR="1")
    assert shown.splitlines()[0] == "1 file: 3 example records"
    assert "label    int64        2       1  1 to 2, 2 different" in shown
    assert "label: missing in 1 of 3 records, first in record 2 of" in shown


def test_feature_lists_and_events_have_lines_of_their_own(tmp_path: Path) -> None:
    steps = [("int64_list", [1, 2])] * 3
    lists = write(tmp_path / "s", sequence({"id": ("bytes_list", [b"x"])}, {"frames": steps}))
    assert lines(run("schema", lists).stdout)[0] == [
        "frames",
        "list of int64",
        "1",
        "3",
        "3",
        "2 a step; 1 to 2, 2 different",
        "",
    ]
    events = write(tmp_path / "e", *(event(step=n, summary=scalar("loss", 1)) for n in range(4)))
    done = run("schema", events)
    assert lines(done.stdout) == [["loss", "scalar", "4", "0", "3", "steps 0 to 3", ""]]
    assert "tfrtool: logged from 2023-11-14 22:13:20 UTC to 2023-11-14 22:13:20 UTC\n" in done.stderr


def test_json_has_one_schema_before_the_summary(path: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", *labelled(1))
    objects = json_lines("schema", path, other)
    assert [one["type"] for one in objects] == ["file", "file", "schema", "summary"]
    schema = objects[2]
    assert (schema["v"], schema["records"], schema["kind"], schema["sampled"]) == (1, 13, "example", False)
    (label,) = [one for one in schema["features"] if one["name"] == "label"]
    assert {
        key: label[key] for key in ("kind", "kinds", "present", "min_count", "max_count", "content", "conflict")
    } == {
        "kind": "int64",
        "kinds": {"int64": 13},
        "present": 13,
        "min_count": 1,
        "max_count": 1,
        "content": None,
        "conflict": None,
    }
    assert label["numbers"]["int64"] == {"min": 0, "max": 2, "distinct": 3, "label": True, "fits_int32": True}


def test_json_names_the_first_offending_record(tmp_path: Path) -> None:
    path = write(tmp_path / "a", *labelled(1), example({"name": ("bytes_list", [b"x"])}))
    (label, _) = sorted(json_lines("schema", path)[1]["features"], key=lambda one: one["name"])
    assert {key: label["conflict"][key] for key in ("what", "path", "record")} == {
        "what": "missing",
        "path": str(path),
        "record": 1,
    }


def test_a_name_that_is_not_utf8_is_escaped_in_text_and_bytes_in_json_and_a_conflict(tmp_path: Path) -> None:
    path = write(tmp_path / "a", raw_example(entry(b"a\xff", sized(3, sized(1, b"\7")))))
    done = run("schema", path)
    said = "the name is not UTF-8, which protobuf refuses"
    assert (done.returncode, done.stderr, lines(done.stdout)[0][::6]) == (0, "", [r"a\xff", said])
    assert run("schema", "--strict", path).returncode == 1
    (found,) = json_lines("schema", path)[1]["features"]
    assert found["name"] == found["conflict"]["feature"] == {"bytes": "Yf8="}
    assert (found["conflict"]["what"], found["conflict"]["record"]) == ("name", 0)


def test_images_tell_their_channels_and_bits(tmp_path: Path) -> None:
    rgba = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\7\0\0\0\5\x08\6"
    deep = rgba[:-2] + b"\x10\0"
    path = write(tmp_path / "a", *(example({"x": ("bytes_list", [one])}) for one in (rgba, rgba, deep)))
    assert lines(run("schema", path).stdout)[0][5] == "png 2 rgba/1 16-bit grey (7x5); 26 bytes"
    (x,) = json_lines("schema", path)[1]["features"]
    assert x["contents"]["png"]["forms"] == {"rgba": 2, "16-bit grey": 1}


def test_what_is_nearly_an_example_says_why_it_is_none(tmp_path: Path) -> None:
    one = sized(3, sized(1, b"\1"))
    path = write(tmp_path / "a", b"text", raw_example(entry(b"a", one, one)))
    why = "nearly an Example: Feature sets its kind twice, at byte 14 of the payload"
    assert f"record 1 of {path} is {why}" in run("schema", path).stderr
    assert f"one is {why}" in run("verify", "--payload", path).stdout
    assert why in run("head", path).stdout
    assert [one.get("note") for one in json_lines("head", path)[:2]] == [None, why]
    assert json_lines("schema", path)[1]["wire"]["near"] == {"path": str(path), "record": 1, "message": why}


def test_damage_is_told_counted_and_ends_in_exit_1(path: Path) -> None:
    path.write_bytes(flip(path.read_bytes(), 20))
    done = run("schema", path)
    assert (done.returncode, lines(done.stdout)[0][2]) == (1, "11")
    assert "data-crc" in done.stderr
    objects = json_lines("schema", path)
    assert [one["type"] for one in objects] == ["damage", "file", "schema", "summary"]
    assert objects[-1]["exit"] == 1


def test_payloads_that_do_not_parse_are_damage_of_their_own_kind(tmp_path: Path) -> None:
    path = write(tmp_path / "a", *labelled(1, 2), b"\x0a\xff", *labelled(3))
    done = run("schema", path)
    assert (done.returncode, lines(done.stdout)[0][2]) == (1, "3")
    assert "payload: the payload is no example" in done.stderr
    assert "skipped 1 payload that does not parse, first record 2 of" in done.stderr


def test_conflicts_end_in_exit_1_where_that_is_asked_for(path: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "a", example({"name": ("bytes_list", [b"x"])}))
    for args in ([], ["--json"], ["-q"], ["--emit", "tf"]):
        assert run("schema", *args, path, other).returncode == 0
        assert run("schema", "--strict", *args, path, other).returncode == 1
        assert run("schema", "--strict", *args, path).returncode == 0


def test_features_beyond_the_bound_are_said_to_be_left_out_whatever_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "FEATURES", 10)
    path = write(tmp_path / "a", *[example({f"{n}-{i}": ("int64_list", [1]) for i in range(5)}) for n in range(11)])
    common = Common(inputs=(str(path),))
    for what, output in (("tf", None), ("tfds", str(tmp_path)), ("table", None)):
        assert run_schema(common, emit=what, output=output) == 1
        out, err = capsys.readouterr()
        assert "more than 10 features: only the 10 most frequent are described" in err
        assert ("# There are more features than are described here" in out) == (what == "tf")
    assert run_schema(Common(inputs=(str(path),), quiet=True)) == 1
    capsys.readouterr()
    assert run_schema(Common(inputs=(str(path),), json=True)) == 1
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (objects[1]["more_features"], objects[2]["exit"]) == (True, 1)


def test_fields_beyond_the_bound_are_said_to_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wire_table, "FIELDS", 10)
    for count, code in ((11, 1), (10, 0)):
        path = write(tmp_path / f"{count}", *[b"".join(tag(n, VARINT) + b"\1" for n in range(1, 1 + count))] * 3)
        assert run_schema(Common(inputs=(str(path),))) == code
        out, err = capsys.readouterr()
        assert len(lines(out)) == 10
        said = "more than 10 fields: only the 10 with the lowest numbers are described"
        assert (said in err) == code
        assert run_schema(Common(inputs=(str(path),), quiet=True)) == code
        assert run_schema(Common(inputs=(str(path),), json=True)) == code
        capsys.readouterr()


def test_shards_that_are_not_compared_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shards, "FEATURES", 3)
    monkeypatch.setattr(shards, "GROUPS", 2)

    def of(*names: str) -> str:
        lists = example({name: ("int64_list", [1]) for name in names})
        return str(write(tmp_path / "-".join(names), *[lists] * 3))

    def told(*inputs: str) -> tuple[int, str, int]:
        code = run_schema(Common(inputs=inputs), strict=True)
        said = "".join(line for line in capsys.readouterr().err.splitlines(True) if "not compared" in line)
        assert run_schema(Common(inputs=inputs, json=True)) == 0
        (found,) = (one for one in map(json.loads, capsys.readouterr().out.splitlines()) if one["type"] == "schema")
        return code, said, found["uncompared_shards"]

    wide, other, small = of(*"abcd"), of(*"abce"), of("a")
    assert told(wide) == (0, "", 0)
    code, said, count = told(wide, other)
    assert (code, count) == (1, 2) and f": 2 files not compared with other shards, first {wide}: too different" in said
    assert told(small, small, other)[2] == 1
    code, said, count = told(small, of("a", "b"), of("a", "c"))
    assert (code, count) == (1, 1) and f": 1 file not compared with other shards, first {tmp_path}/a-c:" in said


def test_a_sample_says_so_and_reads_no_more(path: Path) -> None:
    done = run("schema", "-n", "2", path)
    assert lines(done.stdout)[0][2] == "2"
    assert "only the first records of each input were read" in done.stderr
    assert json_lines("schema", "-n", "2", path)[1]["sampled"] is True


def test_a_sample_that_is_the_whole_file_is_none(path: Path) -> None:
    done = run("schema", "-n", "1000", path)
    assert (done.stdout, done.stderr) == (run("schema", path).stdout, "")


def test_foreign_files_and_missing_ones_have_their_exit_codes(path: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!DOCTYPE html><html></html>" * 9)
    assert run("schema", path, tmp_path / "page.html").returncode == 1
    done = run("schema", path, tmp_path / "nowhere")
    assert (done.returncode, len(lines(done.stdout))) == (3, 2)


@pytest.mark.parametrize("what", ["json", "tf", "pbtxt", "dali", "tfrecord"])
def test_emit_prints_the_text_alone_or_writes_it(what: str, path: Path, tmp_path: Path) -> None:
    done = run("schema", "--emit", what, path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "label" in done.stdout
    out = tmp_path / "out"
    wrote = run("schema", "--emit", what, "-o", out, path)
    assert (wrote.returncode, wrote.stdout, out.read_text()) == (0, "", done.stdout)
    again = run("schema", "--emit", what, "-o", out, path)
    assert again.returncode == 3 and "--force" in again.stderr
    assert run("schema", "--emit", what, "-o", out, "--force", path).returncode == 0


@pytest.mark.parametrize("unread", [[], ["--compression", "gzip"]], ids=["read", "not read"])
def test_an_input_is_never_the_output(unread: list[str], path: Path) -> None:
    before = path.read_bytes()
    done = run("schema", "--emit", "tf", "-o", path, "--force", *unread, path)
    assert (done.returncode, done.stdout, path.read_bytes()) == (2, "", before)
    assert "is the input" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("what", "out", "why"),
    [
        ("tf", "old.json", "exists already; use --force"),
        ("tf", "no/such", "make that directory first"),
        ("tf", ".", "it is a directory"),
        ("tfds", "elsewhere", "is not a folder"),
        ("tfds", "folder", "they belong into"),
        ("tfds", ".", "'./features.json' exists already; use --force"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_read(
    what: str, out: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("old.json", "features.json", "a"):
        (tmp_path / name).write_bytes(b"old")
    monkeypatch.setattr("tfrtool.verbs.schema.job.schema_file", lambda *_: 1 / 0)
    ended = forked("schema", "--emit", what, "-o", out, "a")
    assert (ended.code, why in ended.said) == (3, True), ended.said
    assert (tmp_path / "old.json").read_bytes() == (tmp_path / "features.json").read_bytes() == b"old"


def test_an_output_that_the_format_cannot_be_is_not_there(tmp_path: Path) -> None:
    events = write(tmp_path / "e", event(step=1, summary=scalar("loss", 1)))
    assert run("schema", "--emit", "tf", "-o", tmp_path / "out", events).returncode == 3
    assert [file.name for file in tmp_path.iterdir()] == ["e"]


def test_emit_tfds_is_refused_where_an_input_cannot_be_read(path: Path, tmp_path: Path) -> None:
    done = run("schema", "--emit", "tfds", "-o", tmp_path, path, tmp_path / "nowhere")
    assert (done.returncode, sorted(tmp_path.glob("*.json"))) == (3, [])
    assert "the inputs have 1 file that could not be read" in done.stderr


@pytest.mark.parametrize(
    ("what", "mine"), [("tf", "example"), ("dali", "example"), ("tfrecord", "example"), ("pbtxt", "ofrecord")]
)
def test_of_mixed_kinds_is_said_which_is_described(what: str, mine: str, path: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    others.write_bytes(b"".join(ofrecord_frame(ofrecord({"a": ("int32_list", [n])})) for n in range(20)))
    done = run("schema", "--emit", what, path, others)
    counts = {"example": 12, "ofrecord": 20}
    (other,) = counts.keys() - {mine}
    assert f"the {mine} records are described" in done.stderr
    assert f"# Records of other kinds are not described: {counts[other]} of kind {other}.\n" in done.stdout
    assert ("label" in done.stdout) == (mine == "example")


def test_json_of_mixed_kinds_has_the_features_of_all(path: Path, tmp_path: Path) -> None:
    others = write(tmp_path / "others", *[ofrecord({"a": ("int32_list", [n])}) for n in range(20)])
    done = run("schema", "--emit", "json", path, others)
    (found,) = (one for one in json_lines("schema", path, others) if one["type"] == "schema")
    assert json.loads(done.stdout) == found | {"damaged": 0, "missing": 0, "unread": 0}
    names = [sorted(one["name"] for one in part["features"]) for part in (found, *found["others"])]
    assert names == [["a"], ["label", "name"]] and "records of several kinds" in done.stderr
    assert "are described" not in done.stderr


def test_what_is_odd_about_a_feature_list_is_not_said_of_the_feature_of_its_name(tmp_path: Path) -> None:
    payloads = [sequence({"id": ("int64_list", [1])}, {"id": [("int64_list", [1])]}), sequence({}, {"b": []})]
    shown = on_terminal("schema", write(tmp_path / "a", *payloads), columns=120, NO_COLOR="1").splitlines()
    assert [line.partition(":")[0] for line in shown if " missing in 1 of 2 " in line] == [
        "id",
        "the feature list id",
        "the feature list b",
    ]


@pytest.mark.parametrize(("what", "more"), [("tf", False), ("pbtxt", True)])
def test_of_mixed_kinds_that_are_too_many_are_those_described(what: str, more: bool) -> None:
    total = Schema()
    total.ofrecords.merge(batch([ofrecord({"a": ("int32_list", [1])})] * 3, family="ofrecord"))
    total.examples.merge(batch([example({"b": ("int64_list", [1])})]))
    total.ofrecords.more = True
    assert ("# There are more features than" in emit(total, what)) == more
    assert [said for said in unsaid(total, table_of(total, what)) if "more than 1 features" in said]


@pytest.mark.parametrize("what", ["tf", "dali", "tfrecord", "pbtxt"])
def test_code_says_that_shards_were_missing(what: str, tmp_path: Path) -> None:
    for number in (0, 2):
        write(tmp_path / f"s-{number:05d}-of-00004", example({"a": ("int64_list", [1])}))
    done = run("schema", "--emit", what, f"{tmp_path}/s@4")
    assert done.returncode == 1
    assert "# Left out, and possibly unlike what is described: 2 shards missing from their sets.\n" in done.stdout
    found = json.loads(run("schema", "--emit", "json", f"{tmp_path}/s@4", tmp_path / "nowhere").stdout)
    assert (found["missing"], found["unread"], found["damaged"]) == (2, 1, 0)


@pytest.mark.parametrize("what", ["tf", "dali", "tfrecord", "pbtxt"])
def test_standard_error_tells_of_each_feature_that_is_left_out_or_of_two_kinds(what: str, tmp_path: Path) -> None:
    payloads = [
        example({f"f{i:02d}": (kind, [1]) for i in range(60)} | {"b": ("int64_list", [1])})
        for kind in ("int64_list", "float_list")
    ]
    (tmp_path / "a").write_bytes(b"".join(map(frame, payloads)))
    done = run("schema", "--emit", what, tmp_path / "a")
    said = done.stderr.splitlines()
    assert (done.returncode, len(said), said[-1]) == (0, 51, "tfrtool: and 10 more such features")
    assert all("kinds differ: int64 in 1, float in 1 records; " in line for line in said[:50])
    assert run("schema", "-q", "--emit", what, tmp_path / "a").stderr == ""


def test_emit_tfds_writes_two_files_into_the_folder(path: Path, tmp_path: Path) -> None:
    done = run("schema", "--emit", "tfds", "-o", tmp_path, path)
    assert (done.returncode, done.stdout) == (0, "")
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    assert info["splits"][0]["shardLengths"] == ["12"]


def test_what_a_format_cannot_hold_is_said_and_ends_in_exit_3(tmp_path: Path) -> None:
    events = write(tmp_path / "e", event(step=1, summary=scalar("loss", 1)))
    done = run("schema", "--emit", "tf", events)
    assert (done.returncode, done.stdout) == (3, "")
    assert "tf.io reads Examples, and the inputs hold records of kind event" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["--emit", "tf", "--json"],
        ["--emit", "tfds"],
        ["-o", "x"],
        ["--force"],
        ["-n", "0"],
        ["--emit", "yaml"],
    ],
    ids=" ".join,
)
def test_contradictions_are_wrong_usage(args: list[str], path: Path) -> None:
    assert run("schema", *args, path).returncode == 2


def test_quiet_prints_nothing(path: Path) -> None:
    done = run("schema", "-q", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_empty_file_has_an_empty_schema(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    assert (run("schema", path).returncode, run("schema", path).stdout) == (0, "")
    assert json_lines("schema", path)[1]["features"] == []
    assert on_terminal("schema", path, NO_COLOR="1") == "1 file: no records\n"
