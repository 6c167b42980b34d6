"""What `tfrtool repair` writes, says and refuses."""

import gzip
import json
import os
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import pack

from faults import written_by
from fork import forked
from make_samples import DATA, example, features, flip, frame
from program import on_terminal, run, shell
from pytest import MonkeyPatch, fixture, mark

from tfrtool.framing.layout import WRONG_WRITERS, ZEROED
from tfrtool.verbs import RepairOptions, repair_file

SOUND, DAMAGED = (DATA / "flowers.tfrecord").read_bytes(), (DATA / "flowers-damaged.tfrecord").read_bytes()
PAYLOADS = [example((b"number", [number])) for number in range(4)]
WHOLE = b"".join(map(frame, PAYLOADS))
FLIPPED = WHOLE + flip(frame(PAYLOADS[0]), 14)
TORN = WHOLE + frame(b"torn")[:-3]


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, data in {"sound": SOUND, "damaged": DAMAGED, "flipped": FLIPPED, "torn": TORN}.items():
        Path(name).write_bytes(data)
    return tmp_path


def file(*args: str) -> dict[str, object]:
    """The `file` object of `repair --json`."""
    (report,) = (line for line in lines("repair", *args) if line["type"] == "file")
    return report


def lines(*args: str) -> list[dict[str, object]]:
    """What a command says with `--json`."""
    return [json.loads(line) for line in forked(*args, "--json").said.splitlines() if line.startswith("{")]


# What is written


def test_what_is_written_verifies_and_a_second_repair_changes_nothing() -> None:
    assert forked("repair", "damaged", "-o", "once").code == 1
    assert forked("verify", "once").code == 0
    assert forked("repair", "once", "-o", "twice").code == 0
    assert Path("once").read_bytes() == Path("twice").read_bytes()


def test_a_sound_file_is_copied_byte_for_byte() -> None:
    result = run("repair", "sound", "-o", "out")
    assert result.returncode == 0
    assert "nothing to repair: the copy is the input, byte for byte" in result.stdout
    assert Path("out").read_bytes() == SOUND


def test_what_is_all_brought_back_is_no_finding() -> None:
    Path("header").write_bytes(flip(WHOLE, 1))
    assert forked("repair", "header", "-o", "out").code == 0
    assert forked("repair", "header", "--dry-run").code == 0
    assert Path("out").read_bytes() == WHOLE


def test_nothing_saved_is_no_output() -> None:
    Path("page").write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")
    result = run("repair", "page", "-o", "out")
    assert (result.returncode, os.path.exists("out")) == (1, False)
    assert "a web page (HTML); nothing is saved" in result.stdout


@mark.parametrize(
    ("options", "expected"),
    [
        ([], gzip.compress),
        (["-z", "auto"], gzip.compress),
        (["-z", "none"], bytes),
        (["-z", "zlib"], zlib.compress),
    ],
)
def test_an_output_is_compressed_as_its_input_unless_told(
    options: list[str], expected: Callable[[bytes], bytes]
) -> None:
    for data, name in ((SOUND, "whole"), (DAMAGED, "hurt")):
        Path(name).write_bytes(gzip.compress(data))
        forked("repair", name, "-o", f"{name}-out", *options)
        assert Path(f"{name}-out").read_bytes()[:1] == expected(data)[:1]
        assert forked("verify", f"{name}-out").code == 0


def test_the_compression_of_an_input_is_told_by_its_bytes_whatever_the_output_is_to_be() -> None:
    assert forked("repair", "sound", "-o", "out", "-z", "gzip").code == 0
    assert gzip.decompress(Path("out").read_bytes()) == SOUND


def test_bits_are_fixed_on_request_alone() -> None:
    assert forked("repair", "flipped", "-o", "out").code == 1
    assert Path("out").read_bytes() == WHOLE
    report = file("flipped", "-o", "fixed", "--fix-bits")
    assert (report["corrected"], report["dropped_bytes"]) == (1, 0)
    assert Path("fixed").read_bytes() == WHOLE + frame(PAYLOADS[0])


