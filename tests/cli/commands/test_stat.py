"""What `tfrtool stat` tells of how files are made."""

import gzip
import json
import os
import resource
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from kit.damage import File
from kit.forked import forked
from kit.make_samples import DATA, flip, frame
from kit.program import COMMAND, environment, json_lines, on_terminal, run, shell
from kit.verbs import OF_DATA
from pytest import MonkeyPatch, fixture, mark

from tfrtool.cli.commands.stat import run_stat
from tfrtool.cli.options import Common
from tfrtool.errors import WriteError
from tfrtool.verbs.stat.duplicates import Digests

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"


@fixture
def shards(tmp_path: Path) -> Path:
    """Three shards of ten, twenty and a hundred records."""
    for number, records in enumerate((10, 20, 100)):
        content = b"".join(frame(bytes(50 + n)) for n in range(records))
        (tmp_path / f"train-{number:05}-of-00003").write_bytes(content)
    return tmp_path


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


def test_an_input_is_a_line_of_fields() -> None:
    result = run("stat", SOUND)
    size = str(SOUND.stat().st_size)
    sizes = ["741", "940", "960.7", "1180", "1180", "1180"]
    fields = [str(SOUND), "clean", "12", "11528", "192", *sizes, size, "tfrecord", "none", "example", "", ""]
    assert (result.returncode, rows(result.stdout), result.stderr) == (0, [fields], "")


def test_several_inputs_have_a_total_and_advice_on_standard_error(shards: Path) -> None:
    result = run("stat", "train@3", cwd=shards)
    assert result.returncode == 0
    *files, total = rows(result.stdout)
    assert [row[2] for row in files] == ["10", "20", "100"]
    assert total[:3] == ["total", "", "130"] and {len(row) for row in (*files, total)} == {17}
    assert total[5:11] == ["50", "84", "89.9", "143", "148", "149"]
    assert result.stderr.splitlines() == [
        "tfrtool: the 3 files average 4.6 kB; shards of 100 to 200 MB read faster (one file)",
        "tfrtool: 'train-00002-of-00003' is 12 kB, 7.6x the median of these 3 files; readers of this shard finish last",
    ]


def test_damage_that_headers_show_is_told_in_the_last_field() -> None:
    result = run("stat", DAMAGED)
    assert result.returncode == 1
    ((_, status, records, *_, said),) = rows(result.stdout)
    assert (status, records) == ("damaged", "10")
    assert "2 damaged ranges" in said and "tfrtool repair" in said


