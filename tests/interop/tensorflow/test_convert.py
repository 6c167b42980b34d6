"""Conversion held against the real TensorFlow: what it wrote comes back, and what we write it reads in full.

Not part of the ordinary run; where TensorFlow is installed, that is
`pytest -m tensorflow tests/test_real_tensorflow_convert.py`.
"""

from __future__ import annotations

import os
import struct
import warnings
from pathlib import Path
from typing import Any

import pytest
from kit.messages import BYTES, FLOATS, OF_INT32S, OF_INT64S, entry, numbers, ofrecord, sized, tag, varint

from tfrtool import convert
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.mapping.mapper import Mapper
from tfrtool.payload.mapping.rules import Rules

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf: Any = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

INFINITY = float("inf")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def an_example(n: int) -> bytes:
    train = tf.train
    features = {
        "label": train.Feature(int64_list=train.Int64List(value=[n, -(2**63), 2**63 - 1])),
        "image": train.Feature(bytes_list=train.BytesList(value=[bytes(range(256)) * n, b""])),
        "weights": train.Feature(float_list=train.FloatList(value=[0.1 * n, INFINITY, -0.0, float("nan")])),
        "empty": train.Feature(int64_list=train.Int64List()),
        "nothing": train.Feature(),
        "naïve": train.Feature(float_list=train.FloatList(value=[1e-45])),
    }
    return train.Example(features=train.Features(feature=features)).SerializeToString()


def parsed(path: str, kinds: dict[str, Any], codec: str = "") -> list[dict[str, list[Any]]]:
    """What TensorFlow reads of lists of any length."""
    found = []
    for payload in tf.data.TFRecordDataset(path, compression_type=codec):
        record = tf.io.parse_single_example(payload, {name: tf.io.VarLenFeature(kind) for name, kind in kinds.items()})
        found.append({name: record[name].values.numpy().tolist() for name in kinds})
    return found


@pytest.mark.parametrize("codec", ["", "GZIP", "ZLIB"])
def test_a_file_of_tensorflow_comes_back_from_ofrecord_byte_for_byte(codec: str) -> None:
    with tf.io.TFRecordWriter("in", options=codec) as writer:
        for n in range(20):
            writer.write(an_example(n))
    plain = convert("in", "plain", compress="none").outputs[0]
    parts = convert("in", "parts", to="ofrecord", shards=3).outputs
    convert(parts, "back", to="tfrecord")
    assert Path("back").read_bytes() == Path(plain).read_bytes()


def test_tensorflow_reads_what_was_int32_and_double() -> None:
    rows = [{"n": ("int32_list", [n, -n]), "d": ("double_list", [n / 4])} for n in range(5)]
    Path("of").write_bytes(b"".join(ofrecord_frame(ofrecord(row)) for row in rows))
    convert("of", "out", to="tfrecord", compress="gzip")
    expected = [{"n": [n, -n], "d": [n / 4]} for n in range(5)]
    assert parsed("out", {"n": tf.int64, "d": tf.float32}, "GZIP") == expected


HALF = struct.pack("<f", 0.5)


@pytest.mark.parametrize(
    ("feature", "kind", "values"),
    [
        ((sized(OF_INT64S, sized(1, b"\1"), sized(1, b"\2\3")),), "int64", [1, 2, 3]),
        ((sized(OF_INT64S, sized(1, b"\1"), tag(1, 0) + b"\2"),), "int64", [1, 2]),
        ((sized(OF_INT64S, tag(1, 0) + b"\1", tag(1, 0) + b"\2"),), "int64", [1, 2]),
        ((numbers(OF_INT64S, 1), numbers(OF_INT64S, 2)), "int64", [1, 2]),
        ((numbers(OF_INT64S, 1), sized(BYTES, sized(1, b"x"))), "string", [b"x"]),
        ((sized(FLOATS, sized(1, HALF), sized(1, HALF)),), "float32", [0.5, 0.5]),
        ((sized(FLOATS, sized(1, HALF), tag(1, 5) + HALF),), "float32", [0.5, 0.5]),
        ((sized(BYTES, sized(1, b"x")), sized(BYTES, sized(1, b"y"))), "string", [b"x", b"y"]),
        ((sized(OF_INT32S, sized(1, varint(2**32 - 1), varint(5, 10))),), "int64", [-1, 5]),
    ],
)  # fmt: skip
def test_tensorflow_reads_all_values_however_they_were_written(
    feature: tuple[bytes, ...], kind: str, values: list[Any]
) -> None:
    pieces = Mapper("ofrecord", "example", Rules()).convert(entry(b"x", *feature), 0)
    Path("out").write_bytes(frame(b"".join(pieces or ())))
    assert parsed("out", {"x": getattr(tf, kind)}) == [{"x": values}]


def test_tensorflow_reads_shards_in_their_order() -> None:
    Path("of").write_bytes(b"".join(ofrecord_frame(ofrecord({"n": ("int64_list", [n])})) for n in range(11)))
    outputs = convert("of", "out", to="tfrecord", shards=4).outputs
    assert [row["n"] for name in outputs for row in parsed(name, {"n": tf.int64})] == [[n] for n in range(11)]
