"""Held against the real TensorFlow: what it writes, we read; what we write, it reads; where it stops, we say so.

Not part of the ordinary run: where TensorFlow is installed, `pytest -m tensorflow tests/test_real_tensorflow.py`.
"""

from __future__ import annotations

import gzip
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from kit.damage import File, cut, drop, flip, insert, spoil, ten, zero

import tfrtool
from tfrtool.framing.encode import header

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf: Any = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.tensorflow, pytest.mark.filterwarnings("ignore")]

FILE = ten()
DATA, AT = FILE.data, FILE.at
PAYLOADS = [*FILE.payloads, b"", Random(1).randbytes(700_000), b"\n" * 40]
CODECS = pytest.mark.parametrize("codec", ["", "GZIP", "ZLIB"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


def tensorflow_reads(path: Path, codec: str = "") -> tuple[list[bytes], str | None]:
    """The payloads that TensorFlow gives, and what it says where it stops."""
    payloads: list[bytes] = []
    try:
        for payload in tf.data.TFRecordDataset(str(path), compression_type=codec).as_numpy_iterator():
            payloads.append(payload)
    except tf.errors.OpError as error:
        return payloads, str(error)
    return payloads, None


def tensorflow_writes(path: Path, payloads: list[bytes], codec: str = "") -> None:
    with tf.io.TFRecordWriter(str(path), options=codec) as writer:
        for payload in payloads:
            writer.write(payload)


def features(number: int) -> dict[str, Any]:
    train = tf.train
    return {
        "label": train.Feature(int64_list=train.Int64List(value=[number, -1])),
        "image": train.Feature(bytes_list=train.BytesList(value=[bytes(300)])),
        "weights": train.Feature(float_list=train.FloatList(value=[0.5, float(number)])),
        "nothing": train.Feature(),
    }


# What it writes, we read


@CODECS
def test_files_of_tensorflow_are_read_to_the_byte(path: Path, codec: str) -> None:
    tensorflow_writes(path, PAYLOADS, codec)
    assert list(tfrtool.records(path)) == PAYLOADS
    report = tfrtool.verify(path)
    assert (report.status, report.compression, report.records) == ("clean", codec.lower() or "none", len(PAYLOADS))
    assert tfrtool.count(path).records == len(PAYLOADS)


def test_our_encoder_writes_what_tensorflow_writes(path: Path) -> None:
    tensorflow_writes(path, PAYLOADS)
    assert path.read_bytes() == File(tuple(PAYLOADS)).data


@CODECS
def test_examples_of_tensorflow_are_of_that_kind_and_fit(path: Path, codec: str) -> None:
    made = [tf.train.Example(features=tf.train.Features(feature=features(n))).SerializeToString() for n in range(20)]
    tensorflow_writes(path, made, codec)
    report = tfrtool.verify(path, payload=True)
    assert (report.status, report.kind, report.records) == ("clean", "example", 20)


def test_sequence_examples_of_tensorflow_are_of_that_kind_and_fit(path: Path) -> None:
    steps = tf.train.FeatureList(feature=[features(n)["label"] for n in range(3)])
    made = tf.train.SequenceExample(
        context=tf.train.Features(feature=features(1)),
        feature_lists=tf.train.FeatureLists(feature_list={"steps": steps}),
    )
    tensorflow_writes(path, [made.SerializeToString()] * 4)
    report = tfrtool.verify(path, payload=True)
    assert (report.status, report.kind, report.records) == ("clean", "sequence_example", 4)


def by_summary_writer(folder: Path) -> None:
    writer = tf.summary.create_file_writer(str(folder))
    with writer.as_default():
        for step in range(5):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
            tf.summary.histogram("weights", [0.0, 1.0, float(step)], step=step)
        tf.summary.text("note", "all is well", step=5)
        tf.summary.image("picture", tf.zeros((1, 4, 4, 3)), step=5)
    writer.close()


def by_the_old_writer(folder: Path) -> None:
    with tf.Graph().as_default():
        writer = tf.compat.v1.summary.FileWriter(str(folder), graph=tf.compat.v1.get_default_graph())
        writer.add_summary(tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)]), 3)
        writer.close()


def by_tensorboard(folder: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step in range(4):
        summary = Summary(value=[Summary.Value(tag="loss", simple_value=0.5)])
        writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=summary))
    writer.close()


