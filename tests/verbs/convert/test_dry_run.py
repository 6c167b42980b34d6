"""A dry run of convert ends as the run that writes would, and writes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kit.forked import forked
from kit.messages import example
from kit.verbs import DATA, OF_DATA

from tfrtool.framing.encode import frame

REFUSED = [
    ("in -o in", 2, "an input is never written to"),
    ("in -o in.tfrecord --schema-out in", 2, "an input is never written to"),
    ("in -o there", 3, "'there' exists already"),
    ("in -o nowhere/out", 3, "the directory 'nowhere': no such file or directory; make that directory first"),
    ("in -o nowhere/dir/", 3, "cannot make the directory 'nowhere/dir'"),
    ("in -o nowhere/parts --to ofrecord --shards 2", 3, "cannot make the directory 'nowhere/parts'"),
    ("in -o out --shards 7", 3, "6 records cannot fill 7 shards"),
    ("in -o out --shards 2 --force --schema-out nowhere/s", 3, "cannot write 'nowhere/s'"),
    ("in -o dir/", 3, "'dir/in' exists already"),
    ("in -o s --records-per-shard 2", 3, "'s-00001-of-00003' exists already"),
    ("in -o s --shard-size 1100", 3, "'s-00001-of-00003' exists already"),
    ("in -o old --to ofrecord --records-per-shard 3", 3, "'old/part-00005' is no part of this set"),
    ("in -o old/ --to ofrecord", 3, "'old/part-00005' is no part of this set"),
    ("in -o out --to ofrecord -n 0", 3, "there is no record to write"),
    ("in -o out --to ofrecord --where label==9", 3, "no record fulfils the conditions"),
    ("in -o out --records-per-shard 1 -n 0", 3, "a shard is never empty"),
]
SOUND = [
    "in -o out",
    "in -o out --force",
    "in -o there --force",
    "in -o new/",
    "in -o new --to ofrecord --shards 6",
    "in -o out --shard-size 1MB",
    "in -o out --to jsonl --shards 3",
    "in -o out -n 0",
    "of -o out --to tfrecord --records-per-shard 4",
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("dir")
    os.mkdir("old")
    Path("of").write_bytes(OF_DATA)
    for name in ("in", "there", "dir/in", "s-00001-of-00003", "old/part-00005"):
        Path(name).write_bytes(DATA)


def tree() -> list[str]:
    return sorted(str(path) for path in Path().rglob("*"))


@pytest.mark.parametrize(("how", "code", "said"), REFUSED)
def test_dry_run_refuses_the_same_as_a_real_run(how: str, code: int, said: str) -> None:
    before = tree()
    dry, wet = forked("convert", *how.split(), "--dry-run"), forked("convert", *how.split())
    assert (dry.code, wet.code) == (code, code)
    assert said in dry.said and dry.said.splitlines()[-1] == wet.said.splitlines()[-1]
    assert tree() == before


@pytest.mark.parametrize("how", SOUND)
def test_dry_run_reports_the_same_as_a_real_run(how: str) -> None:
    before = tree()
    dry = forked("convert", *how.split(), "--dry-run")
    assert (dry.code, tree()) == (0, before)
    wet = forked("convert", *how.split())
    assert wet.code == 0
    assert dry.said.splitlines()[0] == wet.said.splitlines()[0].replace("records written", "records would be written")


def test_dry_run_without_output_reports_no_records() -> None:
    Path("small").write_bytes(frame(example({"a": ("int64_list", [1])})))
    assert forked("convert", "small", "--dry-run", "--shards", "1").code == 0
    assert forked("convert", "small", "--dry-run", "--shards", "2").code == 3
    assert forked("convert", "small", "--dry-run", "--to", "ofrecord", "-n", "0").code == 3
