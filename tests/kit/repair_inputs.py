"""Small inputs of `tfrtool repair` in a directory of their own, and what it says of them."""

from __future__ import annotations

import json
from pathlib import Path

from pytest import MonkeyPatch

from kit.forked import forked
from kit.make_samples import DATA, example, flip, frame

SOUND, DAMAGED = (DATA / "flowers.tfrecord").read_bytes(), (DATA / "flowers-damaged.tfrecord").read_bytes()
PAYLOADS = [example((b"number", [number])) for number in range(4)]
WHOLE = b"".join(map(frame, PAYLOADS))
FLIPPED = WHOLE + flip(frame(PAYLOADS[0]), 14)
TORN = WHOLE + frame(b"torn")[:-3]


def lay_out(place: Path, monkeypatch: MonkeyPatch) -> None:
    """Put the inputs into a directory, and go there."""
    monkeypatch.chdir(place)
    for name, data in {"sound": SOUND, "damaged": DAMAGED, "flipped": FLIPPED, "torn": TORN}.items():
        Path(name).write_bytes(data)


def file(*args: str) -> dict[str, object]:
    """The `file` object of `repair --json`."""
    (report,) = (line for line in lines("repair", *args) if line["type"] == "file")
    return report


def lines(*args: str) -> list[dict[str, object]]:
    """What a command says with `--json`."""
    return [json.loads(line) for line in forked(*args, "--json").said.splitlines() if line.startswith("{")]
