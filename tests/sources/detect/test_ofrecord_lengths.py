"""OFRecord files whose first length reads as the magic number of another format, and those formats themselves."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from kit.messages import ofrecord
from kit.program import run
from kit.verbs import counted

from tfrtool import convert
from tfrtool.cli.suggestions import advice
from tfrtool.framing.encode import ofrecord_frame
from tfrtool.sources.detect.signatures import compression_of

GZIP = 0x088B1F
"""As the first length of an OFRecord file, the first bytes of gzip data: an image of 560 kB."""
SECOND = ofrecord_frame(ofrecord({"label": ("int64_list", [1])}))


def sized(size: int) -> bytes:
    """A framed OFRecord whose payload has so many bytes."""
    left = size
    while True:
        payload = ofrecord({"image": ("bytes_list", [b"\xff" * left])})
        if len(payload) == size:
            return ofrecord_frame(payload)
        left -= len(payload) - size


@pytest.mark.parametrize("size", [GZIP, GZIP | 1 << 24, int.from_bytes(b"Obj\x01", "little")])
@pytest.mark.parametrize("compression", ["auto", "none"])
def test_a_length_that_looks_like_a_signature_is_ofrecord(tmp_path: Path, size: int, compression: str) -> None:
    report = counted(tmp_path / "part", sized(size) + SECOND, compression=compression)
    assert (report.status, report.format, report.records) == ("clean", "ofrecord", 2)


def test_so_is_one_of_a_single_record_and_to_every_command(tmp_path: Path) -> None:
    part = tmp_path / "part"
    assert counted(part, sized(GZIP)).format == "ofrecord"
    assert convert(part, tmp_path / "out", to="tfrecord").written == 1
    assert run("verify", part).returncode == 0
    report = counted(part, sized(GZIP), format="tfrecord")
    assert (report.status, report.diagnosis) == ("foreign", "ofrecord")


def test_a_damaged_one_gets_the_format_option_suggested(tmp_path: Path) -> None:
    report = counted(tmp_path / "part", sized(GZIP)[:-1])
    assert (report.status, report.diagnosis) == ("foreign", "gzip")
    assert "--format ofrecord to read it as an OFRecord file" in str(advice(report))


@pytest.mark.parametrize("level", range(10))
@pytest.mark.parametrize("extra", range(11))
def test_gzip_data_is_never_ofrecord(level: int, extra: int) -> None:
    data = bytearray(gzip.compress(sized(1000) + SECOND * 50, level, mtime=0))
    data[8], data[9] = extra, 0x0A
    assert compression_of(bytes(data), is_record_header=False) == "gzip"
    assert compression_of(bytes(data[:40]), is_record_header=False) == "gzip"


def test_gzip_like_an_ofrecord_is_decided_by_checksum() -> None:
    data = bytearray(gzip.compress(b"ten bytes.", 0, mtime=0))
    data[8] = data[11] == 0x0A and 0x0A  # the tag of an entry, and behind its size that of a name
    assert compression_of(bytes(data), is_record_header=False) == "gzip"
    data[-8] ^= 1
    assert compression_of(bytes(data), is_record_header=False) == "none"
