"""The real TensorFlow reads every repaired file to its end, and finds the records there that we say are.

Not part of the ordinary run: where TensorFlow is installed, `pytest -m tensorflow tests/test_repair_tensorflow.py`.
"""

from __future__ import annotations

import gzip
import os
import warnings
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from kit.damage import File, cut, drop, flip, insert, nest, spoil, ten, written_by, zero
from kit.repair_laws import EXAMPLES, LINES

import tfrtool
from tfrtool.framing.encode import header
from tfrtool.framing.layout import WRONG_WRITERS, ZEROED

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf: Any = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

FILE = ten()
DATA, AT = FILE.data, FILE.at
NESTED = File((*FILE.payloads[:3], nest(ten(2)), *FILE.payloads[3:]))
LARGE = File((b"small", Random(3).randbytes(3 << 20), b"small"))

DAMAGED = {
    "sound": DATA,
    "no records": b"",
    "a flipped length": flip(DATA, AT[3]),
    "a flipped length checksum": flip(DATA, AT[3] + 9),
    "three flipped bits in a header": flip(flip(flip(DATA, AT[3]), AT[3] + 5, 7), AT[3] + 10, 3),
    "a flipped payload": flip(DATA, AT[3] + 20),
    "a flipped data checksum": flip(DATA, AT[4] - 1),
    "a lost header": zero(DATA, AT[3], AT[3] + 12),
    "a lost start": DATA[7:],
    "a lost first record": DATA[30:],
    "a torn tail": cut(DATA, AT[9] + 30),
    "a torn header": cut(DATA, AT[9] + 5),
    "a missing block": drop(DATA, AT[3] + 20, AT[5] + 20),
    "a zeroed block": zero(DATA, AT[3] + 20, AT[5] + 20),
    "a burst": spoil(DATA, AT[3] + 20, AT[5] + 20),
    "a line between records": insert(DATA, AT[4], b"INFO: a line\n"),
    "a line in a record": insert(DATA, AT[4] + 30, b"INFO: a line\n"),
    "another file in a record": insert(DATA, AT[4] + 30, ten(7).data),
    "a resumed download": cut(DATA, AT[4] + 30) + DATA,
    "zeros behind": DATA + bytes(4096),
    "text in front": b"WARNING: a line\n" + DATA,
    "a length of 2^64": insert(DATA, AT[4], header(2**64 - 1)),
    "records in a damaged record": flip(NESTED.data, NESTED.at[3]),
    "records in a lost record": flip(flip(NESTED.data, NESTED.at[3]), NESTED.at[3] + 40),
    "a large record with a lost header": zero(LARGE.data, LARGE.at[1], LARGE.at[1] + 12),
    "CR LF": LINES.data.replace(b"\n", b"\r\n"),
    "Latin-1 as UTF-8": DATA.decode("latin-1").encode(),
    **{f"written by {layout.name}": written_by(layout, FILE.payloads) for layout in WRONG_WRITERS},
    "zero checksums": written_by(ZEROED, EXAMPLES),
    "two damages": flip(flip(DATA, AT[2] + 20), AT[6]),
}
PACKED = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
BROKEN = {
    "": lambda data: data,
    "GZIP cut": lambda data: gzip.compress(data)[: -len(data) // 3],
    "GZIP flipped": lambda data: flip(gzip.compress(data, 0), len(data) // 2),
    "GZIP one member of three": lambda data: gzip.compress(data) + flip(gzip.compress(data), 60) + gzip.compress(data),
    "ZLIB cut": lambda data: zlib.compress(data)[: -len(data) // 3],
    "ZLIB without its checksum": lambda data: zlib.compress(data)[:-4],
}


def tensorflow_reads(path: Path, codec: str) -> list[bytes]:
    """All payloads of a file; an error where TensorFlow meets one."""
    return list(tf.data.TFRecordDataset(str(path), compression_type=codec).as_numpy_iterator())


def is_read_to_its_end(here: Path, data: bytes, codec: str, **options: Any) -> None:
    (here / "in").write_bytes(data)
    report = tfrtool.repair(here / "in", here / "out", force=True, **options)
    if report.output:
        assert len(tensorflow_reads(here / "out", codec)) == report.records
    else:
        assert report.records == 0
        assert report.lost


@pytest.mark.parametrize("options", [{}, {"fix_bits": True, "keep_unverified": True}], ids=["as it is", "all there is"])
@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_repaired_file_is_read_to_its_end(data: bytes, codec: str, options: dict[str, bool], tmp_path: Path) -> None:
    is_read_to_its_end(tmp_path, PACKED[codec](data), codec, **options)


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_saved_of_a_broken_stream_is_read_to_its_end(how: str, tmp_path: Path) -> None:
    file = File(tuple(Random(n).randbytes(900) for n in range(30)))
    is_read_to_its_end(tmp_path, BROKEN[how](file.data), how.partition(" ")[0])


@pytest.mark.parametrize("codec", PACKED)
def test_a_file_that_is_packed_anew_is_read_to_its_end(codec: str, tmp_path: Path) -> None:
    for data in (DATA, DAMAGED["a torn tail"], gzip.compress(DATA), zlib.compress(DATA)):
        is_read_to_its_end(tmp_path, data, codec, compression=codec.lower() or "none")


def test_every_flip_and_every_cut_of_a_small_file_gives_one_that_is_read_to_its_end(tmp_path: Path) -> None:
    file = File((b"one", b"", b"three"))
    hurt = [harm(file.data, at) for at in range(len(file.data)) for harm in (flip, cut)]
    for number, data in enumerate(hurt):
        (tmp_path / f"{number}.in").write_bytes(data)
        tfrtool.repair(tmp_path / f"{number}.in", tmp_path / f"{number}.out")
    outputs = sorted(map(str, tmp_path.glob("*.out")))
    read = list(tf.data.TFRecordDataset(outputs).as_numpy_iterator())
    assert len(read) == sum(tfrtool.count(path).records for path in outputs)
