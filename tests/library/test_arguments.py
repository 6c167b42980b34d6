"""The functions of the library refuse what they cannot take, in words that name the argument, and touch no file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit.damage import ten

import tfrtool

FILE = ten()
JOBS: dict[str, Callable[..., Any]] = {
    "count": lambda **how: tfrtool.count("in", **how),
    "verify": lambda **how: tfrtool.verify("in", **how),
    "stat": lambda **how: tfrtool.stat("in", **how),
    "schema": lambda **how: tfrtool.schema("in", **how),
    "stat_all": lambda **how: tfrtool.stat_all("in", **how),
    "head": lambda **how: tfrtool.head("in", **how),
    "records": lambda **how: tfrtool.records("in", **how),
    "walk": lambda **how: tfrtool.walk("in", **how),
    "convert": lambda **how: tfrtool.convert("in", "out", to="tfrecord", **how),
    "repair": lambda **how: tfrtool.repair("in", "out", **how),
}
SWITCHES = [
    ("verify", "payload"),
    ("verify", "quick"),
    ("stat_all", "duplicates"),
    ("stat", "duplicates"),
    ("stat", "force"),
    ("repair", "fix_bits"),
    ("repair", "keep_unverified"),
    ("repair", "force"),
    ("repair", "dry_run"),
    *(("convert", switch) for switch in ("skip_damaged", "payload", "force", "dry_run")),
    ("RecordWriter", "force"),
]
PATHS = [("verify", "index"), ("stat", "index"), ("repair", "quarantine"), ("repair", "report")]
PATHS += [("convert", "schema"), ("convert", "schema_out")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(FILE.data)
    yield
    assert os.listdir() == ["in"]


def writer(**how: Any) -> object:
    return tfrtool.RecordWriter("out", **how)


@pytest.mark.parametrize("job", JOBS)
def test_unknown_format_or_compression_is_refused(job: str) -> None:
    with pytest.raises(ValueError, match="format is auto, tfrecord or ofrecord, not 'x'"):
        JOBS[job](format="x")
    with pytest.raises(ValueError, match="compression is auto, none, gzip or zlib, not 'lz4'"):
        JOBS[job](compression="lz4")
    with pytest.raises(TypeError, match="compression is auto, none, gzip or zlib, not None"):
        JOBS[job](compression=None)
    with pytest.raises(TypeError, match=r"format is auto, tfrecord or ofrecord, not \[\]"):
        JOBS[job](format=[])


def test_keep_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="keep is all, before or after, not 'foo'"):
        JOBS["repair"](keep="foo")


@pytest.mark.parametrize(("job", "option"), SWITCHES)
def test_switch_is_true_or_false(job: str, option: str) -> None:
    with pytest.raises(TypeError, match=f"{option} is True or False, not 'no'"):
        (JOBS | {"RecordWriter": writer})[job](**{option: "no"})


@pytest.mark.parametrize(("job", "option"), PATHS)
def test_optional_file_must_have_a_name(job: str, option: str) -> None:
    with pytest.raises(TypeError, match=rf"{option} is a path \(str, bytes or os.PathLike\), not 7"):
        JOBS[job](**{option: 7})
    with pytest.raises(ValueError, match=f"{option} is an empty file name"):
        JOBS[job](**{option: ""})


@pytest.mark.parametrize("call", [*sorted(JOBS.keys() - {"convert", "repair"}), "RecordWriter"])
def test_path_is_not_a_number_or_a_list(call: str) -> None:
    for path in (3, None, ["in"]):
        with pytest.raises(TypeError, match=r"(path|source|paths) is a path \(str, bytes or os.PathLike\), not"):
            getattr(tfrtool, call)(path)


def test_output_is_a_path() -> None:
    for source, output, named in ((None, "out", "path"), ("in", None, "output"), ("in", 2, "output")):
        for job, called in ((tfrtool.repair, named), (tfrtool.convert, named.replace("path", "inputs"))):
            with pytest.raises(TypeError, match=f"^{called} is a path"):
                job(source, output)  # type: ignore[operator]


def test_each_of_several_inputs_is_a_path() -> None:
    with pytest.raises(TypeError, match="^each of the inputs is a path .*, not 7"):
        tfrtool.convert(["in", 7], "out")  # type: ignore[list-item]


def test_number_of_records_is_whole_and_not_negative() -> None:
    for job, option in (("schema", "n"), ("head", "n"), ("head", "skip"), ("head", "record")):
        with pytest.raises(ValueError, match=f"^{option} is a whole number of 0 or more, not -1"):
            JOBS[job](**{option: -1})
        for n in (1.5, "3", True):
            with pytest.raises(TypeError, match=f"^{option} is a whole number of 0 or more, not"):
                JOBS[job](**{option: n})


def test_contradicting_options_of_head_are_refused() -> None:
    with pytest.raises(ValueError, match="record"):
        JOBS["head"](record=1, skip=1)


def test_compression_level_is_checked() -> None:
    with pytest.raises(ValueError, match="level is a whole number from -1 to 9, not 10"):
        writer(compression="gzip", level=10)
    with pytest.raises(TypeError, match="level is a whole number from -1 to 9, not 'best'"):
        writer(level="best")
    with pytest.raises(TypeError, match="compression is gzip, zlib or None, not 5"):
        writer(compression=5)


@pytest.mark.parametrize("side", ["report", "quarantine"])
def test_side_file_that_is_the_input_is_named(side: str) -> None:
    os.link("in", "same")
    try:
        with pytest.raises(tfrtool.WriteError, match=f"^the {side} 'same' is the input 'in'; an input is never"):
            JOBS["repair"](**{side: "same"}, force=True)
        assert Path("in").read_bytes() == FILE.data
    finally:
        os.unlink("same")


def test_bytes_paths_are_accepted() -> None:
    for job in (tfrtool.count, tfrtool.verify, tfrtool.stat):
        assert job(b"in").records == 10
    assert tfrtool.stat_all(b"in").payloads.count == len(list(tfrtool.head(b"in", n=99))) == 10
    assert tfrtool.schema(b"in").kinds == {"unknown": 10}
    with tfrtool.RecordWriter(b"new") as new:
        new.write(b"one")
    report = tfrtool.repair("new", b"out", report=b"list")
    assert (report.output, report.report) == ("out", "list")
    for inputs in (b"in", [b"in"], iter([b"in"])):
        rows = tfrtool.convert(inputs, b"out", to="tfrecord", force=True)
        assert (rows.outputs, rows.written) == (["out"], 10)
    for name in ("new", "out", "list"):
        os.unlink(name)
