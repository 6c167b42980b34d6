"""Runs the real program, in a process of its own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import tfrtool

COMMAND = [sys.executable, "-m", "tfrtool"]
PATIENCE = 300
"""Seconds until a program counts as hung; more than the slowest machine under load needs."""
_DECIDES_COLOR = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "PYTHONUNBUFFERED", "PYTHONIOENCODING")


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without what would colour or size the output, and with the package under test."""
    kept = {name: value for name, value in os.environ.items() if name not in _DECIDES_COLOR}
    return kept | {"PYTHONPATH": str(Path(tfrtool.__file__).parents[1]), "TERM": "xterm"} | changes


def run(*args: str | os.PathLike[str], cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """`tfrtool ARGS`, with nothing on standard input, and its output through pipes."""
    return subprocess.run(
        [*COMMAND, *args],
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=PATIENCE,
    )


def shell(script: str, *args: str | os.PathLike[str], **env: str) -> subprocess.CompletedProcess[str]:
    """A bash script in which `tfrtool` is the program and `$1`, `$2`, … are `args`."""
    start = f'tfrtool() {{ {sys.executable} -m tfrtool "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", start + script, "bash", *args],
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def json_lines(*args: str | os.PathLike[str], cwd: Path | None = None) -> list[dict[str, Any]]:
    """The objects that `tfrtool ARGS --json` writes."""
    return [of_json(line) for line in run(*args, "--json", cwd=cwd).stdout.splitlines()]


def of_json(text: str) -> Any:
    """What JSON holds. Raises UnicodeError for half a surrogate pair, at which strict readers stop."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def on_terminal(*args: str | os.PathLike[str], columns: int = 80, cwd: Path | None = None, **env: str) -> str:
    """What a terminal of that width shows of `tfrtool ARGS`; standard error is on it too."""
    main, worker = pty.openpty()
    fcntl.ioctl(worker, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *args], cwd=cwd, env=environment(**env), stdin=worker, stdout=worker, stderr=worker
    )
    os.close(worker)
    shown = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # Linux says so when the last writer is gone
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    process.wait(PATIENCE)
    return shown.decode().replace("\r\n", "\n")
