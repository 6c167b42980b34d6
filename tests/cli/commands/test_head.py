"""What `tfrtool head` shows of records, to people, pipes and programs."""

import base64
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kit.make_samples import DATA, Values, example, flip, flower, frame, sequence_example
from kit.program import COMMAND, environment, json_lines, on_terminal, run
from pytest import fixture, mark

from tfrtool.cli.printers.head import filed

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"
KEYS = ["image/encoded", "image/format", "label", "caption", "embedding"]


@fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def written(*payloads: bytes) -> Path:
        path = tmp_path / "a.tfrecord"
        path.write_bytes(b"".join(map(frame, payloads)))
        return path

    return written


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def records(*args: str | Path) -> list[dict]:
    return [line for line in json_lines("head", *args) if line["type"] == "record"]


def test_five_records_come_first_a_line_a_feature() -> None:
    found = rows(run("head", SOUND).stdout)
    assert [row[1:3] for row in found] == [[str(number), key] for number in range(5) for key in KEYS]
    assert found[1] == [str(SOUND), "0", "image/format", "bytes", "1", '"jpeg"']
    assert found[2] == [str(SOUND), "0", "label", "int64", "1", "0"]


@mark.parametrize(("args", "shown"), [(["-n", "2"], "01"), (["-n", "0"], ""), (["--skip", "10"], ["10", "11"])])
def test_how_many_and_from_where_can_be_chosen(args: list[str], shown: list[str]) -> None:
    assert list(dict.fromkeys(row[1] for row in rows(run("head", *args, SOUND).stdout))) == list(shown)


def test_keys_are_listed_once_in_the_order_they_are_met(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example((b"b", [1]), (b"a", [2])), example((b"c", [3]), (b"a", [4])))
    assert run("head", "--keys", path).stdout == "b\na\nc\n"


def test_values_are_cut_unless_all_are_wanted(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example((b"a", list(range(1000)))))
    assert "more" in run("head", path).stdout
    assert rows(run("head", "--values", "all", path).stdout)[0][5] == str(list(range(1000)))
    assert rows(run("head", "--values", "2", path).stdout)[0][5] == "[0, 1, … 998 more]"
    assert run("head", "--values", "some", path).returncode == 2


def test_raw_is_the_payload_and_nothing_else() -> None:
    raw = subprocess.run([*COMMAND, "head", "--raw", "--skip", "3", SOUND], env=environment(), capture_output=True)
    assert (raw.returncode, raw.stdout, raw.stderr) == (0, flower(3), b"")


@mark.parametrize("args", [["-n", "2"], ["--json"], ["--keys"], ["--values", "all"], [str(DAMAGED)]])
def test_raw_is_one_payload_of_one_input(args: list[str]) -> None:
    result = run("head", "--raw", SOUND, *args)
    assert (result.returncode, result.stdout) == (2, "")


def test_raw_is_not_written_to_a_terminal() -> None:
    shown = on_terminal("head", "--raw", SOUND)
    assert "--raw" in shown and "JFIF" not in shown


def test_raw_of_a_record_that_is_not_there_is_an_error() -> None:
    result = run("head", "--raw", "--skip", "12", SOUND)
    assert (result.returncode, result.stderr) == (3, f"tfrtool: {SOUND} has no record 12: it has 12 records\n")


def test_raw_and_a_number_write_that_record_and_say_nothing_of_those_before() -> None:
    result = run("head", "--raw", "--record", "3", SOUND)
    assert (result.returncode, result.stderr) == (0, "")


def test_raw_says_which_record_it_is_where_some_before_it_are_damaged() -> None:
    for skip, said in ((3, "4: 1 is damaged before it"), (5, "7: 2 are damaged before it")):
        assert f"this is record {said}\n" in run("head", "--raw", "--skip", str(skip), DAMAGED).stderr


def test_damage_on_the_way_is_told_on_standard_error() -> None:
    result = run("head", "-n", "5", DAMAGED)
    assert result.returncode == 1
    assert [row[1] for row in rows(result.stdout)[:: len(KEYS)]] == ["0", "1", "2", "4", "5"]
    assert result.stderr.startswith(f"tfrtool: {DAMAGED}: bytes ") and result.stderr.count("\n") == 1
    assert run("head", "-n", "3", DAMAGED).returncode == 0


def test_a_payload_of_no_known_kind_is_dumped_and_not_taken_for_an_example(write) -> None:  # type: ignore[no-untyped-def]
    path = write(b"not a message \xff\x00" + b"." * 100)
    (row,) = rows(run("head", path).stdout)
    assert row[2:5] == ["", "unknown", ""]
    assert row[5].startswith("6e 6f 74 20 61 ") and row[5].endswith(
        "|not a message .." + "." * 48 + "| and 52 more bytes"
    )
    (record,) = records(path)
    assert (record["kind"], record["features"]) == ("unknown", {})
    assert base64.b64decode(record["payload"]["bytes"]).startswith(b"not a message \xff\x00")


def test_a_record_without_features_is_still_a_line(write) -> None:  # type: ignore[no-untyped-def]
    assert len(rows(run("head", write(example(), b"")).stdout)) == 2


