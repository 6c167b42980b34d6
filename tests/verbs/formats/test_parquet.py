"""Parquet: what is written as a table comes back, and a table of others becomes records or is refused by its column."""

from __future__ import annotations

import io
import json
import math
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.messages import (
    FLOATS,
    INT64S,
    entry,
    example,
    feature_maps,
    law,
    numbers,
    ofrecord,
    ofrecords,
    ordered,
    raw_example,
    sequence,
    sequences,
    sized,
)
from kit.row_files import survey_payloads, write_parquet

from tfrtool.errors import OpenError, RefusedError, UnsupportedError, WriteError
from tfrtool.payload.rows.columns import RowColumn, RowSchema
from tfrtool.payload.rows.convert import read_row
from tfrtool.payload.rows.row import Message, Row
from tfrtool.verbs.formats.parquet_reader import ParquetReader
from tfrtool.verbs.formats.parquet_types import has_column
from tfrtool.verbs.formats.parquet_writer import ABSENT, NO_KIND, ORDER, ParquetWriter, check_parquet, table_columns

HAS_PYARROW = find_spec("pyarrow") is not None
needs_pyarrow = pytest.mark.skipif(not HAS_PYARROW, reason="pyarrow is not installed")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


def parquet(payloads: list[bytes], path: Path, message: Message = "example", **how: Any) -> ParquetWriter:
    schema = table_columns(survey_payloads(payloads, message))
    return write_parquet(payloads, str(path), schema, **how)


def back(path: Path, message: Message | None = None, **how: Any) -> list[bytes]:
    return [payload for _, payload in ParquetReader(str(path), message, **how)]


