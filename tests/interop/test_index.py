"""The indexes that are written, with those who read them; and what is measured, with TensorFlow.

What NVIDIA DALI does with an index is done here by hand, for where it is not installed: it reads `size` bytes at
`offset`, takes the payload's length from the first eight of them, and what follows the header for the payload.
DALI itself reads in `test_schema_dali`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest
from kit.damage import File, cut
from kit.messages import example
from kit.program import environment

import tfrtool
from tfrtool.report import FileReport
from tfrtool.verbs.options import Options
from tfrtool.verbs.verify import verify_file

PAYLOADS = tuple(
    example({"label": ("int64_list", [n]), "data": ("bytes_list", [Random(n).randbytes(n * 37)])}) for n in range(40)
)
DATA = File(PAYLOADS).data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.tfrecord"
    path.write_bytes(DATA)
    tfrtool.stat(path, index=tmp_path / "train.idx")
    return path


def lines(index: Path) -> list[tuple[int, int]]:
    return [(int(offset), int(size)) for offset, size in map(str.split, index.read_text().splitlines())]


def test_every_line_leads_to_a_payload_as_dali_takes_it(path: Path) -> None:
    found = []
    for offset, size in lines(path.with_suffix(".idx")):
        frame = DATA[offset : offset + size]
        length = int.from_bytes(frame[:8], "little")
        assert size == length + 16
        found.append(frame[12 : 12 + length])
    assert tuple(found) == PAYLOADS


def apart(script: str, *args: str | Path) -> str:
    """What a script prints in a process of its own: tfrecord and TensorFlow cannot be imported by one."""
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, args)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout


READ = """
import sys
from tfrecord.reader import tfrecord_iterator
data, index, parts = sys.argv[1], sys.argv[2], int(sys.argv[3])
for part in range(parts):
    for payload in tfrecord_iterator(data, index, (part, parts)):
        print(bytes(payload).hex())
"""


@pytest.mark.tfrecord
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_tfrecord_reads_all_records_by_the_index_in_any_split(path: Path, parts: int) -> None:
    read = apart(READ, path, path.with_suffix(".idx"), str(parts)).splitlines()
    assert tuple(map(bytes.fromhex, read)) == PAYLOADS


@pytest.mark.tfrecord
def test_the_index_is_that_of_tfrecords_own_tool_and_a_torn_one_is_found_out(path: Path, tmp_path: Path) -> None:
    make = "import sys; from tfrecord.tools.tfrecord2idx import create_index; create_index(*sys.argv[1:])"
    apart(make, path, tmp_path / "theirs.idx")
    assert (tmp_path / "theirs.idx").read_bytes() == path.with_suffix(".idx").read_bytes()
    path.write_bytes(cut(DATA, len(DATA) - 30))
    apart(make, path, tmp_path / "torn.idx")
    *_, report = verify_file(str(path), Options(index=str(tmp_path / "torn.idx")))
    assert isinstance(report, FileReport) and report.index_faults == 1


@pytest.mark.consumer("nvidia.dali")
def test_the_index_is_that_of_dalis_own_script_and_a_torn_one_is_found_out(path: Path, tmp_path: Path) -> None:
    script = Path(sysconfig.get_path("scripts"), "tfrecord2idx")

    def index() -> bytes:
        command = [sys.executable, "-W", "ignore", script, path, tmp_path / "theirs.idx"]
        subprocess.run(command, env=environment(), capture_output=True, check=True)
        return (tmp_path / "theirs.idx").read_bytes()

    assert index() == path.with_suffix(".idx").read_bytes()
    path.write_bytes(cut(DATA, len(DATA) - 30))
    assert len(index().splitlines()) == len(PAYLOADS)
    *_, report = verify_file(str(path), Options(index=str(tmp_path / "theirs.idx")))
    assert isinstance(report, FileReport) and report.index_faults == 1


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("codec", ["", "GZIP", "ZLIB"])
def test_sizes_are_those_of_the_payloads_that_tensorflow_reads(tmp_path: Path, codec: str) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import numpy as np
        import tensorflow as tf
    name = str(tmp_path / "written")
    with tf.io.TFRecordWriter(name, options=codec) as writer:
        for payload in PAYLOADS:
            writer.write(payload)
    seen: Any = np.array([len(one) for one in tf.data.TFRecordDataset(name, codec).as_numpy_iterator()])
    sizes = tfrtool.stat(name).sizes
    ranks = np.percentile(seen, [50, 95, 99], method="inverted_cdf")
    assert (sizes.min, sizes.max, sizes.mean) == (seen.min(), seen.max(), pytest.approx(seen.mean()))
    assert [sizes.p50, sizes.p95, sizes.p99] == list(ranks)
