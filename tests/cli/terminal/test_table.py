"""Tables on terminals of any width: nothing is cut, nothing sticks out."""

from __future__ import annotations

import re
from io import BytesIO, TextIOWrapper
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kit.make_samples import DATA, example, frame, samples
from kit.program import on_terminal, run
from pytest import fixture, mark
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tfrtool.cli.app import COMMANDS
from tfrtool.cli.terminal.table import LEAST, LONGEST_NAME, NARROW, TableColumn, beside, draw_table, heading, short
from tfrtool.cli.text import safe

COLUMNS = (
    TableColumn("feature", "name"),
    TableColumn("kind", "bare"),
    TableColumn("records", right=True),
    TableColumn("what they are"),
)
words = st.text("ab花🌷é -", max_size=40).map(safe).map(str.strip)
rows = st.lists(st.tuples(words, st.sampled_from(["", "int64"]), st.integers(0, 10**9).map(str), words), max_size=4)


def printed(width: int, encoding: str, *parts: object) -> list[str]:
    """The lines that a terminal of that width and encoding shows, without the blanks at their ends."""
    stream = TextIOWrapper(BytesIO(), encoding)
    console = Console(file=stream, width=width, force_terminal=True, color_system=None, markup=False, emoji=False)
    for part in parts:
        console.print(part(console) if callable(part) else part)
    stream.seek(0)
    return [line.rstrip() for line in stream.read().splitlines()]


def shown(width: int, given_rows: list[tuple[str, ...]], encoding: str = "utf-8") -> list[str]:
    return printed(width, encoding, lambda console: draw_table(console, COLUMNS, given_rows))


def letters(*texts: str) -> str:
    return re.sub(r"\s", "", "".join(texts))


@given(rows, st.integers(NARROW, 250))
def test_a_wide_table_shows_every_letter_in_its_order(given_rows: list[tuple[str, ...]], width: int) -> None:
    lines = shown(width, given_rows)
    heads = [column.head for column in COLUMNS]
    assert letters(*lines) == letters(*heads, *(field for row in given_rows for field in row))
    assert max(map(cell_len, lines)) <= width


@given(rows, st.integers(20, NARROW - 1))
def test_a_narrow_table_shows_every_letter_of_each_field(given_rows: list[tuple[str, ...]], width: int) -> None:
    lines = shown(width, given_rows)
    fields = [[name, kind, f"records {count}", what] for name, kind, count, what in given_rows]
    assert letters(*lines) == letters(*(field for row in fields for field in row))
    assert max(map(cell_len, lines), default=0) <= width


def test_numbers_stand_under_one_another() -> None:
    assert shown(80, [("a", "int64", "7", "x"), ("b", "float", "1,000", "y")]) == [
        "feature  kind   records  what they are",
        "a        int64        7  x",
        "b        float    1,000  y",
    ]


def test_a_name_too_wide_for_a_column_stands_above_its_row_and_leaves_the_others_their_room() -> None:
    assert shown(80, [("a", "int64", "7", "x"), ("n" * 90, "float", "8", "y")]) == [
        "feature  kind   records  what they are",
        "a        int64        7  x",
        "n" * 80,
        "n" * 10,
        "         float        8  y",
    ]


def test_in_a_narrow_window_a_row_is_a_name_and_what_is_said_of_it() -> None:
    assert shown(40, [("a", "int64", "7", "x"), ("b", "", "8", "a text that is longer than one line is")]) == [
        "a",
        "  int64  records 7  x",
        "b",
        "  records 8",
        "  a text that is longer than one line is",
    ]


def test_where_the_last_column_would_be_thin_a_row_is_a_paragraph_too() -> None:
    kind = "k" * (100 - LEAST)
    assert shown(100, [("a", kind, "7", "x")]) == ["a", f"  {kind}  records 7  x"]


def test_what_the_terminal_cannot_encode_is_measured_as_it_is_shown() -> None:
    assert shown(80, [("花", "int64", "7", "x"), ("a", "int64", "8", "y")], "ascii")[1:] == [
        "\\u82b1   int64        7  x",
        "a        int64        8  y",
    ]


def test_no_part_of_a_line_is_on_two_lines() -> None:
    assert beside(["one two", "three four", "five"], 20).plain == "one two  three four\nfive"


@mark.parametrize(
    ("width", "lines"),
    [
        (40, ["long/name: clean, 12 records, 11.4 KiB"]),
        (30, ["long/name: clean, 12", "  records, 11.4 KiB"]),
        (16, ["long/name:", "  clean, 12", "  records, 11.4", "  KiB"]),
    ],
)
def test_a_heading_leaves_a_long_name_its_own_line(width: int, lines: list[str]) -> None:
    def say(console: Console) -> Text:
        heading(console, "long/name", Text("clean, 12 records, 11.4 KiB"))
        return Text()

    assert printed(width, "utf-8", say)[:-1] == lines