def test_what_is_no_record_file_is_named_and_the_others_have_their_turn(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")
    result = run("stat", "page", "no-such-file", SOUND, cwd=tmp_path)
    assert result.returncode == 3
    assert [row[1] for row in rows(result.stdout)] == ["foreign", "error", "clean", ""]


def test_a_missing_shard_is_a_finding(shards: Path) -> None:
    (shards / "train-00001-of-00003").unlink()
    result = run("stat", "train@3", cwd=shards)
    assert result.returncode == 1
    assert rows(result.stdout)[2][:2] == ["train-00001-of-00003", "missing"]
    assert len(rows(result.stdout)[2]) == 17


def test_json_has_the_figures_of_the_interface() -> None:
    file, summary = json_lines("stat", SOUND)
    sizes = {"min": 741, "p50": 940, "mean": 11528 / 12, "p95": 1180, "p99": 1180, "max": 1180}
    assert (file["payload_bytes"], file["overhead_bytes"], file["sizes"]) == (11528, 192, sizes)
    assert [one["lo"] for one in file["histogram"]] == list(range(700, 1200, 100))
    assert sum(one["count"] for one in file["histogram"]) == 12
    assert (file["kind"], file["compression_ratio"], file["duplicates"], file["index"]) == ("example", None, None, None)
    assert (file["advice"], summary["advice"]) == ([], [])
    for name in ("payload_bytes", "overhead_bytes", "sizes", "histogram"):
        assert summary[name] == file[name]


def test_json_of_several_files_says_how_even_they_are(shards: Path) -> None:
    *files, summary = json_lines("stat", "train@3", cwd=shards)
    assert [one["type"] for one in files] == ["file"] * 3
    assert summary["shards"] == {
        "files": 3,
        "empty": 0,
        "bytes": {"min": 705, "p50": 1510, "mean": 13765 / 3, "max": 11550},
        "records": {"min": 10, "p50": 20, "mean": 130 / 3, "max": 100},
        "evenness": 11550 / 1510,
        "largest": "train-00002-of-00003",
    }
    assert [one["kind"] for one in summary["advice"]] == ["small-shards", "uneven-shards"]


def test_json_of_damage_and_of_what_cannot_be_read_keeps_its_shape(tmp_path: Path) -> None:
    lines = json_lines("stat", DAMAGED, tmp_path / "nothing")
    assert [one["type"] for one in lines] == ["damage", "damage", "file", "file", "summary"]
    damaged, absent = lines[2:4]
    assert damaged.keys() == absent.keys() - {"error"}
    assert damaged["payload_bytes"] + damaged["overhead_bytes"] + damaged["damaged_bytes"] == damaged["bytes"]
    assert (absent["status"], absent["sizes"]["max"], absent["histogram"]) == ("error", None, [])


def test_repeated_payloads_are_counted_in_a_file_and_over_files(tmp_path: Path) -> None:
    (tmp_path / "train").write_bytes(frame(b"a") + frame(b"b") + frame(b"a"))
    (tmp_path / "test").write_bytes(frame(b"c") + frame(b"b"))
    train, test, summary = json_lines("stat", "--duplicates", "train", "test", cwd=tmp_path)
    assert (train["duplicates"], train["first_duplicate"]) == (1, {"record": 2, "earlier": 0})
    assert (test["duplicates"], test["first_duplicate"]) == (0, None)
    assert summary["duplicates"] == 2
    result = run("stat", "--duplicates", "test", "train", cwd=tmp_path)
    assert [row[15] for row in rows(result.stdout)] == ["0", "1", "2"]
    assert "record 1 of 'train' repeats record 1 of 'test'" in result.stderr


def test_standard_input_is_read() -> None:
    with SOUND.open("rb") as file:
        result = subprocess.run([*COMMAND, "stat", "-"], stdin=file, env=environment(), capture_output=True, text=True)
    assert (result.returncode, rows(result.stdout)[0][:5]) == (0, ["-", "clean", "12", "11528", "192"])


def test_a_pipe_has_no_size_on_disk_but_all_figures() -> None:
    result = subprocess.run(
        [*COMMAND, "stat", "-"], input=SOUND.read_bytes(), env=environment(), capture_output=True, check=True
    )
    (row,) = rows(result.stdout.decode())
    assert row[2:12] == ["12", "11528", "192", "741", "940", "960.7", "1180", "1180", "1180", ""]


# On a terminal


@mark.parametrize("columns", [40, 60, 80, 160])
def test_no_line_of_the_picture_is_wider_than_the_terminal(shards: Path, columns: int) -> None:
    shown = on_terminal("stat", "train@3", cwd=shards, columns=columns, NO_COLOR="1")
    picture = [line for line in shown.splitlines() if line.startswith("  ")]
    assert max(map(len, picture)) <= columns and len(picture) > 8
    assert "█" in shown and "\x1b" not in shown
    assert "smallest 50" in shown and "largest 149" in shown


def test_bars_are_in_proportion_and_the_least_count_shows(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(File((bytes(100),) * 1000 + (bytes(150),)).data)
    lines = on_terminal("stat", "a", cwd=tmp_path, NO_COLOR="1").splitlines()
    bars = [line.split() for line in lines if line.endswith(("1,000", "  1", "  0"))]
    assert bars[0][-2] == "█" * 60 and bars[-1][-2:] == ["▏", "1"]


def test_colour_is_for_terminals_and_obeys_the_option(shards: Path) -> None:
    assert "\x1b[32m" in on_terminal("stat", SOUND)
    assert "\x1b" not in run("stat", SOUND).stdout
    assert "\x1b[32mclean" in run("stat", "--color", "always", SOUND).stdout


def test_payloads_that_were_not_checked_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(flip(frame(b"one") + frame(b"two"), 13))
    (tmp_path / "none").write_bytes(b"")
    assert "clean, 2 records, 38 bytes; payloads not checked" in on_terminal("stat", "a", cwd=tmp_path, NO_COLOR="1")
    for how, unchecked in (([], True), (["--duplicates"], False), (["--index", tmp_path / "i"], False)):
        *_, file, _ = json_lines("stat", *how, tmp_path / "a")
        assert (file["status"], file["unchecked"]) == ("clean" if unchecked else "damaged", unchecked)
    assert not json_lines("stat", tmp_path / "none")[0]["unchecked"]
    assert "not checked" not in on_terminal("stat", "--duplicates", SOUND)


def test_a_terminal_without_block_characters_gets_plain_ones(shards: Path) -> None:
    shown = on_terminal("stat", "train@3", cwd=shards, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "#" in shown and shown.isascii()


def test_a_path_cannot_command_the_terminal(tmp_path: Path) -> None:
    name = "a\n\x1b[31m\u202e[red]x"
    (tmp_path / name).write_bytes(frame(b"payload"))
    (tmp_path / "b").write_bytes(frame(b"payload") * 30)
    for shown in (run("stat", name, "b", cwd=tmp_path).stdout, on_terminal("stat", name, "b", cwd=tmp_path)):
        assert "a\\n\\x1b[31m\\u202e[red]x" in shown


def test_an_empty_file_and_one_of_ofrecords_are_shown(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_bytes(OF_DATA)
    (tmp_path / "part-1").write_bytes(b"")
    shown = on_terminal("stat", "part-0", "part-1", cwd=tmp_path, NO_COLOR="1", columns=200)
    assert "OFRecord, in OFRecord framing" in shown
    assert "1 without records" in shown
    assert "hint: 'part-1' has no records; OneFlow" in shown
    assert "0 records" in on_terminal("stat", "part-1", cwd=tmp_path)


def test_compression_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(SOUND.read_bytes()))
    shown = on_terminal("stat", "a.gz", cwd=tmp_path, NO_COLOR="1")
    assert "of gzip" in shown and "decompress to 11.4 KiB" in shown


# The index


def test_an_index_is_written_whole_and_told(tmp_path: Path) -> None:
    (file, _) = json_lines("stat", "--index", tmp_path / "a.idx", SOUND)
    assert file["index"] == str(tmp_path / "a.idx")
    assert (tmp_path / "a.idx").read_text().startswith("0 757\n757 797\n")
    again = run("stat", "--index", tmp_path / "a.idx", SOUND)
    assert (again.returncode, rows(again.stdout)[0][1]) == (3, "error")
    assert "--force" in again.stderr
    assert run("stat", "--index", tmp_path / "a.idx", "--force", SOUND).returncode == 0


def test_no_input_is_looked_up_again_for_each_index(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    names = [str(tmp_path / f"shard-{number}") for number in range(20)]
    for name in names:
        Path(name).write_bytes(frame(b"x"))
    looked: Counter[object] = Counter()
    look = os.stat

    def counted(path: object, *args: object, **kwargs: object) -> os.stat_result:
        looked[path] += 1
        return look(path, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", counted)
    for force in (False, True):
        looked.clear()
        assert run_stat(Common(tuple(names), quiet=True), index=f"{tmp_path}/", force=force) == 0
        assert max(looked[name] for name in names) < 5


def test_a_file_whose_index_cannot_be_written_is_described_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text("mine")
    plain, whole = json_lines("stat", SOUND)
    file, summary = json_lines("stat", "--index", tmp_path / "a.idx", SOUND)
    assert (file["status"], file["index"], summary["exit"]) == ("error", None, 3)
    assert {name: file[name] for name in ("records", "sizes", "histogram")} == {
        name: plain[name] for name in ("records", "sizes", "histogram")
    }
    assert summary["sizes"] == whole["sizes"]
    (tmp_path / "packed").write_bytes(gzip.compress(SOUND.read_bytes()))
    done = run("stat", "--index", tmp_path / "b.idx", tmp_path / "packed")
    assert (done.returncode, rows(done.stdout)[0][1:3]) == (3, ["error", "12"])
    assert (tmp_path / "a.idx").read_text() == "mine" and not (tmp_path / "b.idx").exists()


@fixture(scope="module")
def many(tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    """A file whose index takes more than is written at once."""
    made: Path = tmp_path_factory.mktemp("many") / "many"
    made.write_bytes(frame(b"") * 60_000)
    return made


def loaded(said: str) -> Iterator[Any]:
    """The lines of both outputs, those of JSON as what they stand for."""
    return (json.loads(line) if line.startswith("{") else line for line in said.splitlines())


def full(told: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


@mark.parametrize(("index", "before"), [("/dev/full", lambda told: None), ("a.idx", full)], ids=["device", "disk"])
def test_a_disk_that_fills_under_an_index_costs_no_figure_and_reading_is_not_blamed(
    many: Path, index: str, before: Callable[[int], None], tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = forked("stat", "--json", "--index", index, str(many), before=before)
    file, said, summary = loaded(ended.said)
    assert (ended.code, file["status"], file["error"]["kind"], file["index"]) == (3, "error", "write", None)
    assert said.startswith(f"tfrtool: {many}: cannot write '{index}'") and "intact records" not in said
    assert (file["records"], file["sizes"]["max"], summary["sizes"]["max"]) == (60_000, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_an_index_costs_no_figure(many: Path) -> None:
    result = shell('tfrtool stat --json --index >(head -c 1 > /dev/null) "$1"; echo $?', many)
    *_, file, summary, code = result.stdout.splitlines()
    assert (code, json.loads(file)["records"], json.loads(summary)["sizes"]["max"]) == ("3", 60_000, 0)
    assert "broken pipe" in result.stderr


@mark.parametrize("held", [0, 30_000])
def test_no_room_for_digests_costs_no_other_figure(
    held: int, many: Path, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    add = Digests.add

    def full(self: Digests, payloads: Iterable[bytes], first: int) -> None:
        if first >= held:
            raise WriteError("cannot keep digests in a temporary file: database or disk is full")
        add(self, payloads, first)

    monkeypatch.setattr(Digests, "add", full)
    ended = forked("stat", "--json", "--duplicates", "--index", str(tmp_path / "a.idx"), str(many))
    file, _, summary = loaded(ended.said)
    assert (ended.code, file["records"], file["duplicates"], summary["sizes"]["max"]) == (3, 60_000, None, 0)
    assert "cannot keep digests in a temporary file" in file["message"] and "intact records" not in file["message"]
    assert len((tmp_path / "a.idx").read_bytes().splitlines()) == 60_000


@mark.parametrize("inputs", [1, 2])
@mark.parametrize("how", [[], ["--json"]], ids=["text", "json"])
def test_temporary_files_are_read_once_for_each_answer(
    how: list[str], inputs: int, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    def counted(told: int) -> None:
        repeats = Digests._repeats
        monkeypatch.setattr(Digests, "_repeats", lambda self: (os.write(told, b"."), repeats(self))[1])

    ended = forked("stat", "--duplicates", *how, *map(str, [SOUND, DAMAGED][:inputs]), before=counted)
    assert ended.told == "." * (1 if inputs == 1 else 3)  # the second file is added to the first


def test_no_room_for_the_digests_of_all_files_is_said_and_costs_nothing_else(
    tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    def full(self: Digests, other: Digests, files: int = 0) -> None:
        raise WriteError("cannot keep digests in a temporary file: database or disk is full")

    monkeypatch.setattr(Digests, "update", full)
    names = [str(tmp_path / name) for name in "abc"]
    for name in names:
        Path(name).write_bytes(frame(b"x") * 12)
    *files, said, summary = loaded(forked("stat", "--json", "--duplicates", *names).said)
    assert [file["duplicates"] for file in files] == [11, 11, 11] and "cannot keep digests" in said
    assert (summary["exit"], summary["records"], summary["duplicates"]) == (3, 36, None)


def test_an_index_in_the_pipe_of_the_report_is_refused() -> None:
    result = shell('tfrtool stat --index /dev/stdout "$1" | cat; echo ${PIPESTATUS[0]}', SOUND)
    assert result.stdout == "2\n" and "add -q, or name a file" in result.stderr


def test_a_damaged_file_has_an_index_of_its_sound_records(tmp_path: Path) -> None:
    assert run("stat", "--index", tmp_path / "a.idx", DAMAGED).returncode == 1
    assert len((tmp_path / "a.idx").read_text().splitlines()) == 8


def test_an_index_goes_into_a_pipe_where_nothing_else_does(tmp_path: Path) -> None:
    run("stat", "--index", tmp_path / "a.idx", SOUND)
    assert run("stat", "-q", "--index", "-", SOUND).stdout == (tmp_path / "a.idx").read_text()
    (tmp_path / "many").write_bytes(frame(b"") * 50_000)
    result = shell('tfrtool stat -q --index - "$1" | head -n 1; echo ${PIPESTATUS[0]}', tmp_path / "many")
    assert (result.stdout, result.stderr) == ("0 16\n141\n", "")


def test_several_inputs_have_their_indexes_in_a_directory(shards: Path) -> None:
    (shards / "idx").mkdir()
    assert run("stat", "--index", "idx/", "train@3", cwd=shards).returncode == 0
    assert sorted(path.name for path in (shards / "idx").iterdir()) == [f"train-{n:05}-of-00003.idx" for n in range(3)]
    assert run("verify", "--index", "idx", "train@3", cwd=shards).returncode == 0


@mark.parametrize(
    ("args", "why"),
    [
        (["stat", "--index", "a.idx", SOUND, DAMAGED], "name a directory"),
        (["verify", "--index", "a.idx", SOUND, DAMAGED], "name a directory"),
        (["stat", "--index", ".", "here/a", "there/a"], "would both be"),
        (["stat", "--index", ".", "-"], "standard input has no name"),
        (["stat", "--force", SOUND], "add --index FILE"),
        (["stat", "--index", "-", SOUND], "add -q, or"),
        (["head", "--record", "1", "-n", "1", SOUND], "cannot be combined with -n"),
        (["head", "--record", "-1", SOUND], "--record"),
    ],
)
def test_what_contradicts_itself_is_wrong_usage(args: list[str | Path], why: str, tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(frame(b""))
    result = run(*args, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert why in " ".join(result.stderr.split())
    assert not (tmp_path / "a.idx").exists()


def test_a_wrong_index_is_a_finding_though_the_file_is_clean(tmp_path: Path) -> None:
    run("stat", "--index", tmp_path / "a.idx", SOUND)
    good = run("verify", "--index", tmp_path / "a.idx", SOUND)
    assert (good.returncode, rows(good.stdout)[0][5]) == (0, "all checksums match; the index matches")
    (tmp_path / "a.idx").write_text((tmp_path / "a.idx").read_text().replace("757 797", "757 798"))
    result = run("verify", "--index", "a.idx", SOUND, cwd=tmp_path)
    line, file = rows(result.stdout)
    assert result.returncode == 1
    assert line[1:] == [
        "index",
        "757",
        "1555",
        "",
        "",
        "line 2: the record at byte 757 has size 797",
    ]
    assert file[1] == "clean" and f"1 fault in the index; run: tfrtool stat --index a.idx --force {SOUND}" in file[5]
    told, report, summary = json_lines("verify", "--index", tmp_path / "a.idx", SOUND)
    assert (told["type"], told["line"], told["offset"], told["size"]) == ("index", 2, 757, 798)
    assert (report["status"], report["index_faults"], summary["exit"]) == ("clean", 1, 1)
    assert (summary["clean"], summary["index_faults"]) == (1, 1)
    assert "index line 2: the record at byte 757" in on_terminal("verify", "--index", tmp_path / "a.idx", SOUND)


def test_the_record_of_a_number_is_shown_alone() -> None:
    wanted = [line for line in run("head", "-n", "12", SOUND).stdout.splitlines() if line.split("\t")[1] == "7"]
    result = run("head", "--record", "7", SOUND)
    assert (result.returncode, result.stdout.splitlines()) == (0, wanted)
    raw = [subprocess.run([*COMMAND, "head", "--raw", *how, SOUND], env=environment(), capture_output=True).stdout
           for how in (["--record", "7"], ["--skip", "7"])]  # fmt: skip
    assert raw[0] == raw[1] != b""


def test_a_record_that_is_not_there_or_damaged_is_said_plainly() -> None:
    result = run("head", "--record", "12", SOUND)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == f"tfrtool: '{SOUND}' has no record 12: it holds 12 records, numbered from 0\n"
    result = run("head", "--record", "6", DAMAGED)
    assert (result.returncode, result.stdout) == (1, "")
    assert "data-crc" in result.stderr.splitlines()[-1]


def test_a_flipped_payload_is_no_finding_of_headers(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(flip(frame(b"one"), 13))
    assert run("stat", tmp_path / "a").returncode == 0
    assert run("stat", "--duplicates", tmp_path / "a").returncode == 1
