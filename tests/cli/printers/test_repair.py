"""What `tfrtool repair` says: in a pipe, on a terminal and as JSON."""

import gzip
import os
import shlex
from pathlib import Path
from struct import pack

from kit.damage import written_by
from kit.forked import forked
from kit.make_samples import features, flip, frame
from kit.program import on_terminal, run, shell
from kit.repair_inputs import DAMAGED, FLIPPED, PAYLOADS, SOUND, WHOLE, file, lay_out, lines
from pytest import MonkeyPatch, fixture, mark

from tfrtool.framing.layout import ZEROED
from tfrtool.verbs.repair.job import repair_file
from tfrtool.verbs.repair.options import RepairOptions


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


def test_a_pipe_gets_a_line_for_each_range_and_for_each_input() -> None:
    rows = [line.split("\t") for line in run("repair", "damaged", "-o", "out").stdout.splitlines()]
    assert [row[1] for row in rows] == ["restored", "dropped", "restored", "dropped", "damaged"]
    assert rows[0][:8] == ["damaged", "restored", "length-crc", "2390", "3267", "3", "1", "0"]
    assert rows[1][5:8] == ["6", "0", "997"]
    assert rows[4][:6] == ["damaged", "damaged", "8", "10", "1993", "out"]
    assert rows[4][6].startswith(
        "10 records written: 8 intact, 1 header corrected, 1 checksum corrected; "
        "dropped: 2 damaged records, 1,993 of 11,520 bytes; "
    )


def test_quiet_answers_by_the_exit_code_alone() -> None:
    result = run("repair", "-q", "damaged", "-o", "out")
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


DAMAGE = "type v path begin end fault record want got restorable message action how records at evidence dropped within"
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
    assert f"chance that a correction is wrong: at most 1 in {2**32 // (8 * size):,}" in text
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


def test_the_next_command_for_standard_input_begins_with_what_feeds_it() -> None:
    said = shell("cat flipped | tfrtool repair - -o out").stdout
    assert said.rstrip().endswith("run: … | tfrtool repair - -o out --fix-bits --force")


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
    for name, said in (("of", "nothing to repair"), ("torn-of", "2 records written: 2 intact")):
        ended = forked("repair", name, "-o", f"{name}-out")
        assert said in ended.said
        assert "payloads not checked (OFRecord has no checksums)" in ended.said


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
    assert "nothing to write: no recoverable record before the first damage" in result.stdout


def test_frames_that_stand_in_what_is_dropped_are_told_of() -> None:
    held = b"before" + WHOLE
    Path("holds").write_bytes(frame(b"one") + flip(frame(held), 13))
    (damage,) = (line for line in lines("repair", "holds", "-o", "out") if line["type"] == "damage")
    assert (damage["within"], damage["evidence"]) == (4, "in it stand 4 whole frames")
    said = str(file("holds", "-o", "out", "--force")["message"])
    assert said.endswith("1 damaged record, 162 of 181 bytes (including 4 frames with valid checksums)")


def test_a_name_that_says_another_compression_than_the_bytes_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(frame(b"payload"))
    for options, told in (
        (
            ["-o", "a.gz"],
            "'a.gz' is not compressed, like its input, but the name says gzip; -z gzip would match the name",
        ),
        (
            ["-o", "b", "-z", "gzip"],
            "'b' is gzip-compressed, but the name does not show it; -z none would match the name",
        ),
        (["-o", "c.gz", "-z", "gzip"], ""),
        (["-o", "d"], ""),
        (["-o", "e.gz", "-q"], ""),
    ):
        said = run("repair", "in", *options, cwd=tmp_path).stderr
        assert said == (f"tfrtool: {told}\n" if told else "")
