"""Every option of every command, with every choice it offers, does something sensible with the shipped sample."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import click
from kit.forked import forked
from kit.make_samples import DATA
from kit.program import run
from pytest import MonkeyPatch, fixture, mark

from tfrtool.cli.app import COMMANDS, app

SHARED = """
-F auto -z auto -j 2 --color always bad
--format tfrecord --compression none --jobs 1 --color never --no-progress --json bad
-z gzip good.gz
-z zlib good.zz
-F ofrecord -v --progress --color auto good.of
-q bad
"""
OWN = {
    "count": "",
    "head": """
-n 2 --skip 1 good
--number 1 --values 3 good
--values all --record 2 good
--keys good
--html page --force bad
""",
    "verify": """
--quick bad
--payload bad
--index good.idx good
--html page --force bad
""",
    "stat": """
--duplicates bad
--index index --force good
--html page --force good
""",
    "schema": """
-n 5 bad
--number 2 --emit table --strict good
--emit json good
--emit tf -o features.py --force good
--emit pbtxt good
--emit tfds --output . set-train.tfrecord-00000-of-00001
--emit dali good
--emit tfrecord good
--html page --force bad
""",
    "repair": """
-o out bad
--output out --force --keep all bad
-o before --keep before bad
-o after --keep after bad
-o bits --fix-bits bad
-o more --keep-unverified --quarantine quarantine --report report bad
-o none --dry-run bad
-o a -z none good
-o b -z gzip good
-o c --compression zlib good
""",
    "convert": """
-o a --to tfrecord --compress auto good
-o b --to ofrecord --compress none --int int64 --empty refuse --unknown refuse good
-o c --to ofrecord --int int32 --empty skip --unknown keep good
-o d --to ofrecord --int auto --empty keep --unknown drop good
-o e --to jsonl --compress gzip good
-o lines.jsonl --schema-out lines.json good
-o f --from jsonl --schema schema.json --double refuse --no-kind keep rows.jsonl
-o g --from jsonl --schema schema.json --double exact --no-kind drop rows.jsonl
-o h --double round --no-kind refuse good
-o i --double bytes --sequence refuse good
-o j --sequence flatten --compress zlib good
-o k --select label,caption --rename caption=text good
-o l --drop caption --strip-prefix image/ good
-o m --where 'label == 1' --skip 1 -n 2 --type label=int64 good
-o n --shards 3 good
-o o --shard-size 4KB good
-o p --records-per-shard 5 --number 7 good
-o q --skip-damaged --payload --force bad
--output r --dry-run good
""",
    "completion": "",
}
PARQUET = """
-o t --to parquet good
-o u --from parquet good.parquet
"""
NEEDED = {"repair": "-o out ", "convert": "-o out --skip-damaged "}
"""What the shared lines lack for commands that write."""


def lines(command: str) -> list[list[str]]:
    shared = [NEEDED.get(command, "") + line for line in SHARED.split("\n") if line and command != "completion"]
    return [shlex.split(line) for line in (*OWN[command].split("\n"), *shared) if line]


LINES = [(command, line) for command in COMMANDS for line in lines(command)]


@fixture
def folder(tmp_path: Path) -> Path:
    """The sample, sound and damaged, in every framing and compression."""
    for name, source in {
        "good": "flowers",
        "set-train.tfrecord-00000-of-00001": "flowers",
        "bad": "flowers-damaged",
    }.items():
        shutil.copy(DATA / f"{source}.tfrecord", tmp_path / name)
    return tmp_path


@fixture(scope="module")
def shapes(tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    """The sound sample in other shapes, made by the program itself."""
    made: Path = tmp_path_factory.mktemp("shapes")
    good = DATA / "flowers.tfrecord"
    for line in (
        ["convert", good, "-o", "good.gz", "--to", "tfrecord", "--compress", "gzip"],
        ["convert", good, "-o", "good.zz", "--to", "tfrecord", "--compress", "zlib"],
        ["convert", good, "-o", "good.of", "--to", "ofrecord"],
        ["convert", good, "-o", "rows.jsonl", "--schema-out", "schema.json"],
        ["stat", good, "--index", "good.idx"],
    ):
        assert run(*line, cwd=made).returncode == 0
    return made


@mark.parametrize(("command", "line"), LINES, ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_a_line_does_what_it_says(
    command: str, line: list[str], folder: Path, shapes: Path, monkeypatch: MonkeyPatch
) -> None:
    for file in shapes.iterdir():
        if file.name in line or (file.name == "schema.json" and "--schema" in line):
            shutil.copy(file, folder)
    monkeypatch.chdir(folder)
    ended = forked(command, *line)
    assert ended.code == (1 if "bad" in line else 0), ended.said
    assert "Traceback" not in ended.said
    assert ended.said or "-q" in line or "-o" in line or "--output" in line
    if "--json" in line:
        assert json.loads(ended.said.splitlines()[-1])["exit"] == ended.code


@mark.parametrize("command", COMMANDS)
def test_no_option_and_no_choice_is_missing_above(command: str) -> None:
    words = {word for line in lines(command) for word in line}
    words |= {"--cluster", "--raw", *shlex.split(PARQUET)}  # these have tests of their own
    found = app.get_command(click.Context(app), command)
    assert found
    for option in found.params:
        if isinstance(option, click.Option):
            assert words & set(option.opts), f"no line has {option.opts}"
            assert not option.secondary_opts or words & set(option.secondary_opts)
            if isinstance(option.type, click.Choice):
                assert words >= set(option.type.choices), f"{option.opts}: {set(option.type.choices) - words} not tried"


@mark.parametrize("command", COMMANDS)
def test_an_empty_name_of_a_file_is_wrong_usage_before_anything_is_read(
    command: str, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = app.get_command(click.Context(app), command)
    assert found
    named = [option.opts for option in found.params if option.metavar in ("FILE", "OUT")]
    more = {"schema": ["--emit", "tf"], "convert": ["--to", "tfrecord"]}.get(command, [])
    for option in (option for options in named for option in options):
        output = ["-o", "out"] if command in NEEDED and option not in ("-o", "--output") else []
        ended = forked(command, "no-such-file", *more, *output, option, "")
        assert ended.code == 2 and "empty" in ended.said, (option, ended)
