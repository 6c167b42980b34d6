"""What the disk spoils between writing and publishing is found: every output is read back whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from io import BufferedWriter
from pathlib import Path

from kit.messages import ordered
from pytest import MonkeyPatch, fixture, mark, param, raises

from tfrtool import WriteError, convert
from tfrtool.framing.encode import frame
from tfrtool.sources.sinks.atomic import Output
from tfrtool.verbs.convert import outputs as convert_check
from tfrtool.verbs.convert import outputs as convert_out

PAYLOADS = [ordered({"n": ("int64_list", [n]), "t": ("bytes_list", [b"some text"])}) for n in range(50)]
TF = b"".join(map(frame, PAYLOADS))

parquet = param("parquet", marks=[mark.parquet, mark.skipif(find_spec("pyarrow") is None, reason="no pyarrow")])
every_format = mark.parametrize("to", ["tfrecord", "ofrecord", "jsonl", parquet])


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tf").write_bytes(TF)


@fixture
def spoils(monkeypatch: MonkeyPatch) -> Callable[[Callable[[int], object]], None]:
    """Lets something be done to the descriptor of each file once all of it is written."""

    def spoil(what: Callable[[int], object]) -> None:
        monkeypatch.setattr(Output, "flush", lambda out: (BufferedWriter.flush(out), what(out.fileno())))

    return spoil


def nothing_is_made(to: str, **how: object) -> None:
    with raises(WriteError, match="did not read back|could not be read back"):
        convert("tf", "out", to=to, **how)
    assert os.listdir() == ["tf"]


@every_format
@mark.parametrize("at", [12, 70, 400])
def test_changed_byte_in_output_is_found(to: str, at: int, spoils: Callable[[Callable[[int], object]], None]) -> None:
    spoils(lambda fd: os.pwrite(fd, b"\x7e", at))
    nothing_is_made(to)


@every_format
@mark.parametrize("size", [0, 40, len(frame(PAYLOADS[0])) * 7])
def test_truncated_output_is_found(to: str, size: int, spoils: Callable[[Callable[[int], object]], None]) -> None:
    spoils(lambda fd: os.ftruncate(fd, size))
    nothing_is_made(to)


@mark.parametrize("to", ["tfrecord", "ofrecord", "jsonl"])
@mark.parametrize("codec", ["gzip", "zlib"])
def test_compressed_output_is_read_back(to: str, codec: str, spoils: Callable[[Callable[[int], object]], None]) -> None:
    spoils(lambda fd: os.pwrite(fd, b"\x7e\x7e", 100))
    nothing_is_made(to, compress=codec)


def test_ofrecords_that_may_be_empty_are_compared_too(spoils: Callable[[Callable[[int], object]], None]) -> None:
    spoils(lambda fd: os.pwrite(fd, b"\x7e", 100))
    nothing_is_made("ofrecord", empty="keep")


@every_format
def test_each_shard_is_read_back_before_the_next_is_written(to: str, monkeypatch: MonkeyPatch) -> None:
    order: list[str] = []
    check, opened = convert_check.ReadBack.check, convert_out.Outputs.next
    monkeypatch.setattr(convert_check.ReadBack, "check", lambda *args: (order.append(f"{args[2]}"), check(*args)))
    monkeypatch.setattr(convert_out.Outputs, "next", lambda self: (opened(self), order.append("open"))[0])
    convert("tf", "out/" if to == "ofrecord" else "out", to=to, records_per_shard=20)
    assert order == ["open", "20", "open", "20", "open", "10"]


@every_format
def test_wrong_record_count_in_output_is_found(to: str, monkeypatch: MonkeyPatch) -> None:
    check = convert_check.ReadBack.check
    monkeypatch.setattr(convert_check.ReadBack, "check", lambda back, name, count: check(back, name, count + 1))
    with raises(WriteError, match="of 51 records|has 50 rows instead of 51"):
        convert("tf", "out", to=to)
    assert os.listdir() == ["tf"]