def test_a_name_that_nobody_reads_to_its_end_says_that_it_is_cut() -> None:
    assert short("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    assert short("x" * (LONGEST_NAME + 1)).endswith("x...")


# The commands


@fixture(scope="module")
def odd(tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    """A directory of files with long and wide names, of features and of their own."""
    made: Path = tmp_path_factory.mktemp("odd")
    odd = example(
        (b"n" * 300, [1]), ("画像/特徴量".encode(), ["花の写真。".encode() * 30]), ("🌷".encode(), [1.5] * 99)
    )
    (made / "odd").write_bytes(frame(odd))
    (made / "花の写真").write_bytes(samples()["flowers-damaged.tfrecord"])
    (made / ("long" * 50)).write_bytes(samples()["flowers-damaged.tfrecord"])
    return made


@mark.parametrize("columns", [40, 60, 80, 200])
@mark.parametrize(
    "command",
    [
        "head odd",
        "schema odd",
        "stat odd",
        "verify 花の写真",
        "repair --dry-run 花の写真",
        "convert --dry-run -o x odd",
    ],
)
def test_no_line_is_wider_than_the_terminal_unless_it_is_to_be_copied(odd: Path, command: str, columns: int) -> None:
    lines = on_terminal(*command.split(), cwd=odd, columns=columns, NO_COLOR="1").splitlines()
    assert lines
    assert [line for line in lines if cell_len(line) > columns and "tfrtool" not in line] == []


@mark.parametrize("columns", [40, 80])
def test_long_names_are_shown_to_their_end(odd: Path, columns: int) -> None:
    for command in ("head", "schema"):
        assert "n" * 300 in letters(on_terminal(command, "odd", cwd=odd, columns=columns, NO_COLOR="1"))
    assert f"{'long' * 50}:\n  damaged, 8" in on_terminal("verify", "long" * 50, cwd=odd, columns=columns, NO_COLOR="1")


@mark.parametrize("command", ["verify", "stat", "repair --dry-run", "convert -o x"])
def test_a_command_to_run_is_in_one_piece_however_narrow_the_terminal(odd: Path, command: str) -> None:
    name = "long" * 50
    shown = on_terminal(*command.split(), name, cwd=odd, columns=40, NO_COLOR="1")
    assert f"tfrtool repair {name} -o OUT" in shown


@mark.parametrize("command", ["count", "head", "stat", "schema", "verify", "repair --dry-run"])
def test_a_terminal_that_is_not_utf_8_gets_escapes_and_no_traceback(odd: Path, command: str) -> None:
    language = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    said = on_terminal(*command.split(), "花の写真" if "repair" in command else "odd", cwd=odd, **language)
    assert said.isascii()
    assert "Traceback" not in said and "surrogates" not in said


@mark.parametrize("command", ["head", "schema", "stat", "verify", "repair --dry-run"])
def test_no_colour_is_hard_to_read_on_a_light_or_a_dark_ground(command: str) -> None:
    """Dim text, white, black and the bright colours are; yellow only fills the strip, whose shapes say the same."""
    said = on_terminal(*command.split(), DATA / "flowers-damaged.tfrecord")
    codes = {code for sequence in re.findall(r"\x1b\[([\d;]*)m", said) for code in sequence.split(";")}
    assert codes <= {"0", "1", "31", "32", "33", "36"}
    assert set("".join(re.findall(r"\x1b\[33m(.*?)\x1b", said))) <= {"▒"}


def test_the_list_of_commands_is_not_cut_in_a_narrow_window() -> None:
    lines = [line.strip() for line in run("--help", COLUMNS="60").stdout.splitlines()]
    assert [line for line in lines if line.partition(" ")[0] in COMMANDS] == [
        f"{name:10}  {said}" for name, said in COMMANDS.items()
    ]
    assert max(map(len, lines)) <= 60


def test_files_that_are_not_clean_are_named_again_behind_many(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number:02}").write_bytes(samples()["flowers.tfrecord"])
    (tmp_path / "f07").write_bytes(b"<html></html>" * 3)
    lines = on_terminal("verify", tmp_path, NO_COLOR="1", columns=200).splitlines()
    assert lines[-2:] == [f"{tmp_path}/f07: foreign", "30 files: 29 clean, 1 foreign; 348 intact records"]
