"""The benchmarks run, on files too small to tell anything: nothing here looks at a clock."""

import subprocess
import sys
from pathlib import Path

from kit.program import environment
from pytest import mark

pytestmark = mark.slow

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def printed(script: str, *args: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *args]
    result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@mark.parametrize("script", ["workloads.py", "run.py", "hostile.py", "stat.py", "convert.py", "rows.py", "schema.py"])
def test_each_says_how_it_is_used(script: str) -> None:
    assert printed(script, "--help").startswith("usage: ")


def test_workloads_are_the_same_at_every_run_and_sound(tmp_path: Path) -> None:
    from tfrtool import verify

    where = [tmp_path / "first", tmp_path / "second"]
    first, second = (printed("workloads.py", "--data", str(w), "--scale", "0.0005").split() for w in where)
    assert [Path(path).read_bytes() for path in first] == [Path(path).read_bytes() for path in second]
    reports = [verify(path) for path in first]
    assert [(r.status, r.records) for r in reports] == [("clean", n) for n in (346, 60, 1, 1, 760, 346, 60)]
    assert [r.kind for r in reports] == ["example"] * 4 + ["event"] + ["example"] * 2


def test_speed_is_told_for_each_job_and_workload(tmp_path: Path) -> None:
    names = ["small", "events", "small.gz"]
    how = ["--data", str(tmp_path), "--scale", "0.0001", "--runs", "1"]
    lines = [line.split() for line in printed("run.py", *names, *how).splitlines()]
    told = [(line[0], line[1]) for line in lines[1:]]
    jobs = ("verify", "count", "head")
    each = [(job, name) for job in jobs for name in names[:2]] + [("verify", "small.gz")]
    assert told == [("--version", "start"), ("--help", "start"), *each]


def test_hostile_files_are_compared_with_an_intact_one() -> None:
    lines = printed("hostile.py", "--size", "0.05", "--runs", "1").splitlines()
    assert lines[0].split() == ["verify", "s", "MiB", "ratio"]
    assert [line.split("  ")[0] for line in lines[1:3]] == ["intact", "all zeros"]
    assert len(lines) > 15 and all(float(line.split()[-1]) > 0 for line in lines[1:])


def test_what_measuring_costs_is_told_against_counting_and_a_plain_reader(tmp_path: Path) -> None:
    told = printed("stat.py", "small", "--data", str(tmp_path), "--scale", "0.0001", "--runs", "1").splitlines()[1:]
    assert [line.split()[:2] for line in told] == [["stat", "small"]] * 3 + [["stat", "--duplicates"]] * 3
    assert sum("a plain reader" in line for line in told) == 2


def test_what_conversion_costs_is_told_for_each_way_and_for_memory(tmp_path: Path) -> None:
    told = printed("convert.py", "--data", str(tmp_path), "--scale", "0.001", "--runs", "1").splitlines()[1:]
    ways = ["of to tfrecord", "tf to ofrecord", "tf to tfrecord"]
    assert [line[:14] for line in told] == [*ways, *ways, *ways[:1] * 2]
    assert [">= 0.5" in line for line in told] == [True] * 3 + [False] * 5


def test_what_rows_cost_is_told_for_each_job_and_workload() -> None:
    lines = [line.split("  ") for line in printed("rows.py", "--scale", "0.0001", "--runs", "1").splitlines()]
    told = [line[0] for line in lines[1:]]
    assert told[:2] == ["to jsonl", "from jsonl"]
    assert len(told) == 4 * len(set(told))


def test_what_describing_costs_is_told_for_each_reader_and_workload(tmp_path: Path) -> None:
    told = printed("schema.py", "small", "image", "--data", str(tmp_path), "--scale", "0.001", "--runs", "1")
    lines = [line.split()[:2] for line in told.splitlines()]
    assert lines == [["on", "job"], *[["small", "schema"]] * 3, *[["image", "schema"]] * 3]


def test_a_python_without_what_tfrtool_needs_is_told_in_a_line() -> None:
    """`-S -I` leaves out all that is installed."""
    script = str(Path(__file__).parents[1] / "benchmarks" / "run.py")
    ran = subprocess.run([sys.executable, "-S", "-I", script], capture_output=True, text=True)
    assert ran.returncode == 1
    assert (
        ran.stderr.endswith("lacks crc32c, which tfrtool needs: run this by the Python that tfrtool is in\n")
        and ran.stderr.count("\n") == 1
    )
