"""What `tfrtool verify` prints of damage, to people, pipes and programs."""

import json
from pathlib import Path

from kit.damage import written_by
from kit.make_samples import DATA, flip, frame
from kit.program import json_lines, on_terminal, run, shell
from pytest import mark

from tfrtool.framing.layout import ZEROED

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def hurt(path: Path, records: int, every: int = 2) -> Path:
    """A file in which a payload bit of every `every`th record is flipped."""
    path.write_bytes(
        b"".join(flip(frame(b"payload"), 13) if n % every == 0 else frame(b"payload") for n in range(records))
    )
    return path


def test_a_sound_file_is_one_line() -> None:
    result = run("verify", SOUND)
    assert result.returncode == 0
    assert rows(result.stdout) == [[str(SOUND), "clean", "12", "0", "0", "all checksums match"]]


def test_a_range_of_many_records_counts_as_many(tmp_path: Path) -> None:
    (tmp_path / "zeroed").write_bytes(written_by(ZEROED, [b"payload"] * 7))
    *_, file = rows(run("verify", tmp_path / "zeroed").stdout)
    assert "0 of 7 damaged records are recoverable" in file[5]
    assert file[5].endswith("-o OUT --keep-unverified")


def test_each_damaged_range_is_a_line_and_then_the_file() -> None:
    result = run("verify", DAMAGED)
    assert result.returncode == 1
    found = rows(result.stdout)
    assert [row[1] for row in found] == ["length-crc", "data-crc", "data-crc", "torn", "damaged"]
    assert [row[4] for row in found[:4]] == ["3", "6", "8", "11"]
    assert [row[5] for row in found[:4]] == ["1", "0", "1", "0"]
    assert all(len(row) == 7 for row in found[:4])
    assert found[4][:3] == [str(DAMAGED), "damaged", "8"]
    assert "2 of 4 damaged records are recoverable" in found[4][5]


def test_lines_are_not_cut_however_long_the_path(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 40) / "a.tfrecord"
    path.parent.mkdir()
    hurt(path, 1)
    assert all(row[0] == str(path) for row in rows(run("verify", path, COLUMNS="40").stdout))


