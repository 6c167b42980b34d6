"""JSON Lines: the objects of every command, in their order and with their fields."""

import base64
import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kit.make_samples import DATA, frame
from kit.messages import ordered
from kit.program import json_lines, of_json, run
from pytest import mark

from tfrtool.verbs.formats.json_text import json_text

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"
FILE = "type v path status format compression size records kind diagnosis message hint"
SUMMARY = "type v files clean damaged foreign errors records missing exit missing_names"


def of_type(kind: str, lines: list[dict]) -> list[dict]:
    return [line for line in lines if line["type"] == kind]


@mark.parametrize(
    ("command", "more"), [("count", ""), ("head", " unread"), ("verify", " bytes damaged_bytes restorable")]
)
def test_a_file_has_the_documented_fields_and_no_others(command: str, more: str) -> None:
    (report,) = of_type("file", json_lines(command, SOUND))
    assert " ".join(report) == FILE + more


@mark.parametrize(
    ("command", "unread"),
    [
        ("head -n 1", True),
        ("head -n 0", True),
        ("head -n 11", True),
        ("head -n 12", False),
        ("head -n 13", False),
        ("head --record 2", True),
        ("schema -n 1", True),
        ("schema", False),
        ("convert --dry-run -o never-written --to tfrecord -n 3", True),
        ("convert --dry-run -o never-written --to tfrecord", False),
    ],
)
def test_a_file_that_was_not_read_to_its_end_is_told_from_one_that_was(command: str, unread: bool) -> None:
    (report,) = of_type("file", json_lines(*command.split(), SOUND))
    assert (report["status"], report["unread"]) == ("clean", unread)


def test_every_input_is_one_file_object_in_order_and_a_summary_comes_last(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<!DOCTYPE html><html></html>")
    inputs = [str(SOUND), str(DAMAGED), str(tmp_path / "page"), str(tmp_path / "nothing-here")]
    lines = json_lines("verify", *inputs)
    assert [line["path"] for line in of_type("file", lines)] == inputs
    assert [line["status"] for line in of_type("file", lines)] == ["clean", "damaged", "foreign", "error"]
    assert " ".join(lines[-1]) == SUMMARY
    counts = {name: lines[-1][name] for name in ("files", "clean", "damaged", "foreign", "errors", "exit")}
    assert counts == {"files": 4, "clean": 1, "damaged": 1, "foreign": 1, "errors": 1, "exit": 3}
    assert all(line["v"] == 1 for line in lines)


def test_damage_stands_before_its_file_and_names_its_checksums() -> None:
    lines = json_lines("verify", DAMAGED)
    assert [line["type"] for line in lines] == ["damage"] * 4 + ["file", "summary"]
    flipped = lines[1]
    assert " ".join(flipped) == "type v path begin end fault record want got restorable message"
    assert (flipped["fault"], flipped["record"]) == ("data-crc", 6)
    assert all(len(flipped[name]) == 10 and int(flipped[name], 16) for name in ("want", "got"))


def test_sound_records_and_damage_account_for_every_byte() -> None:
    *damage, report, _ = json_lines("verify", DAMAGED)
    assert sum(d["end"] - d["begin"] for d in damage) == report["damaged_bytes"]
    assert report["bytes"] == DAMAGED.stat().st_size == report["size"]
    assert (report["records"], report["restorable"]) == (8, 2)


def test_an_unreadable_input_is_an_error_with_a_kind_and_a_sentence(tmp_path: Path) -> None:
    (report,) = of_type("file", json_lines("count", tmp_path / "nothing-here"))
    assert report["status"] == "error"
    assert set(report["error"]) == {"kind", "message"}


def test_a_path_that_is_not_utf_8_is_bytes(tmp_path: Path) -> None:
    name = b"caf\xe9.tfrecord"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(frame(b"payload"))
    (report,) = of_type("file", json_lines("count", os.fsdecode(name), cwd=tmp_path))
    assert base64.b64decode(report["path"]["bytes"]) == name


def test_no_command_writes_half_a_surrogate_pair_wherever_a_path_stands(tmp_path: Path) -> None:
    sound, odd = frame(ordered({"a": ("int64_list", [1])})) * 3, os.fsdecode(b"caf\xe9")
    (tmp_path / odd).write_bytes(sound + frame(ordered({"b": ("float_list", [1.0])})) + sound[:-2])
    (tmp_path / "more").write_bytes(sound)
    (tmp_path / f"{odd}-00001-of-00002").write_bytes(b"<html>")
    inputs = (odd, "more", f"{odd}@*", f"no {odd}")
    for command in ("count", "head", "stat --index {}.idx", "verify --payload --index {}", "schema", "schema -n 1"):
        words = [word.format(odd) for word in command.split()]
        assert json_lines(*words, *inputs[: 1 if "--index" in command else 4], cwd=tmp_path)
    for command in ("repair --report r -o", "convert --skip-damaged --to jsonl -o"):
        assert json_lines(*command.split(), f"out {odd}", *inputs, cwd=tmp_path)
    (tmp_path / f"old {odd}" / odd).mkdir(parents=True)
    assert json_lines("repair", "--report", "s", "-o", f"old {odd}", odd, "more", cwd=tmp_path)
    told = [of_json(line) for name in "rs" for line in (tmp_path / name).read_text().splitlines()]
    assert [one["type"] for one in told].count("error") == 2
    assert "findings" in of_json(run("schema", "--emit", "json", odd, "more", cwd=tmp_path).stdout)


def test_standard_output_carries_ascii_json_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "größe\n\x1b[31m").write_bytes(frame(b"payload"))
    out = run("verify", "--json", "-v", "größe\n\x1b[31m", cwd=tmp_path).stdout
    assert out.isascii() and "\x1b" not in out
    assert json.loads(out.splitlines()[0])["path"] == "größe\n\x1b[31m"


@given(st.binary())
def test_any_bytes_come_back_out_of_json(data: bytes) -> None:
    value = json.loads(json.dumps(json_text(data)))
    assert data == (value.encode() if isinstance(value, str) else base64.b64decode(value["bytes"]))


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_place_in_json(value: str) -> None:
    shown = json.loads(json.dumps(json_text(value)))
    assert shown == value if isinstance(shown, str) else set(shown) == {"bytes"}


@mark.parametrize("content", [b"<!DOCTYPE html><html></html>", b"text " * 20_000, bytes(range(256)) * 3])
@mark.parametrize("command", ["verify {}", "repair --dry-run -o out {}", "repair -o out {}"])
def test_of_a_foreign_file_the_damage_is_all_of_it(tmp_path: Path, content: bytes, command: str) -> None:
    (tmp_path / "page").write_bytes(content)
    *damage, report, _ = json_lines(*command.format("page").split(), cwd=tmp_path)
    assert report["status"] == "foreign"
    spans = [(one["begin"], one["end"]) for one in damage]
    assert [spans[0][0], *(end for _, end in spans)] == [*(begin for begin, _ in spans), len(content)]
    if command.startswith("repair"):
        assert {one["action"] for one in damage} == {"dropped"}
        assert [one["dropped"] for one in damage] == [[list(span)] for span in spans]
