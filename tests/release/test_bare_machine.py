"""On a machine that has next to nothing, and with Python set to its strictest, the answers are the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kit.make_samples import DATA
from kit.program import COMMAND, PATIENCE, environment, run, shell
from pytest import fixture, mark

from tfrtool.cli.app import COMMANDS

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"
LINES = [
    ["count", DAMAGED],
    ["head", DAMAGED],
    ["verify", DAMAGED],
    ["stat", DAMAGED],
    ["schema", DAMAGED],
    ["repair", DAMAGED, "-o", "-"],
    ["convert", SOUND, "--to", "jsonl", "-o", "-"],
]
each_line = mark.parametrize("line", LINES, ids=lambda line: line[0])


def answer(result: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
    return result.returncode, result.stdout, result.stderr


def run_in(env: dict[str, str], line: list[str | Path], *python: str) -> tuple[int, bytes, bytes]:
    """The program in just this environment, by a Python with these options."""
    program = [sys.executable, *python, *COMMAND[1:]]
    return answer(
        subprocess.run([*program, *line], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    )


@fixture(scope="module")
def usual() -> dict[str, tuple[int, bytes, bytes]]:
    return {line[0]: run_in(environment(), line) for line in LINES}


@each_line
@mark.parametrize(
    "changes",
    [
        {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
        {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
        {"HOME": "/proc/none", "TMPDIR": "/proc/none"},
        {"PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_how_python_is_set_changes_nothing(line, changes, usual) -> None:  # type: ignore[no-untyped-def]
    assert run_in(environment(**changes), line) == usual[line[0]]


@each_line
def test_no_environment_is_needed(line, usual) -> None:  # type: ignore[no-untyped-def]
    assert run_in({"PYTHONPATH": environment()["PYTHONPATH"], "LC_ALL": "C.UTF-8"}, line) == usual[line[0]]


@mark.parametrize("line", LINES[:-2], ids=lambda line: line[0])
def test_where_utf_8_cannot_be_written_a_report_is_ascii(line, usual) -> None:  # type: ignore[no-untyped-def]
    plain = environment(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    code, output, messages = run_in(plain, line)
    assert (code, messages) == (usual[line[0]][0], usual[line[0]][2])
    assert output.isascii()


@each_line
def test_few_file_descriptors_are_enough(line, usual) -> None:  # type: ignore[no-untyped-def]
    script = f'ulimit -n 16; exec {sys.executable} -m tfrtool "$@"'
    ran = subprocess.run(
        ["bash", "-c", script, "bash", *line], env=environment(), capture_output=True, timeout=PATIENCE
    )
    assert answer(ran) == usual[line[0]]


@mark.parametrize("name", ["", *COMMANDS])
def test_the_help_is_there_where_python_drops_docstrings(name: str) -> None:
    asked = [*filter(None, [name]), "--help"]
    assert run(*asked, PYTHONOPTIMIZE="2", PYTHONDONTWRITEBYTECODE="1").stdout == run(*asked).stdout


def test_when_nothing_more_can_be_imported_one_sentence_ends_the_program() -> None:
    script = (
        "import sys; from tfrtool.cli.main import main\n"
        "sys.modules['tfrtool.cli.suggestions'] = None\n"
        "sys.argv = ['tfrtool', 'verify', '--cluster', 'host', 'file']\n"
        "sys.exit(main())"
    )
    ran = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True)
    assert (ran.returncode, ran.stderr.count("\n")) == (3, 1)
    assert "details are not available" in ran.stderr


@mark.parametrize("mask", [0o077, 0o022, 0o002])
def test_an_output_has_the_rights_that_the_user_gives_new_files(tmp_path: Path, mask: int) -> None:
    script = f'umask {mask:03o}; cd "$1"; tfrtool repair "$2" -o out --report report --quarantine q'
    assert shell(script, tmp_path, DAMAGED).returncode == 1
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == dict.fromkeys(
        ("out", "report", "q"), 0o666 & ~mask
    )