def table(path: Path, columns: dict[str, Any]) -> Path:
    """A table as others write it, its values being Arrow arrays or lists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)
    return path


def refusal(path: Path, message: Message | None = None, **how: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        back(path, message, **how)
    return str(caught.value).replace(str(path), "F")


# There and back


def of_one_kind(payloads: list[bytes], message: Message) -> bool:
    survey = survey_payloads(payloads, message)
    return not survey.conflicts() and not survey.features.keys() & survey.feature_lists.keys()


@st.composite
def sets(draw: st.DrawFn) -> tuple[Message, list[bytes]]:
    messages: list[tuple[Message, Any]] = [
        ("example", feature_maps.map(example)),
        ("sequence_example", sequences),
        ("ofrecord", ofrecords),
    ]
    message, payloads = draw(st.sampled_from(messages))
    found: list[bytes] = []
    for payload in draw(st.lists(payloads, min_size=1, max_size=5)):
        if of_one_kind([*found, payload], message):
            found.append(payload)
    return message, found


@pytest.mark.parquet
@needs_pyarrow
@settings(law, max_examples=50)
@given(sets(), st.integers(1, 200))
def test_a_set_of_one_kind_a_feature_comes_back_whole_but_for_what_is_told(
    kinded: tuple[Message, list[bytes]], budget: int
) -> None:
    message, payloads = kinded
    schema = table_columns(survey_payloads(payloads, message))
    if not any(map(has_column, schema.features.values())) and not schema.feature_lists:
        return
    out = io.BytesIO()
    writer = ParquetWriter(out, schema, row_group_bytes=budget)
    assert all(writer.write(payload) > 0 for payload in payloads)
    writer.finish()
    again = read_bytes(out.getvalue())
    told = {change.what for change in writer.changes}
    assert told <= {NO_KIND.words, ORDER.words}
    if not told:
        assert again == payloads
    for payload, got in zip(payloads, again, strict=True):
        wanted, found = read_row(payload, message), read_row(got, message)
        assert known(wanted) == known(found)


def known(row: Row) -> Any:
    """What a table always keeps: all but features of no kind, and the order."""
    features = {name: bits(cell) for name, cell in row.features.items() if cell.kind}
    return features, {name: list(map(bits, steps)) for name, steps in row.feature_lists.items()}


def bits(cell: Any) -> Any:
    return cell.kind, list(cell.values) if cell.kind in (None, "bytes") else cell.values.tobytes()


def read_bytes(data: bytes) -> list[bytes]:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "a"
        path.write_bytes(data)
        return back(path)


@pytest.mark.parquet
@needs_pyarrow
def test_columns_have_the_types_of_their_kinds(path: Path) -> None:
    from pyarrow.parquet import read_schema

    full = {
        "id": ("int64_list", [2**62 + 1]),
        "box": ("float_list", [0.5, 1.5]),
        "name": ("bytes_list", ["Zoë".encode()]),
        "image": ("bytes_list", [b"\xff\xd8"]),
    }
    parquet([ordered(full), ordered({"id": ("int64_list", [1]), "box": ("float_list", [])})], path)
    assert {field.name: str(field.type) for field in read_schema(path)} == {
        "id": "int64",
        "box": "list<element: float>",
        "name": "string",
        "image": "binary",
    }


@pytest.mark.parquet
@needs_pyarrow
def test_pandas_sees_plain_values(path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    parquet([ordered({"id": ("int64_list", [n]), "t": ("bytes_list", [b"x"])}) for n in range(3)], path)
    assert pandas.read_parquet(path).to_dict("list") == {"id": [0, 1, 2], "t": ["x", "x", "x"]}


@pytest.mark.parquet
@needs_pyarrow
def test_row_groups_are_as_large_as_asked_for(path: Path) -> None:
    from pyarrow.parquet import ParquetFile

    payloads = [ordered({"image": ("bytes_list", [bytes([255, n]) * 500])}) for n in range(20)]
    parquet(payloads, path, row_group_bytes=5000)
    metadata = ParquetFile(path).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [5, 5, 5, 5]
    steps: list[int] = []
    assert back(path) == back(path, batch_bytes=1, progress=steps.append) == payloads
    assert (len(steps), sum(steps)) == (20, path.stat().st_size)


@pytest.mark.parquet
@needs_pyarrow
def test_int32_and_double_of_an_ofrecord_come_back(path: Path) -> None:
    payloads = [
        ofrecord({"a": ("int32_list", [-n])}) + ofrecord({"b": ("double_list", [0.1, math.inf])}) for n in range(3)
    ]
    parquet(payloads, path, "ofrecord")
    assert back(path) == payloads


@pytest.mark.parquet
@needs_pyarrow
def test_each_nan_keeps_its_bits(path: Path) -> None:
    signalling = raw_example(entry(b"a", sized(FLOATS, sized(1, b"\x01\0\x80\x7f"))))
    parquet([signalling], path)
    assert back(path) == [signalling]


@pytest.mark.parquet
@needs_pyarrow
def test_a_feature_that_is_never_absent_is_null_where_it_has_no_kind(path: Path) -> None:
    payloads = [ordered({"a": kind, "b": None}) for kind in (("int64_list", [1]), None, ("int64_list", [2]))]
    assert list(parquet(payloads, path).changes) == []
    assert back(path) == payloads


@pytest.mark.parquet
@needs_pyarrow
def test_what_a_table_cannot_say_is_told(path: Path) -> None:
    first = ordered({"a": ("int64_list", [1]), "b": ("int64_list", [1])})
    other = ordered({"b": ("int64_list", [2]), "a": None})
    writer = parquet([first, other, ordered({"b": ("int64_list", [3])})], path)
    assert [(c.feature, c.what, c.lost, c.first) for c in writer.changes] == [
        ("a", NO_KIND.words, True, 1),
        ("", ORDER.words, False, 1),
    ]
    schema = table_columns(survey_payloads([first], "example"))
    writer = write_parquet([ordered({"b": ("int64_list", [3])})], str(path), schema, force=True)
    assert [(c.feature, c.what, c.lost) for c in writer.changes] == [("a", ABSENT.words, True)]


# What is refused on the way out


def test_a_feature_of_two_kinds_is_refused_with_the_first_record_of_each() -> None:
    payloads = [raw_example(entry(b"a", sized(kind))) for kind in (INT64S, INT64S, FLOATS)]
    with pytest.raises(RefusedError) as caught:
        table_columns(survey_payloads(payloads, "example", "x.tfrecord"))
    assert str(caught.value) == (
        "feature 'a' is of more than one kind: int64 in 'x.tfrecord' record 0, float in 'x.tfrecord' record 2; "
        "a column has one kind"
    )


def test_a_name_in_both_parts_of_a_sequence_is_refused() -> None:
    payload = sequence({"a": ("int64_list", [1])}, {"a": [("int64_list", [1])]})
    with pytest.raises(RefusedError, match="'a' is a feature of the context and a feature list"):
        table_columns(survey_payloads([payload], "sequence_example"))


def test_a_payload_of_another_kind_is_refused_by_its_number() -> None:
    with pytest.raises(RefusedError, match="^record 1: the payload is not an Example: "):
        survey_payloads([ordered({"a": None}), ofrecord({"a": ("int32_list", [1])})], "example")


@pytest.mark.parquet
@needs_pyarrow
@pytest.mark.parametrize(
    ("lists", "why"),
    [
        ({"b": ("int64_list", [1])}, "feature 'b': it is not in the schema"),
        ({"a": ("int64_list", [1, 2])}, "feature 'a': it has 2 values in this record, and its column one a record"),
        ({"a": ("float_list", [1])}, "feature 'a': it is float in this record, and its column is of int64"),
        ({"t": ("bytes_list", [b"\xff"])}, "feature 't': it is no printable UTF-8 in this record"),
    ],
)
def test_a_record_that_does_not_fit_the_schema_is_refused_and_nothing_is_published(
    lists: Any, why: str, path: Path
) -> None:
    schema = RowSchema("example", {"a": RowColumn("int64", True), "t": RowColumn("bytes", True, True)})
    good = raw_example(entry(b"a", numbers(INT64S, 1)))
    with pytest.raises(RefusedError, match=f"^record 1: {why}"):
        write_parquet([good, ordered(lists)], str(path), schema)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parquet
@needs_pyarrow
def test_nothing_is_written_over_and_a_full_disk_is_said(path: Path) -> None:
    payloads = [ordered({"a": ("int64_list", [1])})]
    parquet(payloads, path)
    with pytest.raises(WriteError, match="exists already"):
        parquet(payloads, path)
    assert back(path) == payloads
    with pytest.raises(WriteError, match="no space is left"):
        parquet([ordered({"a": ("bytes_list", [b"\xff" * 1_000_000])})], Path("/dev/full"), codec="none")


@pytest.mark.parquet
@needs_pyarrow
def test_a_file_that_does_not_read_back_is_not_published(path: Path) -> None:
    parquet([ordered({"a": ("int64_list", [1])})] * 3, path)
    check_parquet(str(path), 3)
    with pytest.raises(WriteError, match="has 3 rows instead of 4; nothing was published"):
        check_parquet(str(path), 4)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(WriteError, match="cannot be read back"):
        check_parquet(str(path), 3)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for job in (lambda: write_parquet([], str(path), RowSchema("example")), lambda: back(path)):
        with pytest.raises(UnsupportedError, match=r"pip install 'tfrtool\[parquet\]'"):
            job()
    assert not path.exists()


# What others write


@pytest.mark.parquet
@needs_pyarrow
def test_any_columns_of_values_and_lists_become_features(path: Path) -> None:
    import pyarrow as pa

    columns = {
        "i8": pa.array([1, None], pa.int8()),
        "u64": pa.array([2**63 - 1, 0], pa.uint64()),
        "f": pa.array([0.5, None], pa.float32()),
        "d": pa.array([0.25, 0.5]),
        "s": pa.array(["x", "é"], pa.large_string()),
        "b": pa.array([b"12", b"34"], pa.binary(2)),
        "bool": [True, None],
        "cat": pa.array(["x", None]).dictionary_encode(),
        "l": [[1, 2], None],
        "fixed": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "large": pa.array([["a"], []], pa.large_list(pa.string())),
        "none": pa.nulls(2),
    }
    reader = ParquetReader(str(table(path, columns)))
    first, second = (payload for _, payload in reader)
    assert read_row(first, "example") == read_row(
        ordered(
            {
                "i8": ("int64_list", [1]),
                "u64": ("int64_list", [2**63 - 1]),
                "f": ("float_list", [0.5]),
                "d": ("float_list", [0.25]),
                "s": ("bytes_list", [b"x"]),
                "b": ("bytes_list", [b"12"]),
                "bool": ("int64_list", [1]),
                "cat": ("bytes_list", [b"x"]),
                "l": ("int64_list", [1, 2]),
                "fixed": ("float_list", [1, 2]),
                "large": ("bytes_list", [b"a"]),
            }
        ),
        "example",
    )
    assert list(read_row(second, "example").features) == ["u64", "d", "s", "b", "fixed", "large"]
    assert [(c.feature, c.what, c.first) for c in reader.changes] == [("bool", "true and false became 1 and 0", 0)]


@pytest.mark.parquet
@needs_pyarrow
def test_small_integers_are_int32_in_an_ofrecord(path: Path) -> None:
    import pyarrow as pa

    table(path, {"a": pa.array([1], pa.int16()), "b": pa.array([1], pa.uint32()), "c": [0.1]})
    kinds = {name: cell.kind for name, cell in read_row(back(path, "ofrecord")[0], "ofrecord").features.items()}
    assert kinds == {"a": "int32", "b": "int64", "c": "double"}


@pytest.mark.parquet
@needs_pyarrow
def test_a_nested_list_is_a_feature_list_where_sequences_are_asked_for(path: Path) -> None:
    table(path, {"id": [1], "t": [[[1, 2], None, []]]})
    assert read_row(back(path, "sequence_example")[0], "sequence_example") == read_row(
        sequence({"id": ("int64_list", [1])}, {"t": [("int64_list", [1, 2]), None, ("int64_list", [])]}),
        "sequence_example",
    )
    assert "column 't' is of list<element: list<element: int64>>" in refusal(path)


@pytest.mark.parquet
@needs_pyarrow
@pytest.mark.parametrize("double", ["exact", "round", "refuse"])
def test_doubles_of_an_example_are_the_callers_choice(path: Path, double: Any) -> None:
    table(path, {"a": [0.5, 0.1]})
    if double == "round":
        reader = ParquetReader(str(path), double=double)
        assert [read_row(p, "example").features["a"].values[0] for _, p in reader] == [0.5, pytest.approx(0.1)]
        assert [(c.feature, c.what, c.records, c.first) for c in reader.changes] == [("a", "rounded to float32", 1, 1)]
    else:
        row = {"exact": "row 1: feature 'a': 0.1 is a double", "refuse": "row 0: feature 'a': it holds doubles"}[double]
        assert refusal(path, double=double).startswith(f"'F' {row}")


@pytest.mark.parquet
@needs_pyarrow
def test_what_no_feature_can_hold_is_refused_by_its_column(path: Path) -> None:
    import pyarrow as pa

    for value, named in [([{"x": 1}], "struct<x: int64>"), (pa.array([1], pa.date32()), "date32[day]")]:
        assert refusal(table(path, {"ok": [1], "bad": value})).startswith(f"'F': column 'bad' is of {named}, and")
    assert "row 1: column 'a': a null inside a list" in refusal(table(path, {"a": [[1], [2, None]]}))
    columns = {"a: b": pa.array([[[1]], [[2, None]]]), "c": [[1], [2]]}
    assert "row 1: column 'a: b': a null inside a list" in refusal(table(path, columns), "sequence_example")
    assert "row 1: column 'a': 9223372036854775808 is beyond int64" in refusal(
        table(path, {"a": pa.array([1, 2**63], pa.uint64())})
    )
    assert "row 1: column 'a': 9223372036854775808 is beyond int64" in refusal(
        table(path, {"a": pa.array([[1], [0, 2**63]], pa.list_(pa.uint64()))})
    )


@pytest.mark.parquet
@needs_pyarrow
@pytest.mark.parametrize("column", [1, [1], [[1]], [[[1]]], "x", {"a": 1}])
@pytest.mark.parametrize("kept", ["null", "{}", "[" * 9999, '"lists"', '"none"'])
def test_metadata_that_lies_is_passed_over_or_refused(path: Path, column: Any, kept: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    lists = {"a": RowColumn("float", True)} if kept == '"lists"' else {}
    text = json.dumps(RowSchema("sequence_example", {}, lists).to_json()) if kept[0] == '"' else kept
    pq.write_table(pa.table({"a": [column]}).replace_schema_metadata({"tfrtool": text}), path)
    try:
        assert len(back(path)) == 1
    except RefusedError as error:
        assert "column 'a' is of " in str(error)


@pytest.mark.parquet
@needs_pyarrow
def test_damaged_and_foreign_files_are_refused(path: Path) -> None:
    parquet([ordered({"a": ("int64_list", [n] * 50), "s": ("bytes_list", [b"x" * n])}) for n in range(40)], path)
    data = path.read_bytes()
    for bad in (b"", b"PAR1", data[:-9], data[9:], b"x" * 100, *(data[:-n] + data[-4:] for n in (5, 8, 20))):
        path.write_bytes(bad)
        assert refusal(path).startswith("'F': not a readable Parquet file: ")
    with pytest.raises(OpenError):
        back(path.with_name("none"))


@pytest.mark.parquet
@needs_pyarrow
def test_whatever_byte_is_flipped_the_answer_is_the_same_values_or_a_refusal(path: Path) -> None:
    payloads = [ordered({"a": ("int64_list", [n] * 5), "s": ("bytes_list", [b"x"])}) for n in range(4)]
    parquet(payloads, path)
    data = path.read_bytes()
    wanted = [[cell.values for cell in read_row(p, "example").features.values()] for p in payloads]
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(footer):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with suppress(RefusedError):
            assert [[cell.values for cell in read_row(p, "example").features.values()] for p in back(path)] == wanted
    for at in range(footer, len(data), 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        with suppress(RefusedError):
            back(path)
