"""OFRecord parts as OneFlow's own reader reads them: in order, to the end, and by the arguments that we print.

Not part of the ordinary run. OneFlow 0.9.0 has wheels for Python 3.7 to 3.10 alone, and is driven in an interpreter of
its own, which `TFRTOOL_ONEFLOW_PYTHON` names:

    python3.10 -m venv of
    of/bin/pip install oneflow==0.9.0 nvidia-cudnn-cu11==8.5.0.96 nvidia-cublas-cu11==11.11.3.6 numpy==1.26.4
    TFRTOOL_ONEFLOW_PYTHON=of/bin/python pytest -m oneflow
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit.messages import example, ofrecord
from kit.oneflow import PYTHON, libraries

from tfrtool import convert
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.verbs.convert.shards import oneflow_arguments

pytestmark = pytest.mark.oneflow

READER = """
import json, sys
import oneflow as flow

job = json.loads(sys.argv[1])
reader = flow.nn.OFRecordReader(
    job["directory"], batch_size=1, random_shuffle=False, shuffle_after_epoch=False, **job["arguments"]
)
decoders = {
    name: flow.nn.OFRecordRawDecoder(name, shape=(count,), dtype=getattr(flow, kind))
    for name, (kind, count) in job["features"].items()
}
for _ in range(job["records"]):
    record = reader()
    print(json.dumps({name: decoder(record).numpy()[0].tolist() for name, decoder in decoders.items()}))
"""
ROWS = 11


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(parts: list[str], **features: tuple[str, int]) -> list[dict[str, list[Any]]]:
    """What OneFlow reads of a set of parts and of the record behind the last, which is the first again."""
    assert PYTHON is not None
    arguments = oneflow_arguments(parts)
    assert arguments is not None
    job = {
        "directory": os.path.dirname(parts[0]),
        "arguments": arguments,
        "features": features,
        "records": ROWS + 1,
    }
    environment = os.environ | {"LD_LIBRARY_PATH": libraries(PYTHON)}
    environment.pop("PYTHONPATH", None)
    command = [PYTHON, "-c", READER, json.dumps(job)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def around(rows: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """The rows, and the first once more: the reader goes round, and lost its way nowhere."""
    return [*rows, rows[0]]


def an_example(n: int) -> bytes:
    return example({
        "label": ("int64_list", [n - 2**40]),
        "weights": ("float_list", [n / 2, -0.0, 1e-45]),
        "image": ("bytes_list", [bytes([n, 0, 255, n])]),
    })  # fmt: skip


@pytest.mark.parametrize("how", [{"shards": 1}, {"shards": 4}, {"records_per_shard": 3}, {"shard_size": 200}], ids=str)
def test_oneflow_reads_the_parts_of_examples_to_the_end(how: dict[str, Any]) -> None:
    Path("tf").write_bytes(b"".join(frame(an_example(n)) for n in range(ROWS)))
    parts = convert("tf", "parts", to="ofrecord", **how).outputs
    expected = [
        {"label": [n - 2**40], "weights": [n / 2, -0.0, 1.401298464324817e-45], "image": [n, 0, 255, n]}
        for n in range(ROWS)
    ]
    assert read(parts, label=("int64", 1), weights=("float32", 3), image=("uint8", 4)) == around(expected)


@pytest.mark.parametrize("integers", ["int32", "auto"])
def test_oneflow_reads_labels_that_were_asked_for_as_int32(integers: Any) -> None:
    Path("tf").write_bytes(b"".join(frame(example({"label": ("int64_list", [-n])})) for n in range(ROWS)))
    parts = convert("tf", "parts", to="ofrecord", shards=2, int=integers).outputs
    assert read(parts, label=("int32", 1)) == around([{"label": [-n]} for n in range(ROWS)])


def test_oneflow_reads_what_came_back_from_tfrecord_by_its_schema() -> None:
    rows = [{"n": ("int32_list", [n, -n]), "d": ("double_list", [n / 4])} for n in range(ROWS)]
    Path("of").write_bytes(b"".join(ofrecord_frame(ofrecord(row)) for row in rows))
    convert("of", "tf", to="tfrecord", schema_out="kinds")
    parts = convert("tf", "parts", to="ofrecord", schema="kinds", shards=3).outputs
    assert b"".join(Path(part).read_bytes() for part in parts) == Path("of").read_bytes()
    expected = [{"n": [n, -n], "d": [n / 4]} for n in range(ROWS)]
    assert read(parts, n=("int32", 2), d=("float64", 1)) == around(expected)
