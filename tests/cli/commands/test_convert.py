"""What `tfrtool convert` writes, says and refuses."""

import os
import re
from pathlib import Path

from kit.damage import flip
from kit.forked import forked
from kit.messages import entry, event, example, ofrecord, raw_example, scalar, sized
from kit.program import json_lines, on_terminal, run, shell
from pytest import MonkeyPatch, fixture, mark

from tfrtool import records
from tfrtool.framing.encode import frame, ofrecord_frame

EXAMPLES = [example({"image/label": ("int64_list", [n]), "image/data": ("bytes_list", [b"x"])}) for n in range(5)]
TF = b"".join(map(frame, EXAMPLES))
MIXED = b"".join(ofrecord_frame(ofrecord({"n": ("int32_list", [n]), "d": ("double_list", [n / 10])})) for n in range(3))


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, data in {"tf": TF, "mixed": MIXED, "hurt": flip(TF, 14)}.items():
        Path(name).write_bytes(data)
    return tmp_path


def made() -> list[str]:
    return sorted(set(os.listdir()) - {"tf", "mixed", "hurt"})


# What is written, and the exit code


def test_parts_are_written_and_oneflow_is_told_of_them() -> None:
    result = run("convert", "tf", "-o", "parts", "--to", "ofrecord", "--shards", "2", "--strip-prefix", "image/")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "tf\tclean\t5\t5\t0\t5 records written",
        "parts/part-00000\toutput",
        "parts/part-00001\toutput",
        "OneFlow\tdata_part_num=2, part_name_prefix='part-', part_name_suffix_length=5",
    ]
    assert [len(list(records(f"parts/{name}"))) for name in sorted(os.listdir("parts"))] == [3, 2]


def test_that_oneflow_reads_nothing_packed_is_said() -> None:
    result = run("convert", "tf", "-o", "parts", "--to", "ofrecord", "--shards", "1", "--compress", "gzip")
    assert result.stdout.endswith("part_name_suffix_length=5, after decompression: it cannot read gzip\n")


def test_changes_are_no_finding_and_losses_by_request_are() -> None:
    result = run("convert", "mixed", "-o", "out", "--to", "tfrecord", "--double", "bytes")
    assert (result.returncode, result.stderr) == (0, "")
    assert "mixed\tchanged\tn\t3\tint32 stored as int64\n" in result.stdout
    result = run("convert", "mixed", "-o", "out", "--to", "tfrecord", "--double", "round", "--force")
    assert result.returncode == 1
    assert "mixed\tlost\td\t2\tdouble rounded to float\n" in result.stdout
    assert "3 records written, 1 loss (as requested)" in result.stdout


def test_a_list_that_another_overrides_is_lost_though_nobody_asked_for_it() -> None:
    numbers, texts = sized(3, sized(1, b"\1")), sized(1, sized(1, b"x"))
    Path("twice").write_bytes(frame(raw_example(entry(b"a", numbers, texts))))
    for how in (["--to", "ofrecord"], ["--select", "a"]):
        result = run("convert", "twice", "-o", "out", "--force", *how)
        assert result.returncode == 1
        assert "lost\ta\t1\ta list that one of another kind overrides, left out\n" in result.stdout
        assert "1 record written, 1 loss\n" in result.stdout


def test_what_cannot_be_held_is_refused_with_its_place_and_what_to_do() -> None:
    result = run("convert", "mixed", "-o", "out", "--to", "tfrecord")
    assert (result.returncode, made()) == (3, [])
    said = r"'mixed' record 1 at byte 39: feature 'd': value 0 of it, 0.1, is no float; --double round rounds"
    assert re.search(said, result.stderr)


@mark.parametrize("order", [["hurt", "tf"], ["tf", "hurt"]])
def test_damage_stops_everything_unless_it_is_skipped(order: list[str]) -> None:
    result = run("convert", *order, "-o", "out")
    assert (result.returncode, made()) == (1, [])
    assert "hurt\tdata-crc\t0\t" in result.stdout
    assert "stopped at the first damage; nothing written; run: tfrtool repair hurt -o OUT" in result.stdout
    assert "tf\tclean\t5\t0\t0\tnothing written: not all inputs could be converted" in result.stdout
    result = run("convert", *order, "-o", "out", "--skip-damaged")
    assert (result.returncode, len(list(records("out")))) == (1, 9)
    assert "4 records written, 1 skipped" in result.stdout


def test_an_input_that_cannot_be_opened_leaves_nothing() -> None:
    result = run("convert", "tf", "nowhere", "-o", "out", "--skip-damaged")
    assert (result.returncode, made()) == (3, [])


def test_a_missing_shard_is_a_finding_that_stops_unless_damage_is_skipped() -> None:
    assert forked("convert", "tf", "-o", "set", "--shards", "2").code == 0
    os.unlink("set-00001-of-00002")
    result = run("convert", "set@2", "-o", "out")
    assert (result.returncode, os.path.exists("out")) == (1, False)
    assert "set-00001-of-00002\tmissing" in result.stdout
    assert "shards are missing; use --skip-damaged to continue without them" in result.stdout
    assert forked("convert", "set@2", "-o", "out", "--skip-damaged").code == 1
    assert len(list(records("out"))) == 3