@pytest.mark.parametrize("write", [by_summary_writer, by_the_old_writer, by_tensorboard])
def test_events_files_are_of_that_kind_and_fit(tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    (path,) = tmp_path.glob("events.out.tfevents.*")
    report = tfrtool.verify(path, payload=True)
    assert (report.status, report.kind, report.damage) == ("clean", "event", [])
    assert report.records >= 2


# What we write, it reads


@CODECS
def test_tensorflow_reads_what_we_write(path: Path, codec: str) -> None:
    with tfrtool.RecordWriter(path, compression=codec) as writer:  # type: ignore[arg-type]
        for payload in PAYLOADS:
            writer.write(payload)
    assert tensorflow_reads(path, codec) == (PAYLOADS, None)


# Where it stops, we say so

DAMAGES: dict[str, bytes] = {
    "a torn length": cut(DATA, AT[9] + 3),
    "a torn header": cut(DATA, AT[9] + 11),
    "a header alone": cut(DATA, AT[9] + 12),
    "a torn payload": cut(DATA, AT[9] + 40),
    "a missing footer": cut(DATA, AT[10] - 4),
    "a torn footer": cut(DATA, AT[10] - 1),
    "a flip in the first length": flip(DATA, 0),
    "a flip in a length": flip(DATA, AT[4] + 2),
    "a flip in the checksum of a length": flip(DATA, AT[4] + 9),
    "a flip in a payload": flip(DATA, AT[4] + 20),
    "a flip in the checksum of a payload": flip(DATA, AT[5] - 1),
    "a lost header": spoil(DATA, AT[4], AT[4] + 12),
    "a hole over a record": zero(DATA, AT[4], AT[5]),
    "a hole over a part of a record": zero(DATA, AT[4] + 20, AT[5] + 5),
    "a few zeros behind": DATA + bytes(11),
    "zeros behind": DATA + bytes(4096),
    "zeros alone": bytes(4096),
    "text between": insert(DATA, AT[4], b"INFO: a line\n"),
    "text inside": insert(DATA, AT[4] + 30, b"INFO: a line\n"),
    "bytes missing from a header": drop(DATA, AT[4], AT[4] + 4),
    "bytes missing from a payload": drop(DATA, AT[4] + 20, AT[4] + 30),
    "bytes missing from the last payload": drop(DATA, AT[9] + 20, AT[9] + 30),
    "a record that claims more than is left": insert(DATA, AT[4], header(10_000)),
    "a record that claims a little": insert(DATA, AT[4], header(30)),
    "a record that claims too much for memory": DATA + header(2**64 - 1),
    "a record that claims too much, with records behind": insert(DATA, AT[4], header(2**64 - 1)),
    "two damages": flip(flip(DATA, AT[2] + 20), AT[6]),
}


def told(damage: Iterator[Any]) -> str | None:
    """What the first damage says that TensorFlow says; None for a clean end."""
    message = next(damage).message
    assert "TensorFlow" in message
    said = re.search(r"TensorFlow stops here with '(.+?)'\)", message)
    return said[1] if said else None


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_tensorflow_stops_where_we_say_it_does_and_with_those_words(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    payloads, stopped = tensorflow_reads(path)
    items = list(tfrtool.walk(path))
    first = next(number for number, item in enumerate(items) if isinstance(item, tfrtool.Damage))
    assert payloads == [item.payload for item in items[:first] if isinstance(item, tfrtool.Frame)]
    says = told(iter(items[first:]))
    assert (stopped is None) == (says is None)
    assert says is None or says in str(stopped)


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_tensorflow_reads_to_the_end_what_was_saved(path: Path, tmp_path: Path, content: bytes) -> None:
    path.write_bytes(content)
    saved = [item.payload for item in tfrtool.walk(path) if isinstance(item, tfrtool.Frame)]
    with tfrtool.RecordWriter(tmp_path / "saved") as writer:
        for payload in saved:
            writer.write(payload)
    assert tensorflow_reads(tmp_path / "saved") == (saved, None)


def test_a_gzip_file_cut_short_gives_at_least_what_tensorflow_gives(path: Path) -> None:
    noise = File(tuple(Random(n).randbytes(3000) for n in range(40)))
    packed = gzip.compress(noise.data, mtime=0)
    for size in (len(packed) // 3, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        path.write_bytes(packed[:size])
        theirs, _ = tensorflow_reads(path, "GZIP")
        ours = [item.payload for item in tfrtool.walk(path) if isinstance(item, tfrtool.Frame)]
        assert ours[: len(theirs)] == theirs
        assert list(noise.payloads[: len(ours)]) == ours
