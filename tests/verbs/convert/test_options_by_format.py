"""The same options mean the same whatever format the input has: record files and rows give the same output."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.messages import example, law
from pytest import fixture, mark, param, raises

from tfrtool import RefusedError, convert, records
from tfrtool.framing.encode import frame

needs_pyarrow = mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
ROWS = [param("jsonl"), param("parquet", marks=[mark.parquet, needs_pyarrow])]
EXAMPLES = [
    example({"a": ("int64_list", [n]), "b": ("int64_list", [9 - n, n]), "p/c": ("float_list", [n / 4])})
    for n in range(6)
]
NAMES = ("a", "b", "p/c", "c", "d")


@fixture(scope="module")
def made(tmp_path_factory: Any) -> Path:
    folder: Path = tmp_path_factory.mktemp("alike")
    (folder / "in.tfrecord").write_bytes(b"".join(map(frame, EXAMPLES)))
    for rows in ("jsonl", "parquet"):
        if rows == "jsonl" or find_spec("pyarrow"):
            convert([folder / "in.tfrecord"], folder / f"in.{rows}")
    return folder


def outcome(source: Path, **options: Any) -> list[bytes] | str:
    """The records of the output, or the kind of refusal."""
    target = source.with_name("out.of")
    try:
        convert([source], target, to="ofrecord", force=True, **options)
    except RefusedError:
        return "refused"
    return list(records(target, format="ofrecord"))


@mark.parametrize("rows", ROWS)
@mark.parametrize("left_out", [{"select": ["b"]}, {"drop": ["a"]}], ids=["select", "drop"])
def test_condition_may_use_a_dropped_feature(made: Path, rows: str, left_out: Any) -> None:
    found = outcome(made / f"in.{rows}", where=["a >= 4"], **left_out)
    assert len(found) == 2
    assert found == outcome(made / "in.tfrecord", where=["a >= 4"], **left_out)


@mark.slow
@law
@given(
    rows=st.sampled_from(["jsonl", *(["parquet"] if find_spec("pyarrow") else [])]),
    rename=st.dictionaries(st.sampled_from(NAMES[:3]), st.sampled_from(NAMES), max_size=2),
    types=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["int32", "int64"]), max_size=2),
    prefix=st.sampled_from(["", "p/"]),
    drop=st.lists(st.sampled_from(NAMES[:3]), max_size=1),
    where=st.sampled_from([[], ["a != 3"], ["b < 4", "a > 1"]]),
)
def test_names_and_kinds_work_alike_in_all_formats(made: Path, rows: str, prefix: str, **options: Any) -> None:
    options = {**options, "strip_prefix": prefix}
    assert outcome(made / f"in.{rows}", **options) == outcome(made / "in.tfrecord", **options)


@mark.parametrize(
    ("options", "name", "value"),
    [
        ({"rename": {"image/a": "y"}, "types": {"y": "double"}}, "y", 0.1),
        ({"rename": {"image/a": "y"}, "types": {"image/a": "double"}}, "y", 0.1),
        ({"strip_prefix": "image/", "types": {"a": "double"}}, "a", 0.1),
        ({"strip_prefix": "image/", "types": {"image/a": "double"}}, "a", 0.1),
    ],
)
def test_double_kind_applies_by_old_or_new_name(tmp_path: Path, options: Any, name: str, value: float) -> None:
    (tmp_path / "in.jsonl").write_text('{"image/a":0.1}\n')
    convert([tmp_path / "in.jsonl"], tmp_path / "out.jsonl", **options)
    assert (tmp_path / "out.jsonl").read_text() == f'{{"{name}":{{"double":{value}}}}}\n'


def test_reused_name_means_the_new_feature(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"a":0.1,"b":0.2}\n{"a":0.3,"b":0.4}\n')
    swapped: dict[str, Any] = {"rename": {"a": "b", "b": "a"}, "types": {"a": "double"}}
    convert([tmp_path / "in.jsonl"], tmp_path / "out.jsonl", **swapped)
    first, second = (tmp_path / "out.jsonl").read_text().splitlines()
    assert first == '{"b":0.1,"a":{"double":0.2}}'
    assert second == '{"b":0.3,"a":{"double":0.4}}'


def test_out_of_range_value_is_refused_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"a":3000000000,"b":2}\n')
    swap = {"a": "b", "b": "a"}
    convert([tmp_path / "in.jsonl"], tmp_path / "out.of", to="ofrecord", rename=swap, types={"a": "int32"})
    with raises(RefusedError, match="beyond int32"):
        convert([tmp_path / "in.jsonl"], tmp_path / "no.of", to="ofrecord", rename=swap, types={"b": "int32"})