def test_a_set_that_cannot_be_published_says_so_for_each_input() -> None:
    Path("out-00000-of-00001").write_bytes(b"old")
    result = run("convert", "tf", "-o", "out", "--records-per-shard", "9")
    assert (result.returncode, made()) == (3, ["out-00000-of-00001"])
    assert "nothing written: the outputs could not be published" in result.stdout


def test_an_output_that_exists_is_refused_and_replaced_by_force() -> None:
    Path("out").write_bytes(b"old")
    result = run("convert", "tf", "-o", "out")
    assert (result.returncode, Path("out").read_bytes()) == (3, b"old")
    assert "'out' exists already; use --force to replace it" in result.stderr
    assert forked("convert", "tf", "-o", "out", "--force").code == 0


def test_a_dry_run_writes_nothing() -> None:
    result = run("convert", "mixed", "--to", "tfrecord", "--double", "round", "--dry-run")
    assert (result.returncode, made()) == (1, [])
    assert "3 records would be written, 1 loss (as requested)" in result.stdout


@mark.parametrize(
    "how",
    [
        [],
        ["-o", "out", "--shards", "2", "--shard-size", "3MB"],
        ["-o", "out", "--shard-size", "much"],
        ["-o", "out", "--shard-size", "0"],
        ["-o", "out", "--where", "label"],
        ["-o", "out", "--type", "label"],
        ["-o", "out", "--type", "label=text"],
        ["-o", "out", "--rename", "label"],
        ["-o", "out", "--shards", "0"],
        ["-o", "-", "--json"],
    ],
)
def test_wrong_usage_ends_with_2_and_leaves_nothing(how: list[str]) -> None:
    assert (forked("convert", "tf", *how).code, made()) == (2, [])


