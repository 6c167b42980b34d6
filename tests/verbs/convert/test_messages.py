"""What convert says is so: of outputs that took nothing, of ways out, of schemas, of names and of sizes."""

from __future__ import annotations

import gzip
import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from kit.forked import forked
from kit.messages import example, sequence
from kit.verbs import DATA, OF_DATA

from tfrtool import OpenError, RefusedError, WriteError, convert
from tfrtool.framing.encode import frame
from tfrtool.verbs.convert.options import convert_options

FULL = Path("/dev/full")
LINK = "http://example.org/x"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(DATA)
    Path("of").write_bytes(OF_DATA)
    Path("zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(50))


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("to", ["tfrecord", "jsonl"])
def test_no_record_counts_as_sent_without_bytes(to: str) -> None:
    ended = forked("convert", "in", "-o", str(FULL), "--to", to)
    assert ended.code == 3 and "after 0 bytes were written" in ended.said
    assert "nothing written: the outputs could not be published" in ended.said
    assert "sent to the pipe" not in ended.said


@pytest.mark.parametrize(("name", "first"), [("gs://b/x", "gsutil cat"), (LINK, "curl -fsSL"), ("zst", "zstd -dc")])
def test_suggestion_for_another_program_ends_in_convert(name: str, first: str) -> None:
    ended = forked("convert", name, "-o", "out.jsonl")
    assert first in ended.said and "| tfrtool convert - -o OUT" in ended.said
    assert "verify" not in ended.said


def missing(key: str) -> str:
    whole = json.loads(Path("kinds").read_text())
    (whole if key in whole else whole["features"][0]).pop(key)
    return json.dumps(whole)


def with_features(features: Any) -> str:
    return json.dumps(json.loads(Path("kinds").read_text()) | {"features": features})


@pytest.mark.parametrize("key", ["to", "from", "features", "name", "source_name", "source_kind"])
def test_losses_of_a_schema_are_reported(key: str) -> None:
    convert("of", "tf", to="tfrecord", schema_out="kinds")
    Path("bad").write_text(missing(key))
    with pytest.raises(OpenError, match=f"it is no schema that tfrtool wrote: it has no '{key}'$"):
        convert("tf", "back", to="ofrecord", schema="bad")


@pytest.mark.parametrize("features", [None, {}, 3, [3], [None], [{"name": 3, "source_name": "a", "source_kind": None}]])
def test_schema_problems_are_described(features: Any) -> None:
    convert("of", "tf", to="tfrecord", schema_out="kinds")
    Path("bad").write_text(with_features(features))
    with pytest.raises(OpenError, match=r"its 'features' are no array$|a part of it is of another kind$"):
        convert("tf", "back", to="ofrecord", schema="bad")


def test_name_clash_does_not_blame_other_inputs() -> None:
    for name in ("a.tfrecord", "x.tfrecord"):
        Path(name).write_bytes(DATA)
    Path("x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(WriteError, match="^nothing was read, since 'x.tfrecord' and 'x.jsonl' would both be written"):
        convert(["a.tfrecord", "x.tfrecord", "x.jsonl"], "out/", to="tfrecord")


def test_late_sequence_example_is_compared_with_earlier_records() -> None:
    late = sequence({}, {"s": [("int64_list", [1])]})
    large = example({"a": ("bytes_list", [bytes(1 << 20)])})
    Path("late").write_bytes(frame(large) * 18 + frame(late))
    with pytest.raises(RefusedError, match="record 18 .*which all rows are by the first records of the input"):
        convert("late", "out.jsonl")


@pytest.mark.parametrize("how", [{}, {"compress": "gzip"}])
def test_shard_size_is_uncompressed(how: dict[str, Any]) -> None:
    names = convert("in", "out", shard_size=1100, **how).outputs
    sizes = [len(gzip.decompress(data) if how else data) for data in (Path(name).read_bytes() for name in names)]
    assert sizes == [1020, 1020, 1020]
    said = " ".join(forked("convert", "--help").said.split())
    assert "Start a new shard before its uncompressed records exceed SIZE, such as 150MB." in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rename": [("a", "b")]}, "rename is a mapping of texts to texts"),
        ({"types": "a=int32"}, "types is a mapping of texts to texts"),
        ({"types": ["a"]}, "types is a mapping"),
        ({"strip_prefix": ["image/"]}, "strip_prefix is a text, not"),
        ({"strip_prefix": None}, "strip_prefix is a text, not None"),
        ({"skip": None}, "skip is a whole number of 0 or more, not None"),
        ({"select": None}, "select is a list of texts, not None"),
        ({"drop": 3}, "drop is a list of texts, not 3"),
        ({"select": [b"a"]}, "select is a list of texts, and b'a' is none"),
        ({"where": [3]}, "where is a list of texts, and 3 is none"),
    ],
)
def test_argument_of_wrong_type_is_named(how: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as caught:
        convert("of", "out", to="tfrecord", **how)
    assert said in str(caught.value)
    assert not Path("out").exists()


def test_help_on_the_function_names_every_option() -> None:
    said = convert.__doc__ or ""
    assert [name for name in signature(convert_options).parameters if f"`{name}`" not in said] == []


def test_texts_may_come_from_any_iterable_once() -> None:
    Path("one").write_bytes(frame(example({"a": ("int64_list", [1]), "b": ("int64_list", [2])})))
    convert("one", "out.jsonl", select=(name for name in "a"), where=iter(["b == 2"]))
    assert json.loads(Path("out.jsonl").read_text()) == {"a": 1}