def test_a_foreign_file_is_a_sentence_and_a_hint(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")
    shown = on_terminal("verify", "page", cwd=tmp_path, NO_COLOR="1", columns=200)
    assert shown.startswith("page: foreign, ")
    assert shown.count("\n") == 1


def test_quick_takes_payloads_on_trust_and_says_so(tmp_path: Path) -> None:
    result = run("verify", "--quick", hurt(tmp_path / "a", 2))
    assert result.returncode == 0
    assert "payloads not checked" in result.stdout


def test_payload_parses_what_the_checksums_vouch_for(tmp_path: Path) -> None:
    broken = SOUND.read_bytes() + frame(SOUND.read_bytes()[12:40])
    (tmp_path / "a").write_bytes(broken)
    assert run("verify", tmp_path / "a").returncode == 0
    result = run("verify", "--payload", tmp_path / "a")
    assert (result.returncode, rows(result.stdout)[0][1]) == (1, "payload")


def test_quick_and_payload_contradict_each_other() -> None:
    assert run("verify", "--quick", "--payload", SOUND).returncode == 2


def test_quiet_answers_by_the_exit_code_alone() -> None:
    result = run("verify", "-q", DAMAGED)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


@mark.parametrize("columns", [40, 200])
def test_the_strip_is_as_wide_as_the_terminal_and_reads_without_color(columns: int) -> None:
    lines = on_terminal("verify", "--color", "never", DAMAGED, columns=columns).splitlines()
    (strip,) = [line for line in lines if line and set(line) <= set("█▒╳")]
    assert len(strip) == columns
    assert "".join(sorted(set(strip), key=strip.index)) == "█▒╳"
    assert strip[0] == "█" and strip[-1] == "╳"
    assert "\x1b" not in "".join(lines)


def test_the_strip_is_ascii_where_the_terminal_is() -> None:
    shown = on_terminal("verify", DAMAGED, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert shown.isascii()
    assert any(set(line) == set("=+x") and len(line) == 80 for line in shown.splitlines())


def test_a_terminal_gets_color_unless_it_is_told_not_to() -> None:
    assert "\x1b[" in on_terminal("verify", DAMAGED)
    for decision in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal("verify", DAMAGED, **decision)


def test_a_pipe_gets_color_only_on_demand() -> None:
    assert "\x1b" not in run("verify", DAMAGED).stdout
    assert "\tclean\t" in run("verify", SOUND, FORCE_COLOR="0").stdout
    assert "\t\x1b[32mclean\x1b[0m\t" in run("verify", SOUND, FORCE_COLOR="1").stdout
    assert "\t\x1b[32mclean\x1b[0m\t" in run("verify", SOUND, "--color", "always", NO_COLOR="1").stdout


def test_the_table_shows_the_first_ranges_and_counts_the_others(tmp_path: Path) -> None:
    shown = on_terminal("verify", hurt(tmp_path / "a", 60), NO_COLOR="1", columns=200)
    assert sum("data-crc" in line for line in shown.splitlines()) == 20
    assert "and 10 more; --json lists all" in shown
    assert len(json_lines("verify", tmp_path / "a")) == 30 + 2


def test_a_terminal_sums_up_several_files() -> None:
    shown = on_terminal("verify", SOUND, DAMAGED, NO_COLOR="1", columns=200)
    assert shown.splitlines()[-1] == "2 files: 1 clean, 1 damaged; 20 intact records"


@mark.parametrize("command", [("verify",), ("repair", "--dry-run")])
def test_a_command_for_a_foreign_file_is_in_one_piece_however_narrow_the_terminal(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "packed").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(50))
    shown = on_terminal(*command, "packed", cwd=tmp_path, columns=40, NO_COLOR="1")
    assert "run: zstd -dc packed | tfrtool verify -" in [line.rstrip() for line in shown.splitlines()]


@mark.slow
def test_of_a_converted_file_in_a_pipe_no_more_is_said_than_its_beginning_tells(tmp_path: Path) -> None:
    data = b"".join(frame(b"a line\nand %d\n" % number) for number in range(9_000)).replace(b"\n", b"\r\n")
    (tmp_path / "lines").write_bytes(data)
    said = shell(f"tfrtool verify {tmp_path}/lines | tail -1; cat {tmp_path}/lines | tfrtool verify - | tail -1").stdout
    file, pipe = said.splitlines()
    assert "\tevery line feed became CR LF" in file
    assert "9,000 of 9,000 damaged records are recoverable" in file
    assert "bytes, every line feed became CR LF" in pipe and "\tin the first " in pipe
    assert pipe.count("a pipe cannot be read twice, so recoverable records are not counted") == 1
    assert pipe.endswith("to undo what can be undone, run: … | tfrtool repair - -o OUT")


@mark.slow
@mark.parametrize("undo", [(b"\n", b"\r\n"), None], ids=["crlf", "utf8-mangled"])
def test_what_is_not_known_of_a_converted_file_in_a_pipe_is_null_in_json(
    tmp_path: Path, undo: tuple[bytes, bytes] | None
) -> None:
    data = b"".join(frame(b"a line\nand %d\n" % number) for number in range(100))
    path = tmp_path / "lines"
    path.write_bytes(data.replace(*undo) if undo else data.decode("latin-1").encode())
    for command, known in ((f"tfrtool verify --json {path}", 100), (f"cat {path} | tfrtool verify --json -", None)):
        found = json.loads(shell(f'{command} | grep \'"type":"file"\'').stdout)
        assert (found["status"], found["restorable"]) == ("damaged", known)
        assert ("cannot be read twice" in found["message"], "tfrtool repair" in found["hint"]) == (known is None, True)
    shell(f"cat {path} | tfrtool repair - -o {tmp_path}/out")
    assert (tmp_path / "out").read_bytes() == data
    shell(f"cat {path} | tfrtool verify --html {tmp_path}/page -")
    assert "cannot be read twice" in (tmp_path / "page").read_text() and ">None<" not in (tmp_path / "page").read_text()