@mark.parametrize(
    ("text", "size"), [("150MB", 150_000_000), ("1.5KiB", 1536), ("7", 7), ("2 gb", 2 * 10**9), ("3k", 3000)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    from tfrtool.cli.commands.convert import _size

    assert _size(None, None, text) == size  # type: ignore[arg-type]


@mark.parametrize(
    "how",
    [
        "convert tf -o tf --force",
        "convert mixed tf -o ./tf",
        "convert tf -o link --force",
        "convert tf -o out --schema-out tf --force",
        "convert tf -o out --schema-out out",
        "stat tf --index tf --force",
        "repair tf -o tf",
    ],
)
def test_an_output_that_is_an_input_is_wrong_usage_as_in_repair(how: str) -> None:
    os.symlink("tf", "link")
    ended = run(*how.split())
    assert (ended.returncode, ended.stdout, Path("tf").read_bytes()) == (2, "", TF)
    assert " is the input 'tf'; an input is never written to" in ended.stderr or "is the output 'out'" in ended.stderr


def test_two_outputs_of_one_name_in_a_directory_say_what_to_do() -> None:
    os.mkdir("a")
    Path("a/tf").write_bytes(TF)
    result = run("convert", "tf", "a/tf", "-o", "out/")
    assert (
        "'tf' and 'a/tf' would both be written as 'out/tf': convert them into directories of their own" in result.stderr
    )


# Pipes


def test_records_go_into_a_pipe_and_words_to_standard_error() -> None:
    result = shell('tfrtool convert "$1" -o - --compress gzip 2>words | gunzip | tfrtool count -; cat words', "tf")
    assert result.stdout.splitlines()[0].split() == ["5", "-"]
    assert "tf\tclean\t5\t5\t0\t5 records written" in result.stdout


@mark.parametrize(
    ("how", "said"),
    [
        ("late -o -", "stopped at the first damage; 4 records sent to the pipe before; run: tfrtool repair"),
        (
            "late -o - --to jsonl",
            "stopped at the first damage; 4 records sent to the pipe before; run: tfrtool repair",
        ),
        ("tf late -o -", "tf\tclean\t5\t5\t0\t5 records sent to the pipe before: not all inputs could be converted"),
        ("tf late tf -o -", "late\tdamaged\t4\t4\t1\tstopped at the first damage"),
        ("late -o - --compress gzip", "partial output was written; discard it"),
        ("hurt late -o -", "late\tdamaged\t4\t0\t1\tstopped at the first damage; nothing written"),
        ("mixed -o - --to tfrecord", "mixed\terror\t3\t1\t0\t'mixed' record 1"),
    ],
)
def test_what_went_into_a_pipe_before_the_damage_is_told(how: str, said: str) -> None:
    Path("late").write_bytes(flip(TF, len(TF) - 5))
    said_all = shell(f"tfrtool convert {how} >gone").stderr
    assert said in said_all
    counts = [line.split("\t")[3] for line in said_all.splitlines() if re.search("\t(clean|damaged|error)\t", line)]
    if "gzip" not in how:
        found = Path("gone").read_bytes().count(b"\n") if "jsonl" in how else len(list(records("gone")))
        assert sum(map(int, counts)) == found


def test_a_pipe_is_read_and_cut_into_shards() -> None:
    result = shell("cat tf | tfrtool convert - -o out --shards 2 --to ofrecord --int auto && tfrtool count out/*")
    assert (result.returncode, result.stdout.splitlines()[-1].split()[0]) == (0, "5")


def test_a_reader_that_goes_away_ends_it_with_141() -> None:
    Path("large").write_bytes(frame(bytes(10_000)) * 2000)
    result = shell("tfrtool convert large -o - | head -c 100 >/dev/null; echo ${PIPESTATUS[0]}")
    assert result.stdout.strip() == "141"


# Records of another kind


@mark.parametrize(("name", "its"), [("events", "Events"), ("others", "of no kind that is known")])
@mark.parametrize("how", [["--to", "jsonl"], ["--to", "ofrecord"], ["--where", "n == 1"]])
def test_a_sound_file_of_records_without_features_is_foreign_and_not_damaged(
    name: str, its: str, how: list[str]
) -> None:
    payload = event(step=1, summary=scalar("loss", 0.5)) if name == "events" else b"text"
    Path(name).write_bytes(frame(payload) * 3)
    result = run("convert", name, "-o", "out", *how)
    assert (result.returncode, os.path.exists("out")) == (1, False)
    assert f"{name}\tforeign\t2\t0\t1\tits records are {its}, which have no features" in result.stdout
    assert "nothing written; use --to tfrecord without feature options to copy them unchanged" in result.stdout
    assert forked("convert", name, "-o", "out", "--to", "tfrecord").code == 0


def test_a_file_of_examples_and_others_is_damaged() -> None:
    Path("both").write_bytes(frame(event(step=1)) + TF)
    assert "both\tdamaged\t" in run("convert", "both", "-o", "out", "--to", "jsonl").stdout


# JSON


def test_json_has_what_was_lost_and_changed_and_all_outputs() -> None:
    one, two, summary = json_lines("convert", "mixed", "tf", "-o", "out/", "--to", "tfrecord", "--double", "round")
    assert (one["output"], one["written"], one["skipped"]) == (["out/mixed.tfrecord"], 3, 0)
    assert one["losses"] == [{"feature": "d", "what": "double rounded to float", "records": 2, "first": 1}]
    assert {change["what"] for change in one["changes"]} == {"double stored as float, exactly", "int32 stored as int64"}
    assert (two["output"], two["losses"], two["changes"]) == (["out/tf.tfrecord"], [], [])
    assert (summary["output"], summary["written"], summary["exit"]) == (["out/mixed.tfrecord", "out/tf.tfrecord"], 8, 1)


def test_json_tells_damage_then_one_file_object_an_input() -> None:
    found = json_lines("convert", "hurt", "mixed", "nowhere", "-o", "out", "--to", "tfrecord")
    assert [line["type"] for line in found] == ["damage", "file", "file", "file", "summary"]
    assert [line.get("status") for line in found] == [None, "damaged", "error", "error", None]
    assert [(line["written"], line["output"]) for line in found[1:4]] == [(0, [])] * 3
    assert found[2]["error"]["kind"] == "refused"
    assert (found[-1]["exit"], found[-1]["written"], made()) == (3, 0, [])


# For people


def test_a_terminal_shows_a_table_of_what_happened() -> None:
    shown = on_terminal("convert", "mixed", "-o", "parts/", "--to", "tfrecord", "--double", "round", NO_COLOR="1")
    assert [line.rstrip() for line in shown.splitlines()] == [
        "mixed: clean, 117 bytes; 3 records written, 1 loss (as requested)",
        "feature           records  what happened",
        "d        lost           2  double rounded to float",
        "n        changed        3  int32 stored as int64",
        "d        changed        1  double stored as float, exactly",
        "3 records in 1 file: parts/mixed.tfrecord",
    ]


def test_names_from_the_data_never_command_a_terminal() -> None:
    evil = ofrecord({"\x1b[31mred\u202e": ("int32_list", [1])})
    Path("evil").write_bytes(ofrecord_frame(evil))
    for shown in (
        on_terminal("convert", "evil", "--to", "tfrecord", "--dry-run", NO_COLOR="1"),
        run("convert", "evil", "--to", "tfrecord", "--dry-run").stdout,
    ):
        assert r"\x1b[31mred\u202e" in shown
        assert "\x1b[31m" not in shown


def test_quiet_says_nothing() -> None:
    result = run("convert", "tf", "-o", "out", "-q")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_an_interrupted_conversion_leaves_nothing() -> None:
    def interrupt_at_publication(told: int) -> None:
        from tfrtool.sources.sinks import output_set as sink_set

        def stop(*args: object) -> None:
            raise KeyboardInterrupt

        sink_set.publish = stop  # type: ignore[assignment]

    ended = forked("convert", "tf", "-o", "out", "--shards", "2", before=interrupt_at_publication)
    assert (ended.code, made()) == (130, [])
