"""What `schema --emit dali` says of features that DALI cannot read of every record, and DALI itself by what it says.

DALI runs in a process of its own, without a GPU: what it cannot take may end the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from random import Random
from struct import unpack
from typing import Any

import pytest
from kit.damage import flip
from kit.messages import entry, example, raw_example, sized
from kit.program import environment
from kit.schemas import HOSTILE, PIECES, described, mixed
from pytest import mark

import tfrtool
from tfrtool.errors import UnsupportedError
from tfrtool.framing.encode import frame
from tfrtool.payload.wire import messages
from tfrtool.verbs.schema.emit.forms import emit

DALI = mark.consumer("nvidia.dali")
SOME, NONE = ("bytes_list", [b"some"]), ("bytes_list", [])


def commented(name: str, text: str) -> str:
    """The comment in the place of a feature."""
    (line,) = (line for line in text.splitlines() if line.startswith(f"    # {ascii(name)}"))
    return line


# What is said


@mark.parametrize(
    ("third", "said"),
    [
        ({"a": None}, "unset in 1 of 3 records; DALI dies there"),
        ({"a": NONE}, "empty in some records; DALI dies there"),
        ({"a": ("int64_list", [1, 2])}, "of another kind in 1 of 3 records; DALI dies there"),
        ({}, "missing in 1 of 3 records; DALI stops or makes up values there, whatever the default"),
    ],
)
def test_bytes_that_a_record_is_without_stand_in_a_comment(third: Any, said: str, tmp_path: Path) -> None:
    one = {"n": ("int64_list", [1])}
    text = emit(described(tmp_path, [example({"a": SOME, **one})] * 2 + [example(third | one)]), "dali")
    assert commented("a", text) == f"    # 'a': tfrec.FixedLenFeature((), tfrec.string, \"\"),  # {said}"
    assert "\n    'n': tfrec.FixedLenFeature([1], tfrec.int64, 0),\n" in text


def test_all_that_is_wrong_with_a_feature_is_said(tmp_path: Path) -> None:
    payloads = [example({"a": one, "n": SOME}) for one in (SOME, SOME, SOME, NONE, None, ("int64_list", [1]))]
    line = commented("a", emit(described(tmp_path, [*payloads, example({"n": SOME})]), "dali"))
    assert line.partition("),  # ")[2] == (
        "unset in 1 of 7 records, of another kind in 1 of 7 records, empty in some records; DALI dies there; "
        "missing in 1 of 7 records; DALI stops or makes up values there, whatever the default"
    )


def test_numbers_of_two_kinds_have_no_fixed_length(tmp_path: Path) -> None:
    payloads = [example({"a": ("int64_list" if n else "float_list", [1])}) for n in range(3)]
    assert (
        "'a': tfrec.VarLenFeature(tfrec.int64, 0),"
        "  # kinds differ: int64 in 2, float in 1 records; of others than int64 DALI makes empty lists\n"
    ) in emit(described(tmp_path, payloads), "dali")


def test_a_schema_without_a_feature_for_dali_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="any of the 2 features of all records: '[ab]' is missing in 1"):
        emit(described(tmp_path, [example({"a": SOME, "b": SOME}), b""]), "dali")
    with pytest.raises(UnsupportedError, match="the one feature of all records: 'a' is left out: no record sets"):
        emit(described(tmp_path, [example({"a": None})]), "dali")
    schema = described(tmp_path, [example({"a": SOME})])
    schema.examples.features.clear()  # as where their names are too long to be held
    with pytest.raises(UnsupportedError, match="needs a feature, and none is described"):
        emit(schema, "dali")


def test_inputs_that_dali_does_not_read_to_the_end_are_told_of(tmp_path: Path) -> None:
    payloads = [example({"a": SOME})] * 9 + [b"\xff"]
    schema = described(tmp_path, payloads)
    assert "# DALI stops at a payload that does not parse" in emit(schema, "dali")
    schema.files[0].compression = "gzip"
    assert "# DALI reads plain files alone, and some of these are compressed" in emit(schema, "dali")
    assert "# DALI may stop or die at a record that lacks one" in emit(described(tmp_path, payloads, n=2), "dali")
    assert emit(described(tmp_path, payloads[:9]), "dali").count("#") == 1


# What DALI does

READ = """
import json, sys
import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def

