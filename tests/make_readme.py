"""Writes what the commands in the README show into it: `python tests/make_readme.py`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from program import on_terminal

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ tfrtool (.*)$", re.MULTILINE)


def commands(text: str) -> list[str]:
    """The command lines that the console blocks show, without the name of the program."""
    return [command for block in _BLOCK.findall(text) for command in _COMMAND.findall(block)]


def session(command: str) -> str:
    """A command and what a terminal of 80 columns without colour shows of it, without blanks at the ends of lines."""
    lines = on_terminal(*shlex.split(command), cwd=ROOT, NO_COLOR="1").strip().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in (f"$ tfrtool {command}", *lines))


def rendered(text: str) -> str:
    """The README with its console blocks as they must be."""
    return _BLOCK.sub(lambda block: "\n".join(map(session, _COMMAND.findall(block[0]))), text)


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
