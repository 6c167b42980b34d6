"""What the README shows is what the program does."""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
from kit.make_readme import README, ROOT, commands, rendered
from kit.make_samples import DATA, samples
from kit.program import environment, shell
from pytest import fixture, mark

import tfrtool
from tfrtool.cli.app import COMMANDS, app
from tfrtool.cli.docs import manual

TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def rows(heading: str) -> list[str]:
    """The first cells of the table that begins with that row."""
    _, _, table = TEXT.partition(heading + "\n")
    return [line.split("|")[1].strip(" `") for line in table.split("\n\n")[0].splitlines()[1:]]


@fixture(scope="module")
def place(tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    """A directory in which the samples lie where the README has them; examples may write there."""
    there: Path = tmp_path_factory.mktemp("readme")
    shutil.copytree(DATA, there / "tests/data")
    return there


def test_console_blocks_show_what_the_program_prints() -> None:
    """To update them: `python tests/kit/make_readme.py`."""
    assert rendered(TEXT) == TEXT


def test_every_command_is_shown() -> None:
    shown = commands(TEXT) + re.findall(r"^tfrtool (.*)$", "".join(blocks("bash")), re.MULTILINE)
    assert {command.split()[0] for command in shown} == set(COMMANDS) - {"completion"}


def test_it_is_no_longer_than_a_product_page() -> None:
    assert len(TEXT.splitlines()) <= 250


@mark.parametrize("command", commands(TEXT))
def test_a_command_that_is_shown_ends_as_what_it_finds(command: str) -> None:
    finds = "damaged" in command or "*" in command
    assert shell(f'cd "$1"; tfrtool {command}', ROOT).returncode == int(finds)


def test_the_examples_end_as_they_say(place: Path) -> None:
    """Each without a word on standard error and, unless a remark names another exit code, with 0."""
    for line in "".join(blocks("bash")).splitlines():
        said = re.search(r"# exit code (\d)", line)
        ran = shell(f'cd "$1"; {line}', place)
        assert (ran.returncode, ran.stderr, line) == (int(said[1]) if said else 0, "", line)
        shown = re.search(r"# prints (.*)", line)
        assert not shown or ran.stdout == f"{shown[1]}\n"
    assert len(list(place.glob("train-*-of-00003"))) == 3
    roses = gzip.decompress((place / "roses.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(row)["label"] for row in roses] == [2, 2, 2, 2]


@mark.parametrize("code", blocks("python"))
@mark.parametrize("_time", ("first", "second"))
def test_the_library_example_runs_and_runs_again(code: str, _time: str, place: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=place, env=environment(), capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert [line.split(" ")[2] for line in lines[1:-1]] == ["length-crc", "data-crc", "data-crc", "torn"]
    assert lines[-1] == "8 kept, 2 restored, 10 copied"
    assert len(code.splitlines()) <= 14


def test_the_values_of_a_record_are_got_as_it_says() -> None:
    (said,) = re.findall(r"`(\{one\.text: .*?\})`", TEXT)
    (record,) = tfrtool.head(ROOT / "tests/data/flowers.tfrecord", n=1)
    assert {"label": [0], "caption": ["a tulip in the morning, 7°C".encode()]}.items() <= eval(
        said, {"record": record}
    ).items()


def test_every_option_it_names_exists() -> None:
    context = click.Context(app)
    known = {"--help", "--version"}
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command
        known |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    ours = "\n".join(line for line in TEXT.splitlines() if "benchmarks/" not in line)
    assert set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", ours)) <= known


def test_the_benchmark_that_gave_the_figures_takes_the_options_that_it_is_given() -> None:
    (block,) = [block for block in blocks("text") if "benchmarks/" in block]
    for line in block.splitlines():
        _, script, *options = shlex.split(line, comments=True)
        shown = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=True)
        assert all(option in shown.stdout for option in options if option.startswith("-"))


def test_every_fault_is_explained() -> None:
    assert rows("| fault | what happened | what `repair` does |") == list(manual.FAULTS)


def test_the_last_version_of_the_changelog_is_this_one() -> None:
    assert re.findall(r"^\*\*(.*?)\*\* \(", TEXT.partition("## Changelog")[2], re.MULTILINE)[0] == tfrtool.__version__


def test_the_tests_are_run_for_every_change_as_the_readme_runs_them() -> None:
    (_, command) = blocks("sh")
    lines = (ROOT / ".ci/run").read_text().splitlines()
    steps = command.strip().split(" && ")
    assert [line for line in lines if line in steps] == steps[:-1]
    assert lines[-1] == steps[-1].replace(" -m 'not slow'", "")  # the slow ones too


def test_the_first_block_installs_and_checks_a_sample() -> None:
    (block, _) = blocks("sh")
    environ, install, check = block.splitlines()
    assert (environ, install) == ("python3 -m venv .venv", ".venv/bin/pip install -q .")
    job = check.replace(".venv/bin/tfrtool", shlex.join([sys.executable, "-m", "tfrtool"]))
    subprocess.run(["bash", "-c", job], cwd=ROOT, env=environment(), check=True, capture_output=True)


@mark.parametrize("name", samples())
def test_the_samples_are_those_that_their_script_writes(name: str) -> None:
    assert (DATA / name).read_bytes() == samples()[name]