def read(code, batch, paths):
    scope = {}
    exec(code, scope)
    features = scope["FEATURES"]

    @pipeline_def(batch_size=batch, num_threads=2, device_id=None)
    def pipeline():
        indexes = [path + ".idx" for path in paths]
        read = fn.readers.tfrecord(path=paths, index_path=indexes, features=features, name="reader")
        return tuple(read[name] for name in features)

    made = pipeline()
    made.build()
    records, count = [], made.epoch_size("reader")
    while len(records) < count:
        outputs = made.run()
        for n in range(batch):
            arrays = [np.array(output.at(n)) for output in outputs]
            records.append({name: (str(a.dtype), a.shape, a.tobytes().hex()) for name, a in zip(features, arrays)})
    return records[:count]

for job in json.load(sys.stdin):
    print(json.dumps(read(*job)))
"""
Job = tuple[str, int, list[str]]
"""A text of `--emit dali`, the records of a batch, the files."""


def started(jobs: Sequence[Job], cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", READ]
    return subprocess.run(
        command, input=json.dumps(jobs), cwd=cwd, env=environment(), capture_output=True, text=True, timeout=120
    )


def read(jobs: Sequence[Job], cwd: Path) -> list[list[dict[str, Any]]]:
    """What DALI reads: for each job the records, name -> type, shape, bytes as hex."""
    done = started(jobs, cwd)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def written(folder: Path, *shards: Sequence[bytes]) -> list[str]:
    """Files of these payloads, each with its index."""
    folder.mkdir()
    paths = [str(folder / f"train-{n:05d}-of-{len(shards):05d}") for n in range(len(shards))]
    for path, payloads in zip(paths, shards, strict=True):
        Path(path).write_bytes(b"".join(map(frame, payloads)))
        tfrtool.stat(path, index=path + ".idx")
    return paths


def as_dali(payload: bytes, names: Sequence[str], types: dict[str, str]) -> dict[str, Any]:
    """What DALI has to give of a payload, by protobuf."""
    features = messages.message_class("tensorflow", "Example").FromString(payload).features.feature
    made: dict[str, Any] = {}
    for name in names:
        kind = features[name].WhichOneof("kind")
        values = list(getattr(features[name], kind).value) if kind else []
        if types[name] == "uint8":
            (data,) = values
            made[name] = ["uint8", [len(data)], data.hex()]
            continue
        values = values if kind == {"int64": "int64_list", "float32": "float_list"}[types[name]] else []
        data = array("q" if types[name] == "int64" else "f", values).tobytes()
        made[name] = [types[name], [len(values)], data.hex()]
    return made


def check(got: list[dict[str, Any]], payloads: Sequence[bytes]) -> None:
    types = {name: kind for name, (kind, _, _) in got[0].items()}
    assert got == [as_dali(payload, list(types), types) for payload in payloads]


@DALI
def test_dali_reads_all_values_of_all_shards_by_the_features_and_the_indexes(tmp_path: Path) -> None:
    shards = [mixed()[:3], mixed()[3:], mixed()]
    paths = written(tmp_path / "data", *shards)
    code = emit(tfrtool.schema(*paths), "dali")
    for got in read([(code, batch, paths) for batch in (1, 4, 12)], tmp_path):
        assert got[0].keys() == {"id", "label", "score", "box", HOSTILE}
        check(got, [payload for shard in shards for payload in shard])


NAMES = ("a", "b c", "é", HOSTILE, "image/encoded", "", "a\0b", "{0}", "😀", "\\", "n" * 300)


def value(random: Random, kind: str) -> Any:
    if kind == "bytes_list":
        return random.randbytes(random.choice([0, 1, 5000]))
    if kind == "float_list":
        return unpack("<f", random.randbytes(3) + b"\x3f")[0]
    return random.choice([random.randrange(-(1 << 63), 1 << 63), -1, 0])


def anything(random: Random) -> list[bytes]:
    """Examples of features that are mostly alike: some missing, unset, empty, of other kinds or lengths."""
    kinds = ("int64_list", "float_list", "bytes_list")
    plan = {name: (random.choice(kinds), random.choice([0, 1, 1, 1, 4, None])) for name in random.sample(NAMES, 6)}
    odd = {name for name in plan if random.random() < 0.4}
    made = []
    for _ in range(random.randrange(1, 30)):
        lists: dict[str, Any] = {}
        for name, (kind, size) in plan.items():
            chance = random.random() if name in odd else 1.0
            if chance < 0.05:
                continue
            one = random.choice(kinds) if chance < 0.2 else kind
            count = random.randrange(5) if size is None else size
            lists[name] = None if chance < 0.1 else (one, [value(random, one) for _ in range(count)])
        made.append(example(lists))
    return made


@DALI
def test_what_is_told_of_any_examples_dali_reads_to_the_last_bit(tmp_path: Path) -> None:
    jobs: list[Job] = []
    held: list[list[bytes]] = []
    for seed in range(80):
        random = Random(seed)
        payloads = anything(random)
        at = random.randrange(len(payloads)) or len(payloads)
        paths = written(tmp_path / str(seed), *filter(None, (payloads[:at], payloads[at:])))
        try:
            jobs.append((emit(tfrtool.schema(*paths), "dali"), random.randrange(1, 9), paths))
            held.append(payloads)
        except UnsupportedError as error:
            assert "DALI cannot read" in str(error)
    assert len(jobs) > 60
    assert any("# kinds differ" in code for code, _, _ in jobs) and any("DALI dies" in code for code, _, _ in jobs)
    for got, payloads in zip(read(jobs, tmp_path), held, strict=True):
        check(got, payloads)


@DALI
def test_dali_reads_what_protobuf_merges_as_protobuf_does(tmp_path: Path) -> None:
    twice = raw_example(entry(b"a", sized(3, sized(1, b"\1"))), entry(b"a", sized(3, sized(1, b"\1\2"))))
    paths = written(tmp_path / "data", [PIECES, twice])
    (got,) = read([(emit(tfrtool.schema(*paths), "dali"), 2, paths)], tmp_path)
    check(got, [PIECES, twice])


@DALI
def test_dali_reads_the_sound_records_of_a_damaged_file_by_its_index(tmp_path: Path) -> None:
    payloads = [example({"a": ("int64_list", [n])}) for n in range(9)]
    (path,) = written(tmp_path / "data", payloads)
    data = Path(path).read_bytes()
    Path(path).write_bytes(flip(flip(data, 3), len(data) // 2))
    Path(path + ".idx").unlink()
    tfrtool.stat(path, index=path + ".idx")
    (got,) = read([(emit(tfrtool.schema(path), "dali"), 3, [path])], tmp_path)
    check(got, payloads[1:4] + payloads[5:])


TOLD = "import nvidia.dali.tfrecord as tfrec\nFEATURES = {'a': %s}"
BYTES, LIST = "tfrec.FixedLenFeature((), tfrec.string, '')", "tfrec.VarLenFeature(tfrec.int64, 7)"


@DALI
@mark.parametrize("lists", [{"a": None}, {"a": NONE}, {"a": ("int64_list", [1])}], ids=str)
def test_dali_dies_where_that_is_said(lists: Any, tmp_path: Path) -> None:
    paths = written(tmp_path / "data", [example(lists)])
    assert started([(TOLD % BYTES, 1, paths)], tmp_path).returncode < 0


@DALI
def test_dali_stops_or_makes_up_values_where_that_is_said(tmp_path: Path) -> None:
    paths = written(tmp_path / "data", [example({"a": ("int64_list", [1, 2])}), example({})])
    done = started([(TOLD % LIST, 2, paths)], tmp_path)
    assert done.returncode == 1 and "Samples must have the same dimensionality" in done.stderr
    (got,) = read([(TOLD % LIST, 1, paths)], tmp_path)
    assert got[1]["a"][:2] == ["int64", []] and len(got[1]["a"][2]) == 16  # one value, though the record has none


@DALI
def test_dali_stops_at_a_name_that_is_not_utf8_and_takes_no_empty_dictionary(tmp_path: Path) -> None:
    odd = raw_example(entry(b"a", sized(3, sized(1, b"\1"))), entry(b"\xff", sized(3, sized(1, b"\1"))))
    paths = written(tmp_path / "data", [odd])
    for code, why in ((TOLD % LIST, "Error while parsing TFRecord file"), ("FEATURES = {}", "not a vector type")):
        done = started([(code, 1, paths)], tmp_path)
        assert done.returncode == 1 and why in done.stderr
