"""What the tests of the jobs share: small files of Examples and of OFRecords, and asking the jobs about bytes."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from pytest import MonkeyPatch

from kit.damage import File
from kit.messages import example, ofrecord
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import ofrecord_frame
from tfrtool.report import FileReport
from tfrtool.verbs.count import count_file
from tfrtool.verbs.options import Options
from tfrtool.verbs.verify import verify_file

EXAMPLES = File(
    tuple(
        example({"label": ("int64_list", [n]), "image": ("bytes_list", [bytes(range(256)) + Random(n).randbytes(200)])})
        for n in range(6)
    )
)
DATA, AT = EXAMPLES.data, EXAMPLES.at

OFRECORDS = [
    ofrecord({"label": ("int32_list", [n]), "name": ("bytes_list", [b"part %d" % n * (n + 1)])}) for n in range(6)
]
OF_DATA = b"".join(map(ofrecord_frame, OFRECORDS))


def verified(path: Path, content: bytes | None = None, **how: object) -> tuple[list[Damage], FileReport]:
    """What verify says of a file, which is written first where `content` is given."""
    if content is not None:
        path.write_bytes(content)
    *damage, report = verify_file(str(path), Options(**how))  # type: ignore[arg-type]
    assert isinstance(report, FileReport)
    assert all(isinstance(one, Damage) for one in damage)
    return damage, report  # type: ignore[return-value]


def counted(path: Path, content: bytes | None = None, **how: object) -> FileReport:
    """What count says of it."""
    if content is not None:
        path.write_bytes(content)
    return count_file(str(path), Options(**how))  # type: ignore[arg-type]


def ranges(damage: list[Damage]) -> list[tuple[int, int, str]]:
    return [(one.begin, one.end, one.fault) for one in damage]


def bytes_read(monkeypatch: MonkeyPatch) -> list[int]:
    """The size of every read of a file from now on; the list grows as files are read."""
    sizes: list[int] = []
    preadv = os.preadv

    def counting(fd: int, buffers: object, offset: int) -> int:
        sizes.append(preadv(fd, buffers, offset))  # type: ignore[arg-type]
        return sizes[-1]

    monkeypatch.setattr(os, "preadv", counting)
    return sizes
