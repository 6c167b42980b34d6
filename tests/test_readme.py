"""What the README shows is what the program does."""

import re
import shlex
import subprocess
import sys

import click
from make_readme import README, ROOT, commands, rendered
from make_samples import DATA, samples
from program import environment
from pytest import mark

from tfrtool.cli.app import COMMANDS, app

TEXT = README.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_its_commands_show_what_it_says() -> None:
    """If they should: `python tests/make_readme.py`."""
    assert rendered(TEXT) == TEXT


def test_every_command_that_reads_records_is_shown() -> None:
    assert {command.split()[0] for command in commands(TEXT)} == set(COMMANDS) - {"completion"}


@mark.parametrize("code", blocks("python"))
def test_the_library_examples_run(code: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "damaged 8 sound records, 2 more can be brought back"


def test_every_option_it_names_exists() -> None:
    context = click.Context(app)
    known = {"--help", "--version"}
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command
        known |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", TEXT)) <= known


def test_the_tests_are_run_for_every_change_as_the_readme_runs_them() -> None:
    (_, command) = blocks("sh")
    lines = (ROOT / ".ci/run").read_text().splitlines()
    steps = command.strip().split(" && ")
    assert [line for line in lines if line in steps] == steps
    assert lines[-1] == steps[-1]


def test_the_first_command_looks_at_a_sample_and_takes_its_damage_for_success() -> None:
    (command, _) = blocks("sh")
    install, _, job = command.partition(" && { ")
    assert "pip install" in install
    job = "{ " + job.replace(".venv/bin/tfrtool", shlex.join([sys.executable, "-m", "tfrtool"]))
    subprocess.run(["bash", "-c", job], cwd=ROOT, env=environment(), check=True, capture_output=True)


@mark.parametrize("name", samples())
def test_the_samples_are_those_that_their_script_writes(name: str) -> None:
    assert (DATA / name).read_bytes() == samples()[name]
