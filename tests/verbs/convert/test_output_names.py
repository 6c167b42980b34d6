"""What the names of outputs promise is kept or refused, and what they do not say is told; so are names given twice."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from kit.program import run, shell
from kit.verbs import DATA

from tfrtool import convert, records
from tfrtool.verbs.convert.shards import format_by_name


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(DATA)
    Path("in.gz").write_bytes(gzip.compress(DATA))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x.csv", "say `to`, or end"),
        ("x.json", "say to='jsonl', or end"),
        ("dir.d/x.of", "say to='ofrecord', or end"),
        ("x.CSV.gz", ".csv tells no format"),
        ("x.jsonl.zst", "no output is packed so"),
        ("x.tfrecord.BZ2", "no output is packed so"),
        ("x.parquet.gz", "packs its columns itself: leave .gz off"),
        ("x.pq.zz", "packs its columns itself: leave .zz off"),
    ],
)
def test_misleading_output_name_is_wrong_usage(name: str, says: str) -> None:
    os.mkdir("dir.d")
    with pytest.raises(ValueError) as caught:
        convert("in", name)
    assert says in str(caught.value)
    assert sorted(os.listdir()) == ["dir.d", "in", "in.gz"]


def test_explicit_format_allows_any_name() -> None:
    os.mkdir("x.csv")
    for name in ("y.csv", "y.json", "x.csv", "z.txt/"):
        convert("in", name, to="tfrecord")
    assert Path("y.csv").read_bytes() == Path("x.csv/in").read_bytes() == Path("z.txt/in").read_bytes() == DATA


@pytest.mark.parametrize("name", ["X.JSONL", "x.ndjson", "x.jsonl.gz", "x.Jsonl.ZZ"])
def test_format_suffix_is_case_insensitive(name: str) -> None:
    assert format_by_name(name) == "jsonl"


@pytest.mark.parametrize("name", ["a.gz", "a.GZ", "a.zz", "a.zlib", "a.tfrecord.zz"])
def test_suffix_sets_the_compression(name: str) -> None:
    convert("in", name)
    packed = Path(name).read_bytes()
    assert (gzip.decompress if name[-1] in "zZ" and "g" in name.lower() else zlib.decompress)(packed) == DATA


@pytest.mark.parametrize(
    ("name", "compress", "says"),
    [
        ("a.tfrecord.GZ", "none", "ends in .gz, which compress='none' contradicts: leave that off"),
        ("a.jsonl.zz", "none", "ends in .zz, which compress='none' contradicts: leave that off"),
        ("a.gz", "zlib", "end it in .zlib"),
        ("a.zlib", "gzip", "end it in .gz"),
        ("a.parquet.gz", "none", "leave .gz off"),
    ],
)
@pytest.mark.parametrize("how", [{}, {"shards": 2}, {"to": "tfrecord"}])
def test_compression_option_must_match_the_name(name: str, compress: str, says: str, how: dict[str, Any]) -> None:
    if "parquet" in name and "to" in how:
        says = "leave that off"
    with pytest.raises(ValueError, match=says):
        convert("in", name, compress=compress, **how)
    assert sorted(os.listdir()) == ["in", "in.gz"]


@pytest.mark.parametrize(
    ("source", "how", "made"),
    [
        ("a.tfrecord.zlib", {"compress": "none"}, "a.tfrecord"),
        ("d.tfrecord.GZ", {"compress": "none"}, "d.tfrecord"),
        ("d.GZ", {"compress": "zlib"}, "d.zlib"),
        ("d.GZ", {"compress": "gzip"}, "d.GZ"),
        ("d.ZZ", {"compress": "zlib"}, "d.ZZ"),
        ("d.zz", {"compress": "gzip"}, "d.gz"),
        ("d.gz", {}, "d"),  # which is a lie
        ("d-00000-of-00001", {"compress": "gzip"}, "d-00000-of-00001"),
        ("d-00000-of-00001.tfrecord", {"compress": "gzip"}, "d-00000-of-00001.tfrecord.gz"),
        ("d.tfrecord", {"compress": "gzip"}, "d.tfrecord.gz"),
        ("d.tfrecord-00000-of-00001", {"compress": "zlib"}, "d.tfrecord-00000-of-00001"),
        ("d.tfrecord", {"compress": "none"}, "d.tfrecord"),
        ("d.TFRecord.ZZ", {"to": "jsonl"}, "d.jsonl"),
        ("d.tfrecord", {"to": "jsonl", "compress": "zlib"}, "d.jsonl.zlib"),
        ("d.tfrecord.Zlib", {"to": "jsonl", "compress": "gzip"}, "d.jsonl.gz"),
        (".gz", {"compress": "none"}, ".gz"),
    ],
)
def test_output_named_after_input_shows_its_compression(source: str, how: dict[str, Any], made: str) -> None:
    os.rename("in", source)
    assert convert(source, "out/", **how).outputs == [f"out/{made}"]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("in.gz -o out", True),
        ("in.gz -o out --shards 2", True),
        ("in.gz -o out.gz", False),
        ("in.gz -o dir/", False),
        ("in.gz -o out --compress gzip", False),
        ("in.gz -o out --compress none", False),
        ("in.gz -o out -q", False),
        ("in -o out", False),
    ],
)
def test_inherited_compression_is_reported(how: str, told: bool) -> None:
    result = run("convert", *how.split())
    assert result.returncode == 0
    assert ("is packed with gzip, as the first input is" in result.stderr) == told
    assert ("compression_type='GZIP'" in result.stderr) == told


def test_shard_name_without_compression_suffix_is_reported() -> None:
    Path("t-00000-of-00001").write_bytes(DATA)
    result = run("convert", "t-00000-of-00001", "-o", "dir/", "--compress", "gzip")
    assert (os.listdir("dir"), result.returncode) == (["t-00000-of-00001"], 0)
    assert "packed with gzip, and not all names say so" in result.stderr
    assert "compression_type='GZIP'" in result.stderr
    os.rename("in", "in.tfrecord")
    assert run("convert", "in.tfrecord", "-o", "dir/", "--compress", "gzip").stderr == ""


def test_outputs_with_inherited_compression_keep_names() -> None:
    Path("other.tfrecord").write_bytes(DATA)
    assert convert(["in.gz", "other.tfrecord"], "dir/").outputs == ["dir/in.gz", "dir/other.tfrecord.gz"]
    Path("untold.tfrecord").write_bytes(gzip.compress(DATA))
    assert convert(["untold.tfrecord", "other.tfrecord"], "as/").outputs == ["as/untold.tfrecord", "as/other.tfrecord"]


def test_shards_of_an_older_set_are_reported() -> None:
    for count, said in ((3, ""), (2, "'s-00000-of-00003' and 2 more lie beside"), (1, "'s-00000-of-00002' and 4 more")):
        result = run("convert", "in", "-o", "s", "--shards", str(count))
        assert result.returncode == 0 and said in result.stderr and bool(result.stderr) == bool(said)
    assert len(list(records("s-00000-of-00001"))) == 6


def test_duplicate_input_is_reported() -> None:
    assert "'./in' is named more than once, but read only once" in run("convert", "in", "./in", "-o", "a").stderr
    assert run("convert", "i*", "in*", "-o", "b", "--compress", "none").stderr == ""
    assert len(list(records("a"))) == 6


@pytest.mark.parametrize(
    "how",
    [["-o", ""], ["-o", "a", "--select", ""], ["-o", "a", "--drop", ","], ["-o", "a", "--schema-out", "/dev/stdout"]],
)
def test_empty_or_stream_name_is_wrong_usage(how: list[str]) -> None:
    assert run("convert", "in", *how).returncode == 2
    assert sorted(os.listdir()) == ["in", "in.gz"]


def test_a_schema_goes_into_a_pipe() -> None:
    result = shell("tfrtool convert in -o out --to ofrecord --schema-out >(cat >&2) > list; wait $!")
    assert '"tfrtool_schema": 1' in result.stderr


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"output": ""}, "the name is empty"),
        ({"schema_out": ""}, "schema_out is an empty file name"),
        ({"schema": ""}, "schema is an empty file name"),
    ],
)
def test_empty_name_is_refused_by_the_library(how: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert("in", **{"output": "out", "to": "tfrecord", **how})
