"""What `tfrtool repair` writes."""

import gzip
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from kit.damage import written_by
from kit.forked import forked
from kit.make_samples import flip, frame
from kit.program import run
from kit.repair_inputs import DAMAGED, PAYLOADS, SOUND, TORN, WHOLE, file, lay_out
from pytest import MonkeyPatch, fixture, mark

from tfrtool.framing.layout import WRONG_WRITERS, ZEROED


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


def test_what_is_written_verifies_and_a_second_repair_changes_nothing() -> None:
    assert forked("repair", "damaged", "-o", "once").code == 1
    assert forked("verify", "once").code == 0
    assert forked("repair", "once", "-o", "twice").code == 0
    assert Path("once").read_bytes() == Path("twice").read_bytes()


def test_a_sound_file_is_copied_byte_for_byte() -> None:
    result = run("repair", "sound", "-o", "out")
    assert result.returncode == 0
    assert "nothing to repair: copied byte for byte" in result.stdout
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
    assert "a web page (HTML); nothing recovered" in result.stdout


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
        *ranges, output = (row for row in rows if row["path"] == name)
        assert (output["type"], output["output"]) == ("output", f"out/{name}")
        ranges = [(row["begin"], row["end"]) for row in ranges]
        assert [ranges[0][0], *(end for _, end in ranges)] == [*(begin for begin, _ in ranges), len(data)]
    for row in rows:
        for begin, end in row.get("dropped", ()):
            data = {"damaged": DAMAGED, "torn": TORN}[row["path"]][begin:end]
            assert data in Path("dropped").read_bytes()[row["quarantine"] :]


@mark.parametrize("keep", ["before", "after"])
def test_bytes_that_are_left_out_or_foreign_are_listed_as_dropped_too(keep: str) -> None:
    Path("page").write_bytes(b"<!DOCTYPE html><html>Not found</html>")
    sides = ("--quarantine", "dropped", "--report", "list")
    assert forked("repair", "flipped", "page", "-o", "out/", "--keep", keep, *sides).code == 1
    rows = [json.loads(line) for line in Path("list").read_text().splitlines()]
    dropped = [row for row in rows if row.get("action") == "dropped"]
    assert [row["dropped"] for row in dropped] == [[[row["begin"], row["end"]]] for row in dropped]
    aside = Path("dropped").read_bytes()
    for row in dropped:
        data = Path(row["path"]).read_bytes()[row["begin"] : row["end"]]
        assert aside[row["quarantine"] :].startswith(data)
    assert sum(row["end"] - row["begin"] for row in dropped) == len(aside)


def test_an_input_that_cannot_be_opened_is_in_the_list() -> None:
    os.symlink("nowhere", "link")
    assert forked("repair", "missing", "sound", "link", "no*", "-o", "out/", "--report", "list").code == 3
    rows = [json.loads(line) for line in Path("list").read_text().splitlines()]
    errors = {row["path"]: row["message"] for row in rows if row["type"] == "error"}
    assert sorted(errors) == ["link", "missing", "no*"]
    assert "no such file" in errors["missing"]


def test_the_list_takes_back_what_it_says_of_an_output_that_was_not_written() -> None:
    Path("taken").write_bytes(b"old")
    assert forked("repair", "torn", "-o", "taken", "--report", "list").code == 3
    (row,) = map(json.loads, Path("list").read_text().splitlines())
    assert (row["type"], row["path"]) == ("error", "torn")
    assert "exists already" in row["message"]