def test_what_nothing_proves_is_kept_on_request_alone() -> None:
    Path("zeroed").write_bytes(written_by(ZEROED, PAYLOADS))
    assert file("zeroed", "-o", "none")["output"] is None
    report = file("zeroed", "-o", "out", "--keep-unverified")
    assert (report["unverified"], report["records"]) == (4, 4)
    assert Path("out").read_bytes() == WHOLE


@mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
def test_the_checksums_of_a_faulty_writer_are_replaced(layout) -> None:  # type: ignore[no-untyped-def]
    Path("wrong").write_bytes(written_by(layout, PAYLOADS))
    assert forked("repair", "wrong", "-o", "out").code == 0
    assert Path("out").read_bytes() == WHOLE


def test_keep_chooses_the_side_of_the_first_damage() -> None:
    Path("middle").write_bytes(WHOLE + b"stray bytes" + frame(b"after"))
    for keep, expected in (("all", WHOLE + frame(b"after")), ("before", WHOLE), ("after", frame(b"after"))):
        assert forked("repair", "middle", "-o", keep, "--keep", keep).code == 1
        assert Path(keep).read_bytes() == expected


def test_keep_before_accounts_for_every_byte_that_it_leaves_out() -> None:
    report = file("damaged", "--dry-run", "--keep", "before")
    assert (report["records"], report["sound"], report["restored"]) == (3, 8, 0)
    assert report["output_bytes"] + report["dropped_bytes"] == len(DAMAGED)  # type: ignore[operator]


def test_side_files_hold_what_was_dropped_and_what_became_of_every_byte() -> None:
    forked("repair", "damaged", "torn", "-o", "out/", "--quarantine", "dropped", "--report", "list")
    rows = [json.loads(line) for line in Path("list").read_text().splitlines()]
    for name, data in (("damaged", DAMAGED), ("torn", TORN)):
        ranges = [(row["begin"], row["end"]) for row in rows if row["path"] == name]
        assert [ranges[0][0], *(end for _, end in ranges)] == [*(begin for begin, _ in ranges), len(data)]
    for row in rows:
        for begin, end in row.get("dropped", ()):
            data = {"damaged": DAMAGED, "torn": TORN}[row["path"]][begin:end]
            assert data in Path("dropped").read_bytes()[row["quarantine"] :]


def test_the_list_takes_back_what_it_says_of_an_output_that_was_not_written() -> None:
    Path("taken").write_bytes(b"old")
    assert forked("repair", "torn", "-o", "taken", "--report", "list").code == 3
    (row,) = map(json.loads, Path("list").read_text().splitlines())
    assert (row["type"], row["path"]) == ("error", "torn")
    assert "exists already" in row["message"]


# Where it is written


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
    assert "say where to write, as in -o OUT" in result.stderr


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
    assert "cannot make the directory 'no/new/': no such file or directory; make the one above it first" in ended.said
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
    "sound torn -o damaged": "2 inputs need a directory, and 'damaged' is none",
    "sound torn -o -": "-o - writes one file, and there are 2 inputs",
    "sound -o - --json": "where --json would write too",
    "- -o there/": "standard input has no name for its output in 'there/'",
    "sound -o out --report out": "--report 'out' is the output 'out'",
    "sound -o new/ --report new": "--report 'new' is the directory 'new/'",
    "sound torn -o new/ --report new/torn": "--report 'new/torn' is the output 'new/torn'",
    "sound -o out --quarantine link": "--quarantine 'link' is the input 'sound'",
    "sound -o out --quarantine x --report ./x": "--report './x' is --quarantine 'x'",
    "sound -o ''": "--output needs the name of a file",
    "sound -o out --report ''": "--report needs the name of a file",
    "sound -o out --report -": "--report needs a file of its own",
    "sound -o out --report /dev/stdout": "--report needs a file of its own",
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
    assert "a terminal takes for commands" in on_terminal("repair", "sound", "-o", "-", columns=200)


