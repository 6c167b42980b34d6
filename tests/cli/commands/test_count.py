"""What `tfrtool count` prints of files, sound, damaged and missing."""

import os
import subprocess
from pathlib import Path

from kit.make_samples import DATA, flip, frame
from kit.program import COMMAND, environment, json_lines, run

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"


def test_one_input_is_a_number_a_space_and_the_path() -> None:
    result = run("count", SOUND)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"12 {SOUND}\n", "")


def test_several_inputs_have_a_total_and_natural_order(tmp_path: Path) -> None:
    for name, records in (("a10", 3), ("a2", 2)):
        (tmp_path / name).write_bytes(frame(b"payload") * records)
    assert run("count", "a*", cwd=tmp_path).stdout == "2 a2\n3 a10\n5 total\n"


def test_an_empty_file_holds_no_records_and_is_sound(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = run("count", "empty", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "0 empty\n")


def test_damage_is_told_on_standard_error_and_does_not_hide_the_number(tmp_path: Path) -> None:
    (tmp_path / "torn").write_bytes(frame(b"one") + frame(b"two")[:-1])
    result = run("count", "torn", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "1 torn\n")
    assert result.stderr.startswith("tfrtool: torn: ")
    assert "tfrtool repair torn -o OUT" in result.stderr


def test_a_payload_that_its_checksum_disowns_is_counted_since_only_headers_are_read(tmp_path: Path) -> None:
    (tmp_path / "flipped").write_bytes(flip(frame(b"one"), 13))
    assert run("count", "flipped", cwd=tmp_path).stdout == "1 flipped\n"


def test_a_foreign_file_is_named_for_what_it_is_and_not_counted(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")
    result = run("count", "page", SOUND, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, f"12 {SOUND}\n12 total\n")
    assert result.stderr.startswith("tfrtool: page: ")
    assert result.stderr.count("\n") == 1


def test_standard_input_is_counted() -> None:
    with SOUND.open("rb") as file:
        result = subprocess.run([*COMMAND, "count", "-"], stdin=file, env=environment(), capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "12 -\n", "")


def test_a_missing_shard_is_a_finding(tmp_path: Path) -> None:
    for number in (0, 2):
        (tmp_path / f"train-{number:05}-of-00003").write_bytes(frame(b"payload"))
    result = run("count", "train@3", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.endswith("2 total\n")
    assert result.stderr == "tfrtool: train-00001-of-00003: missing from its shard set\n"
    summary = json_lines("count", "train@3", cwd=tmp_path)[-1]
    assert (summary["missing"], summary["missing_names"], summary["exit"]) == (1, ["train-00001-of-00003"], 1)


def test_quiet_prints_nothing_but_errors() -> None:
    result = run("count", "-q", DAMAGED, "no-such-file")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.count("\n") == 1 and "no-such-file" in result.stderr


def test_verbose_says_what_an_input_is_taken_for() -> None:
    assert run("count", "-v", SOUND).stderr.startswith(f"tfrtool: {SOUND}: tfrecord, not compressed")


def test_a_path_cannot_command_the_terminal(tmp_path: Path) -> None:
    name = b"a\n\x1b[31m\xff\xe2\x80\xae[red]x"
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_bytes(frame(b"payload"))
    result = run("count", os.fsdecode(name), cwd=tmp_path)
    assert result.stdout == "1 a\\n\\x1b[31m\\xff\\u202e[red]x\n"


def test_missing_shards_that_follow_one_another_are_told_in_one_line(tmp_path: Path) -> None:
    for index in (0, 4, 5, 9):
        (tmp_path / f"train-{index:05d}-of-00010").write_bytes(frame(b"payload"))
    assert run("count", "train@10", cwd=tmp_path).stderr.splitlines() == [
        "tfrtool: train-00001-of-00010 to train-00003-of-00010: 3 shards missing from the set",
        "tfrtool: train-00006-of-00010 to train-00008-of-00010: 3 shards missing from the set",
    ]


def test_many_gaps_in_a_set_do_not_flood_the_terminal(tmp_path: Path) -> None:
    for index in range(0, 100, 2):
        (tmp_path / f"train-{index:05d}-of-00100").write_bytes(frame(b"payload"))
    told = run("count", "train@100", cwd=tmp_path).stderr.splitlines()
    assert len(told) == 21
    assert told[-1] == "tfrtool: and 30 more missing shards; --json lists all"
