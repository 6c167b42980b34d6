"""Record what every command prints for the samples and for common faults: `python tests/golden/make.py`.

The texts beside this program are what a pipe, `--json` and a terminal of 80 columns get. `test_golden.py` compares.
Review the difference when you record them again: it is what users will see.
"""

from __future__ import annotations

import sys
from pathlib import Path
from struct import pack
from tempfile import TemporaryDirectory
from zlib import crc32

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from crc32c import crc32c  # noqa: E402
from kit.make_samples import example, features, flip, flower, frame, samples  # noqa: E402
from kit.program import on_terminal, run  # noqa: E402

HERE = Path(__file__).parent
COMMANDS = {
    "count": ["count"],
    "head": ["head", "-n", "1"],
    "stat": ["stat"],
    "schema": ["schema"],
    "verify": ["verify"],
    "repair": ["repair", "--dry-run"],
    "convert": ["convert", "--skip-damaged", "--to", "tfrecord", "-o", "out"],
}
_ALL = ("count", "verify", "repair")
"""The commands that are recorded for every file."""
_SOME = ("bad-length.ofrecord", "empty.tfrecord", "flowers-damaged.tfrecord", "flowers.tfrecord", "pointer.tfrecord")
FORMS = ("pipe", "json", "terminal")
_LOG = b"INFO:root:step 1200 of 5000, loss 0.3017\n"


def _unmasked(payload: bytes) -> bytes:
    """Frame a payload with checksums that are not masked, as some writers do."""
    length = pack("<Q", len(payload))
    return length + pack("<I", crc32c(length)) + payload + pack("<I", crc32c(payload))


def _gzip(data: bytes) -> bytes:
    """Pack without compression, so that every version of zlib gives the same bytes."""
    stored = b"\x01" + pack("<HH", len(data), len(data) ^ 0xFFFF) + data
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stored + pack("<II", crc32(data), len(data))


def inputs() -> dict[str, bytes]:
    """Return the files by name: the samples, then four records with one fault each, then what is no TFRecord."""
    payloads = [flower(number) for number in range(4)]
    frames = [frame(payload) for payload in payloads]
    data = b"".join(frames)
    at = [sum(map(len, frames[:number])) for number in range(5)]
    plain = [example((b"label", [number]), (b"text", [b"a line\n"])) for number in range(4)]
    named = [features([(b"name", [b"a record of OneFlow, number %d" % number])]) for number in range(5)]
    ofrecords = [pack("<q", len(payload)) + payload for payload in named]
    return {
        **samples(),
        "flipped-length.tfrecord": flip(data, at[1] + 1, 2),
        "lost-header.tfrecord": data[: at[1]] + b"\xaa" * 12 + data[at[1] + 12 :],
        "flipped-payload.tfrecord": flip(data, at[2] + 300, 5),
        "flipped-checksum.tfrecord": flip(data, at[2] - 2, 1),
        "four-bytes-missing.tfrecord": data[: at[1] + 100] + data[at[1] + 104 :],
        "torn-payload.tfrecord": data[:-200],
        "torn-header.tfrecord": data[: at[3] + 7],
        "zeros-inside.tfrecord": data[: at[2]] + bytes(512) + data[at[2] :],
        "zeros-behind.tfrecord": data[:-200] + bytes(4096),
        "log-line.tfrecord": data[: at[2]] + _LOG + data[at[2] :],
        "overwritten.tfrecord": data[: at[1] - 40] + b"\x55" * 80 + data[at[1] + 40 :],
        "unmasked.tfrecord": b"".join(map(_unmasked, payloads)),
        "line-ends.tfrecord": b"".join(map(frame, plain)).replace(b"\n", b"\r\n"),
        "cut.tfrecord.gz": _gzip(data)[:2000],
        "bad-length.ofrecord": b"".join((*ofrecords[:2], pack("<q", -5), *ofrecords[2:])),
        "pointer.tfrecord": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 11720\n",
        "empty.tfrecord": b"",
    }


def write_inputs(directory: Path) -> None:
    for name, content in inputs().items():
        (directory / name).write_bytes(content)


def recorded(command: str, form: str, directory: Path) -> str:
    """Return what a command prints for the inputs in a directory, and its exit code."""
    wanted = inputs() if command in _ALL else samples() if command == "convert" else _SOME
    names = sorted(wanted)
    line = [*COMMANDS[command], "--no-progress", *names]
    if form == "terminal":
        shown = on_terminal(*line, cwd=directory, NO_COLOR="1", LC_ALL="C.UTF-8")
        return "".join(f"{line.rstrip()}\n" for line in shown.splitlines())
    ran = run(*line, *(["--json"] if form == "json" else []), cwd=directory, LC_ALL="C.UTF-8")
    return f"{ran.stdout}--- standard error\n{ran.stderr}--- exit code {ran.returncode}\n"


def path(command: str, form: str) -> Path:
    return HERE / f"{command}.{form}.txt"


def main() -> None:
    for command in COMMANDS:
        for form in FORMS:
            with TemporaryDirectory() as directory:
                write_inputs(Path(directory))
                path(command, form).write_text(recorded(command, form, Path(directory)), encoding="utf-8")


if __name__ == "__main__":
    main()