def test_records_that_go_to_standard_output_by_another_name_are_not_mixed_with_words() -> None:
    result = shell("tfrtool repair torn -o /dev/stdout 2> words | cat > records")
    assert result.returncode == 0
    assert Path("records").read_bytes() == WHOLE
    assert Path("words").read_text().startswith("torn\tdropped\ttorn\t")


# What is said


def test_a_pipe_gets_a_line_for_each_range_and_for_each_input() -> None:
    rows = [line.split("\t") for line in run("repair", "damaged", "-o", "out").stdout.splitlines()]
    assert [row[1] for row in rows] == ["restored", "dropped", "restored", "dropped", "damaged"]
    assert rows[0][:8] == ["damaged", "restored", "length-crc", "2390", "3267", "3", "1", "0"]
    assert rows[1][5:8] == ["6", "0", "997"]
    assert rows[4][:6] == ["damaged", "damaged", "8", "10", "1993", "out"]
    assert rows[4][6].startswith(
        "10 records written: 8 sound, 1 header mended, 1 checksum mended; "
        "not in the output: 2 damaged records, 1,993 of 11,520 bytes; "
    )


def test_quiet_answers_by_the_exit_code_alone() -> None:
    result = run("repair", "-q", "damaged", "-o", "out")
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


DAMAGE = "type v path begin end fault record want got restorable message action how records at evidence dropped"
FILE = (
    "type v path status format compression size records kind diagnosis message hint output kept restored corrected "
    "unverified dropped_bytes quarantine report repeats sound bytes damaged_bytes output_bytes"
)


def test_json_has_the_documented_fields() -> None:
    *damage, report, summary = lines("repair", "damaged", "-o", "out")
    assert {" ".join(one) for one in damage} == {DAMAGE}
    assert [one["action"] for one in damage] == ["restored", "dropped", "restored", "dropped"]
    assert [one["at"] for one in damage] == [3, None, 7, None]
    assert damage[1]["dropped"] == [[5140, 6137]]
    assert " ".join(report) == FILE
    assert report["kept"] + report["restored"] == report["records"] == summary["records"] == 10
    assert (report["output"], report["bytes"], report["output_bytes"]) == ("out", 11520, 9527)
    assert (summary["damaged"], summary["exit"]) == (1, 1)


def test_json_has_the_same_fields_for_an_input_that_cannot_be_read() -> None:
    report = file("nowhere", "-o", "out")
    assert " ".join(report) == f"{FILE} error"
    assert (report["status"], report["output"], report["repeats"]) == ("error", None, None)


def shown(*args: str) -> str:
    return on_terminal("repair", *args, NO_COLOR="1", columns=200)


def test_a_terminal_shows_the_file_before_and_after() -> None:
    before, after = (
        line.split()[1] for line in shown("damaged", "-o", "out").splitlines() if line.startswith(("before ", "after "))
    )
    assert len(before) == len(after) == 200 - len("before ")
    assert set(before) == set("█╳") and set(after) == set("█▒╳")
    assert [at for at, cell in enumerate(before) if cell == "█"] == [at for at, cell in enumerate(after) if cell == "█"]


def test_a_terminal_lists_twenty_losses_and_counts_the_others() -> None:
    Path("many").write_bytes((frame(b"sound") + flip(frame(b"payload"), 14, 1) + b"") * 25)
    text = shown("many", "-o", "out")
    assert sum("data-crc" in line for line in text.splitlines()) == 20
    assert "and 5 more; --json lists all" in text


def test_repeats_are_pointed_out() -> None:
    Path("twice").write_bytes(WHOLE + b"resumed" + WHOLE)
    assert "check: 4 payloads written more than once" in shown("twice", "-o", "out")
    assert file("twice", "-o", "again")["repeats"] == 4


