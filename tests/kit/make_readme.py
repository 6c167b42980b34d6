"""Write what the commands in the README show into it: `python tests/kit/make_readme.py`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]

from kit.program import on_terminal  # noqa: E402

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ tfrtool (.*)$", re.MULTILINE)


def commands(text: str) -> list[str]:
    """Return the command lines of the console blocks, without the name of the program."""
    return [command for block in _BLOCK.findall(text) for command in _COMMAND.findall(block)]


def session(command: str) -> str:
    """Return a command and what a terminal of 80 columns without colour shows, trailing blanks removed."""
    lines = on_terminal(*shlex.split(command), cwd=ROOT, NO_COLOR="1").strip().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in (f"$ tfrtool {command}", *lines))


def rendered(text: str) -> str:
    """Return the README with its console blocks as they must be."""
    return _BLOCK.sub(lambda block: "\n".join(map(session, _COMMAND.findall(block[0]))), text)


if __name__ == "__main__":
    README.write_text(rendered(README.read_text(encoding="utf-8")), encoding="utf-8")
