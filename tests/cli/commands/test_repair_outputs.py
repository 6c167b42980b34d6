"""Where `tfrtool repair` writes, and what it refuses to write over."""

import os
import shlex
from pathlib import Path

from kit.forked import forked
from kit.program import on_terminal, run, shell
from kit.repair_inputs import SOUND, TORN, WHOLE, lay_out, lines
from pytest import MonkeyPatch, fixture, mark


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


def test_a_dry_run_says_the_same_and_writes_nothing(here: Path) -> None:
    before = sorted(os.listdir())
    args = ("damaged", "torn", "-o", "out/", "--quarantine", "dropped", "--report", "list")
    dry = lines("repair", *args, "--dry-run")
    assert sorted(os.listdir()) == before
    wet = lines("repair", *args)
    for one, other in zip(dry, wet, strict=True):
        for field in ("output", "quarantine", "report", "message", "hint"):
            if one["type"] == "file":
                one[field] = other[field] = None
    assert dry == wet


def test_a_dry_run_needs_no_output() -> None:
    assert forked("repair", "damaged", "--dry-run").code == 1
    result = run("repair", "damaged")
    assert result.returncode == 2
    assert "missing output: add -o OUT" in result.stderr


@mark.parametrize("output", ["there", "there/", "new/"])
def test_a_directory_takes_files_of_the_same_names(output: str) -> None:
    os.mkdir("there")
    assert forked("repair", "sound", "-o", output).code == 0
    assert os.listdir(output) == ["sound"]


def test_several_inputs_go_into_a_directory_which_is_made() -> None:
    assert forked("repair", "sound", "damaged", "-o", "new").code == 1
    assert sorted(os.listdir("new")) == ["damaged", "sound"]


@mark.parametrize("given", ["there", "@list", "there/*", "s@1"])
def test_what_may_stand_for_several_inputs_gives_a_directory_though_it_is_one(given: str) -> None:
    os.mkdir("there")
    for name in ("there/s-00000-of-00001", "s-00000-of-00001"):
        Path(name).write_bytes(SOUND)
    Path("list").write_text("there/s-00000-of-00001")
    assert forked("repair", given, "-o", "new").code == 0
    assert os.listdir("new") == ["s-00000-of-00001"]
    assert forked("repair", given, "-o", "list").code == 2
    assert forked("repair", given, "-o", "-", "-q", "--dry-run").code == 0


def test_a_directory_that_was_made_for_nothing_goes_again() -> None:
    Path("empty-handed").write_bytes(b"<html></html>")
    assert forked("repair", "empty-handed", "-o", "new/").code == 1
    assert not os.path.exists("new")


def test_an_input_that_is_not_there_does_not_stop_the_others() -> None:
    result = run("repair", "nowhere", "sound", "-o", "new")
    assert (result.returncode, os.listdir("new")) == (3, ["sound"])
    assert "tfrtool: nowhere: no such file or directory" in result.stderr


def test_a_directory_below_one_that_is_not_there_is_not_made() -> None:
    ended = forked("repair", "sound", "-o", "no/new/")
    assert ended.code == 3
    assert (
        "cannot make the directory 'no/new/': no such file or directory; make its parent directory first" in ended.said
    )
    ended = forked("repair", "sound", "-o", "no/new")
    assert ended.code == 3
    assert "the directory 'no': no such file or directory; make that directory first" in ended.said


def test_an_existing_file_is_replaced_by_force_alone() -> None:
    Path("out").write_bytes(b"old")
    result = run("repair", "torn", "-o", "out")
    assert (result.returncode, Path("out").read_bytes()) == (3, b"old")
    assert (
        result.stderr == "tfrtool: torn: 'out' exists already; to replace it, run: tfrtool repair torn -o out --force\n"
    )
    assert forked("repair", "torn", "-o", "out", "--force").code == 1
    assert Path("out").read_bytes() == WHOLE


REFUSED = {
    "sound -o hard --force": "the output 'hard' is the input 'sound'",
    "sound -o out --report hard --force": "--report 'hard' is the input 'sound'",
    "sound -o out --quarantine sound --force": "--quarantine 'sound' is the input 'sound'",
    "sound -o sound": "the output 'sound' is the input 'sound'",
    "sound -o ./there/../sound --force": "is the input 'sound'",
    "sound -o link --force": "the output 'link' is the input 'sound'",
    "sound -o .": "the output './sound' is the input 'sound'",
    "sound there/other -o there --force": "the output 'there/other' is the input 'there/other'",
    "sound there/sound -o new": "'sound' and 'there/sound' would both be written as 'new/sound'",
    "sound torn -o damaged": "2 inputs need a directory, and 'damaged' is not one",
    "sound torn -o -": "-o - writes one file, but there are 2 inputs",
    "sound -o - --json": "would both write to standard output",
    "- -o there/": "standard input has no name for its output in 'there/'",
    "sound -o out --report out": "--report 'out' is the output 'out'",
    "sound -o new/ --report new": "--report 'new' is the directory 'new/'",
    "sound torn -o new/ --report new/torn": "--report 'new/torn' is the output 'new/torn'",
    "sound -o out --quarantine link": "--quarantine 'link' is the input 'sound'",
    "sound -o out --quarantine x --report ./x": "--report './x' is --quarantine 'x'",
    "sound -o ''": "--output needs the name of a file",
    "sound -o out --report ''": "--report needs the name of a file",
    "sound -o out --report -": "--report needs a file, and",
    "sound -o out --report /dev/stdout": "--report needs a file, and",
}


@mark.parametrize("line", REFUSED)
def test_what_would_be_one_file_is_refused_before_anything_is_written(line: str) -> None:
    os.mkdir("there")
    for name in ("there/other", "there/sound"):
        Path(name).write_bytes(TORN)
    os.symlink("sound", "link")
    os.link("sound", "hard")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    ended = forked("repair", *shlex.split(line))
    assert ended.code == 2
    assert REFUSED[line] in ended.said
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_a_terminal_gets_no_records() -> None:
    assert "writes binary data" in on_terminal("repair", "sound", "-o", "-", columns=200)


def test_records_that_go_to_standard_output_by_another_name_are_not_mixed_with_words() -> None:
    result = shell("tfrtool repair torn -o /dev/stdout 2> words | cat > records")
    assert result.returncode == 0
    assert Path("records").read_bytes() == WHOLE
    assert Path("words").read_text().startswith("torn\tdropped\ttorn\t")
