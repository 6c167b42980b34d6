"""The files made from the commands: they are as the commands are, and the programs that read them take them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import click
import pytest
from kit.make_samples import DATA
from kit.program import shell

from tfrtool.cli.app import COMMANDS, app
from tfrtool.cli.docs import manual
from tfrtool.cli.docs.generate import escaped, generated, paragraphs

ROOT = Path(__file__).parents[2]
FILES = generated()
PAGES = [path for path in FILES if path.startswith("man/")]


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_is_as_the_commands_are(path: str) -> None:
    said = f"{path} is out of date: run python -m tfrtool.cli.docs.generate"
    assert (ROOT / path).read_text(encoding="utf-8") == FILES[path], said


def test_nothing_else_lies_where_generated_files_are() -> None:
    there = {p for folder in ("man", "completions") for p in (ROOT / folder).rglob("*") if p.is_file()}
    assert {str(path.relative_to(ROOT)) for path in there} == set(FILES)


def test_the_package_installs_all_of_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = [pattern for each in project["tool"]["setuptools"]["data-files"].values() for pattern in each]
    assert {str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)} == set(FILES)


@pytest.mark.skipif(not shutil.which("mandoc"), reason="needs mandoc")
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_free_of_mistakes(path: str) -> None:
    linted = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", ROOT / path], capture_output=True, text=True)
    assert (linted.returncode, linted.stdout) == (0, "")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_holds_what_every_reader_of_manual_pages_looks_for(path: str) -> None:
    sections = [line[4:] for line in FILES[path].split("\n") if line.startswith(".SH ")]
    wanted = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    assert [section for section in sections if section in wanted] == wanted


def test_every_command_has_examples() -> None:
    assert list(manual.EXAMPLES) == list(COMMANDS)
    assert all(manual.EXAMPLES.values())


FINDS = {
    "tfrtool count flowers.tfrecord flowers-damaged.tfrecord",
    "tfrtool verify flowers-damaged.tfrecord",
    "tfrtool verify flowers-damaged.tfrecord --html report.html",
    "tfrtool stat --duplicates *.tfrecord",
    "tfrtool repair flowers-damaged.tfrecord -o repaired.tfrecord",
    "tfrtool repair --dry-run flowers-damaged.tfrecord",
    "tfrtool repair flowers-damaged.tfrecord -o fixed.tfrecord --quarantine dropped.bin --report report.jsonl",
}
"""The examples that end with exit code 1, since they tell of damage or leave something out; all others with 0."""


@pytest.mark.parametrize(
    "command", [shown for examples in manual.EXAMPLES.values() for _, shown in examples], ids=lambda text: text[:60]
)
def test_an_example_works_as_it_stands(tmp_path: Path, command: str) -> None:
    for sample in DATA.glob("*.tfrecord"):
        shutil.copy(sample, tmp_path)
    ran = shell(f'cd "$1"; {command}', tmp_path)
    assert ran.returncode == int(command in FINDS), ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout or ran.stderr or list(tmp_path.iterdir()) != sorted(DATA.iterdir()) or "completion" in command


def test_every_option_that_a_page_names_exists() -> None:
    known = {"--help", "--version"}
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        known |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    text = "".join(FILES[page] for page in PAGES).replace("\\-", "-")
    assert set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", text)) <= known


def test_what_roff_takes_for_a_command_is_escaped() -> None:
    assert escaped(".TH x") == "\\&.TH x"
    assert escaped("a\\b -n 'x'") == "a\\eb \\-n \\(aqx\\(aq"
    assert paragraphs("one\ntwo\n\n\b\nas  it\nstands") == [".PP", "one two", ".PP", ".nf", "as  it", "stands", ".fi"]
