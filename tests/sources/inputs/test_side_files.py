"""Files below a directory that are of another kind by their names, and may be damaged record files all the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from kit.program import json_lines, run
from kit.sources import tarred

from tfrtool.framing.encode import frame
from tfrtool.sources.inputs.resolve import resolve

DAMAGED = b"\x01" + frame(b"payload " * 90)[1:] + frame(b"payload") * 3
"""Records, the first of which has a damaged length."""


FOREIGN_SUFFIXES = {
    "x.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + DAMAGED,
    "x.log": b"many lines\n" * 100,
    "x.zst": b"\x28\xb5\x2f\xfd" + bytes(9),
    "x.npy": b"\x93NUMPY\x01\0" + DAMAGED,
    "x.csv": "caf\xe9".encode("utf-16"),
    "x.tar": tarred(DAMAGED, "x"),
    "x.sqlite": b"SQLite format 3\0" + DAMAGED,
    "broken.csv.gz": b"\x1f\x8b\x08\xff",
    "empty.bmp": b"",
}
UNKNOWN = {
    "x.pb": b"\x0a\x10" + bytes(range(256)) * 300,
    "x.csv": (7).to_bytes(8, "little") + b"payload",
    "x.pt": bytes(4096),
    "far.onnx": b"\xff\x01" + frame(b"x" * 70_000)[2:] + frame(b""),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one sound record file, `d/x`."""
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    Path("d/x").write_bytes(frame(b"payload"))
    return tmp_path


@pytest.mark.parametrize("name", ["x.pb", "x.log", "x.zst", "x.csv.gz", "x.tar", "x.PNG"])
def test_a_directory_takes_damaged_records_for_records_whatever_they_are_called(name: str, here: Path) -> None:
    Path("d", name).write_bytes(gzip.compress(DAMAGED) if name.endswith("gz") else DAMAGED)
    found = resolve(["d"])
    assert (set(found.names), found.unknown) == ({"d/x", f"d/{name}"}, [])


def test_a_line_before_records_makes_no_text_of_them(here: Path) -> None:
    Path("d/x.log").write_bytes(b'{"event": "start"}\n' + frame(b"payload") * 3)
    assert set(resolve(["d"]).names) == {"d/x", "d/x.log"}


@pytest.mark.parametrize("name", FOREIGN_SUFFIXES)
def test_what_is_as_its_name_says_is_passed_over(name: str, here: Path) -> None:
    Path("d", name).write_bytes(FOREIGN_SUFFIXES[name])
    found = resolve(["d"])
    assert (found.names, found.passed_over, found.unknown) == (["d/x"], 1, [])


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_byte_tells_of_is_passed_over_and_known(name: str, here: Path) -> None:
    Path("d", name).write_bytes(UNKNOWN[name])
    for text in ("d", "*"):
        found = resolve([text])
        assert (found.names, found.passed_over, found.unknown) == (["d/x"], 1, [f"d/{name}"])


def test_damage_of_a_file_below_a_directory_is_a_finding_whatever_its_name(here: Path) -> None:
    Path("d/train.pb").write_bytes(DAMAGED)
    *_, summary = json_lines("verify", "d")
    assert (summary["damaged"], summary["exit"]) == (1, 1)


@pytest.mark.parametrize("command", [["verify"], ["stat"], ["convert", "--to", "tfrecord", "--dry-run", "-o", "out"]])
def test_what_may_be_damaged_records_is_told_on_standard_error(command: list[str], here: Path) -> None:
    for name in ("train.pb", "valid.pb"):
        Path("d", name).write_bytes(UNKNOWN["x.pb"])
        done = run(*command, "d")
        assert done.returncode == 0 and "passed over for the name" in done.stderr
    assert "'d/train.pb' and 1 other file are passed over" in done.stderr
    assert run(*command, "-q", "d").stderr == run(*command, "d/x").stderr == ""
