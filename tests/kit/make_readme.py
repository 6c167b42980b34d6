"""Writes what the commands in the README show into it, and its picture: `python tests/kit/make_readme.py`.

A package index shows no picture of ours, so it gets a README of its own, in which the text stands in its place.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from kit.make_picture import picture
from kit.program import on_terminal

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ tfrtool (.*)$", re.MULTILINE)
_IMAGE = re.compile(r"^!\[.*?\]\((.*?)\)$", re.MULTILINE)
PICTURES = {".github/verify.svg": "verify tests/data/flowers-damaged.tfrecord"}
"""The pictures of the README, and the commands that they show."""


def commands(text: str) -> list[str]:
    """The command lines that the console blocks and the pictures show, without the name of the program."""
    shown = [command for block in _BLOCK.findall(text) for command in _COMMAND.findall(block)]
    return shown + [PICTURES[path] for path in _IMAGE.findall(text)]


def session(command: str) -> str:
    """A command and what a terminal of 80 columns without colour shows of it, without blanks at the ends of lines."""
    lines = on_terminal(*shlex.split(command), cwd=ROOT, NO_COLOR="1").strip().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in (f"$ tfrtool {command}", *lines))


def rendered(text: str) -> str:
    """The README with its console blocks as they must be."""
    return _BLOCK.sub(lambda block: "\n".join(map(session, _COMMAND.findall(block[0]))), text)


def made(text: str) -> dict[str, str]:
    """The texts of all files that are made, by their paths: the README, its pictures, and that of the package index."""
    text = rendered(text)
    words = _IMAGE.sub(lambda image: f"```console\n{session(PICTURES[image[1]])}```", text)
    pictures = {path: picture(command, ROOT) for path, command in PICTURES.items()}
    return {README.name: text, ".github/pypi.md": words} | pictures


if __name__ == "__main__":
    for path, content in made(README.read_text(encoding="utf-8")).items():
        (ROOT / path).write_text(content, encoding="utf-8")
