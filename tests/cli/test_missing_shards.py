"""Shards that are not there: a run of them is told as one, and many runs are counted."""

from pathlib import Path

from kit.program import run
from pytest import mark

from tfrtool.cli.warnings import RUNS, missing_rows
from tfrtool.framing.encode import frame


def names(*indexes: int, total: int = 1000) -> list[str]:
    return [f"train-{index:05d}-of-{total:05d}" for index in indexes]


def test_one_line_tells_of_each_run() -> None:
    assert list(missing_rows(names(1, 2, 3, 7))) == [
        (
            "train-00001-of-01000",
            "3 shards missing from the set: this one to train-00003-of-01000",
        ),
        ("train-00007-of-01000", "missing from the shard set"),
    ]


def test_no_set_takes_more_than_some_lines() -> None:
    *_, last = found = list(missing_rows(names(*range(0, 1000, 2))))
    assert len(found) == RUNS + 1
    assert last == ("train-00040-of-01000", "missing too, with 479 more shards; --json lists all")


@mark.parametrize("command", ["count", "verify", "stat", "head", "schema"])
def test_two_generations_of_a_set_are_told_and_stay_no_finding(tmp_path: Path, command: str) -> None:
    for name in names(0, total=1) + names(0, 1, total=2):
        (tmp_path / name).write_bytes(frame(b""))
    ran = run(command, "train@*", cwd=tmp_path)
    assert ran.returncode == 0
    assert "'train-?????-of-00001' and 'train-?????-of-00002' are all read" in ran.stderr
    assert run(command, "-q", "train@*", cwd=tmp_path).stderr == ""


@mark.parametrize("command", [("verify",), ("repair", "--dry-run"), ("stat",), ("convert", "-o", "out", "--dry-run")])
def test_a_pipe_is_not_flooded(tmp_path: Path, command: tuple[str, ...]) -> None:
    for name in names(0, 999):
        (tmp_path / name).write_bytes(frame(b"payload"))
    lines = run(*command, "train@1000", cwd=tmp_path).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines if "\tmissing\t" in line] == names(1)


def test_standard_error_is_not_flooded_by_a_schema(tmp_path: Path) -> None:
    for name in names(0, 999):
        (tmp_path / name).write_bytes(frame(b"payload"))
    told = run("schema", "train@1000", cwd=tmp_path).stderr
    assert f"tfrtool: {names(1)[0]} to {names(998)[0]}: 998 shards missing from the set\n" in told
