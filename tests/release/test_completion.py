"""Completion, in the real shells where they are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.program import PATIENCE, environment, run

from tfrtool.cli.app import COMMANDS
from tfrtool.cli.commands.completion import SCRIPTS, script


def answer(shell: str, *words: str) -> list[str]:
    """What the program tells a script that asks for the completions of the last word."""
    line = " ".join(("tfrtool", *words))
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_TFRTOOL_COMPLETE": f"{shell}_complete"}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    result = run(**asked)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_printed_and_nothing_else(shell: str) -> None:
    result = run("completion", shell)
    assert (result.returncode, result.stdout, result.stderr) == (0, script(shell), "")


def test_without_a_shell_it_says_which_there_are() -> None:
    result = run("completion")
    assert result.returncode == 2
    assert result.stderr.endswith("Choose from:\n  bash,\n  zsh,\n  fish\n")


def test_a_shell_that_is_not_known_is_wrong_usage() -> None:
    result = run("completion", "tcsh")
    assert result.returncode == 2
    assert "'bash', 'zsh', 'fish'" in result.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], {f"plain,{name}" for name in COMMANDS}),
        (["ver"], {"plain,verify"}),
        (["verify", "--qu"], {"plain,--quick", "plain,--quiet"}),
        (["verify", "--format", "t"], {"plain,tfrecord"}),
        (["repair", "--keep", ""], {"plain,all", "plain,before", "plain,after"}),
        (["verify", "da"], {"file,da"}),
        (["repair", "-o", "da"], {"file,da"}),
        (["completion", ""], {"plain,bash", "plain,zsh", "plain,fish"}),
    ],
)
def test_commands_options_choices_and_files_are_completed(words: list[str], found: set[str]) -> None:
    assert set(answer("bash", *words)) == found


BASH = """
source "$1"; COMP_WORDS=(tfrtool {words}); COMP_CWORD={last}
COMPREPLY=(); _tfrtool_completion tfrtool; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
autoload -Uz compinit; compinit -u -D
source "$1"; [[ -n ${{_comps[tfrtool]}} ]] || exit 3
compadd() {{ local -a all; all=("${{@[-1]}}"); print -r -- "$@" ${{(P)${{@[-1]}}}} }}
_describe() {{ print -r -- "${{(P@)${{@[-1]}}}}" ${{(P@)3}} }}
words=(tfrtool {words}); CURRENT={last}+1; _tfrtool_completion
"""
FISH = "source $argv[1]; complete --do-complete 'tfrtool {words}'"


def program(folder: Path) -> dict[str, str]:
    """An environment in which `tfrtool` is the program under test."""
    folder.mkdir()
    (folder / "tfrtool").write_text(f'#!/bin/sh\nexec {sys.executable} -m tfrtool "$@"\n')
    (folder / "tfrtool").chmod(0o755)
    env = environment()
    return env | {"PATH": f"{folder}:{env['PATH']}", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


@pytest.fixture
def complete(tmp_path: Path) -> Callable[..., str]:
    def ask(shell: str, start: list[str], template: str, *words: str) -> str:
        path = tmp_path / "script"
        path.write_text(script(shell))
        asked = template.format(words=" ".join(word or "''" for word in words), last=len(words))
        result = subprocess.run(
            [*start, asked, *(["x"] if shell != "fish" else []), path],
            env=program(tmp_path / "bin"),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert result.returncode == 0, result.stderr
        assert "command not found" not in result.stderr
        return result.stdout

    return ask


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(complete: Callable[..., str]) -> None:
    start = ["bash", "--norc", "-c"]
    assert complete("bash", start, BASH, "rep").split() == ["repair"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_completes(complete: Callable[..., str]) -> None:
    start = ["zsh", "-f", "-c"]
    assert "repair" in complete("zsh", start, ZSH, "rep")


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish_completes(complete: Callable[..., str]) -> None:
    start = ["fish", "--no-config", "-c"]
    assert complete("fish", start, FISH, "rep").split()[0] == "repair"