def test_a_corrected_payload_is_pointed_out_with_its_chance_of_being_wrong() -> None:
    text = shown("flipped", "-o", "out", "--fix-bits")
    size = len(PAYLOADS[0])
    assert f"each is wrong with a chance of at most 1 in {2**32 // (8 * size):,}" in text
    assert "check: record 4 of the output: bit 0 of byte 2 of the payload turned over" in text


def next_commands(text: str) -> list[str]:
    return [line.removeprefix("next: ") for line in text.splitlines() if line.startswith("next: ")]


def test_the_next_commands_can_be_pasted_and_do_what_they_say() -> None:
    name = "it's a $(file)"
    Path(name).write_bytes(FLIPPED)
    head, repair = next_commands(shown(name, "-o", "a b", "--report", "li st"))
    assert shell(head).stdout.count("\n") == 4
    assert shlex.split(repair)[-4:] == ["--fix-bits", "--report", "li st", "--force"]
    assert shell(repair).returncode == 0
    assert Path("a b").read_bytes() == WHOLE + frame(PAYLOADS[0])


def test_a_name_that_cannot_be_shown_can_be_pasted_all_the_same() -> None:
    name = os.fsdecode(b"it's\\ \x1b[31m\n\xff4 \xe2\x80\xae")
    os.rename("torn", name)
    command, _ = next_commands(shown(name, "--dry-run", "-o", "out"))
    assert shell(command).returncode == 1
    assert Path("out").read_bytes() == WHOLE


def test_a_dry_run_tells_the_command_that_writes() -> None:
    (command,) = next_commands(shown("torn", "--dry-run", "-o", "-x", "-z", "gzip", "--keep", "before"))
    assert command == "tfrtool repair torn -o ./-x -z gzip --keep before"
    assert shell(command).returncode == 1
    assert gzip.decompress(Path("-x").read_bytes()) == WHOLE


def test_unproved_payloads_are_offered() -> None:
    Path("zeroed").write_bytes(written_by(ZEROED, PAYLOADS))
    (command,) = next_commands(shown("zeroed", "-o", "out"))
    assert command == "tfrtool repair zeroed -o out --keep-unverified"
    assert shell(command).returncode == 0


def test_several_files_are_summed_up() -> None:
    assert shown("sound", "torn", "-o", "new").splitlines()[-1] == "2 files: 1 clean, 1 damaged; 16 records written"


@mark.parametrize("command", ["verify", "count"])
def test_the_other_commands_name_repair_as_the_next_step(command: str) -> None:
    os.rename("torn", "-to rn")
    (report, _) = (line for line in lines(command, "./-to rn") if line["type"] != "damage")
    assert report["hint"] == "run: tfrtool repair './-to rn' -o OUT"


def test_nobody_calls_an_ofrecord_file_checked() -> None:
    payload = features([(b"name", [b"value"])])
    Path("of").write_bytes((pack("<q", len(payload)) + payload) * 3)
    Path("torn-of").write_bytes(Path("of").read_bytes()[:-1])
    for name, said in (("of", "nothing to repair"), ("torn-of", "2 records written: 2 sound")):
        ended = forked("repair", name, "-o", f"{name}-out")
        assert said in ended.said
        assert "OFRecord has no checksums, so the payloads are not checked" in ended.said


@mark.parametrize("data", [SOUND, DAMAGED, gzip.compress(SOUND), gzip.compress(DAMAGED), SOUND.replace(b"\n", b"\r\n")])
def test_both_readings_of_an_input_together_are_its_whole_progress(data: bytes) -> None:
    Path("in").write_bytes(data)
    told: list[int] = []
    for _ in repair_file("in", "out", RepairOptions(progress=told.append)):
        pass
    assert sum(told) in (len(data), len(data) - 1)  # each is told of half the bytes


def test_keeping_what_stands_before_damage_at_the_front_says_that_nothing_does(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"INFO: " + frame(b"one") + frame(b"two"))
    result = run("repair", "in", "-o", "out", "--keep", "before", cwd=tmp_path)
    assert result.returncode == 1
    assert "nothing is written, since no record that can be saved stands before the first damage" in result.stdout