HOSTILE: list[tuple[bytes, Values]] = [
    (b"[red]x[/x]", [b"[/not-open] :smile:"]),
    (b"esc\x1b[31m", [b"\x1b]0;title\x07"]),
    ("bidi\u202e".encode(), ["\u202etxt".encode()]),
    (b"tab\tand\nline", [b"a\tb\nc"]),
    (b"\xff", [b"\xff"]),
]


def test_names_and_values_cannot_command_a_terminal_nor_break_a_line(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example(*HOSTILE))
    found = rows(run("head", path).stdout)
    assert [row[2] for row in found] == ["[red]x[/x]", "esc\\x1b[31m", "bidi\\u202e", "tab\\tand\\nline", "\\xff"]
    assert all(len(row) == 6 for row in found)
    shown = on_terminal("head", path, NO_COLOR="1", columns=120)
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\t"}
    assert "[red]x[/x]" in shown and "[/not-open] :smile:" in shown


def test_a_terminal_gets_a_card_for_each_record() -> None:
    shown = on_terminal("head", "-n", "2", SOUND, NO_COLOR="1", columns=150)
    assert f"{SOUND} record 1: example, " in shown
    assert all(len(line) <= 150 for line in shown.splitlines())
    assert shown.count("caption") == 2


def test_a_card_is_bounded_however_many_features_a_record_has(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example(*((b"%d" % n * 300, [n]) for n in range(120))))
    shown = on_terminal("head", path, NO_COLOR="1", columns=250)
    assert "and 20 more features; --keys lists all names" in shown
    assert all(len(line) <= 250 for line in shown.splitlines())


def test_json_has_every_feature_with_its_kind_and_its_first_values() -> None:
    (record,) = records("-n", "1", SOUND)
    assert " ".join(record) == "type v path index offset size kind features"
    assert (record["index"], record["offset"], record["size"], record["kind"]) == (0, 0, len(flower(0)), "example")
    assert list(record["features"]) == KEYS
    assert record["features"]["label"] == {"kind": "int64", "count": 1, "values": [0], "shown": 1}
    assert record["features"]["caption"]["values"] == ["a tulip in the morning, 7°C"]
    assert record["features"]["embedding"]["count"] == 8


def test_json_shows_ten_values_unless_all_are_wanted(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example((b"a", list(range(100)))))
    assert records(path)[0]["features"]["a"]["shown"] == 10
    assert records("--values", "all", path)[0]["features"]["a"]["values"] == list(range(100))
    assert records("--values", "0", path)[0]["features"]["a"]["values"] == []


def test_json_has_no_nan(write) -> None:  # type: ignore[no-untyped-def]
    path = write(example((b"a", [float("nan"), float("inf"), float("-inf"), 0.1])))
    assert records(path)[0]["features"]["a"]["values"] == ["NaN", "Infinity", "-Infinity", 0.1]


def test_json_keeps_names_that_stand_twice_or_are_not_utf_8(write) -> None:  # type: ignore[no-untyped-def]
    found = records(write(example((b"a", [1]), (b"a", [2]), (b"\xff", [3]))))[0]["features"]
    assert list(found) == ["a", "a#2", "\\xff"]
    assert "name" not in found["a"]
    assert (found["a#2"]["name"], found["a#2"]["values"]) == ("a", [2])
    assert base64.b64decode(found["\\xff"]["name"]["bytes"]) == b"\xff"


def test_json_has_the_feature_lists_of_a_sequence(write) -> None:  # type: ignore[no-untyped-def]
    path = write(sequence_example([(b"id", [7])], [(b"tokens", [[b"a", b"b"], [b"c"]])]))
    (record,) = records(path)
    assert record["kind"] == "sequence_example"
    steps = record["feature_lists"]["tokens"]
    assert (steps["count"], steps["shown"]) == (2, 2)
    assert [step["values"] for step in steps["steps"]] == [["a", "b"], ["c"]]
    assert rows(run("head", path).stdout)[1][2:5] == ["tokens", "list of bytes", "2"]


def test_json_tells_damage_before_the_file(write) -> None:  # type: ignore[no-untyped-def]
    path = write(b"one", b"two")
    path.write_bytes(flip(path.read_bytes(), 13))
    assert [line["type"] for line in json_lines("head", path)] == ["damage", "record", "file", "summary"]


@given(st.lists(st.one_of(st.binary(max_size=3), st.sampled_from([b"a", b"a#2", b"a#3", b"\xff", b"\\xff"]))))
def test_every_name_can_be_told_from_the_json_object(names: list[bytes]) -> None:
    def name_of(key: str, entry: dict) -> bytes:
        name = entry.get("name", key)
        return base64.b64decode(name["bytes"]) if isinstance(name, dict) else name.encode()

    objects = filed((name, {"number": number}) for number, name in enumerate(names))
    assert [(name_of(*item), item[1]["number"]) for item in objects.items()] == list(
        zip(names, range(len(names)), strict=True)
    )


def test_that_too_many_records_are_skipped_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(frame(b"") * 3)
    done = run("head", "--skip", "3", tmp_path / "a")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"tfrtool: {tmp_path / 'a'}: it holds 3 records, none after the first 3\n"
    assert run("head", "--skip", "2", tmp_path / "a").stderr == ""
