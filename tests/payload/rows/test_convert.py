"""Rows: what a payload holds, and the payload again."""

from __future__ import annotations

import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    FLOATS,
    INT64S,
    entry,
    example,
    examples,
    int64s,
    law,
    numbers,
    odd_wire,
    ofrecord,
    ofrecords,
    raw_example,
    sequence,
    sequences,
    sized,
    varint,
)
from kit.row_files import said

from tfrtool.payload.rows.convert import RESPELLED, read_row, write_row
from tfrtool.payload.rows.row import NO_KIND, Cell, Message, Row, RowChange, RowError
from tfrtool.payload.rows.values import is_usual, packed, unpacked
from tfrtool.payload.wire import messages
from tfrtool.payload.wire.reader import WireError

KINDED = st.one_of(
    st.tuples(st.just("example"), examples),
    st.tuples(st.just("sequence_example"), sequences),
    st.tuples(st.just("ofrecord"), ofrecords),
)
CLASSES = {
    "example": messages.message_class("tensorflow", "Example"),
    "sequence_example": messages.message_class("tensorflow", "SequenceExample"),
    "ofrecord": messages.message_class("oneflow", "OFRecord"),
}


def changes_of(payload: bytes, message: Message = "example", lenient: bool = False) -> list[RowChange]:
    changes: list[RowChange] = []
    read_row(payload, message, changes, lenient=lenient)
    return changes


@law
@given(KINDED)
def test_what_protobuf_writes_comes_back_byte_for_byte(kinded: tuple[Message, bytes]) -> None:
    message, payload = kinded
    changes: list[RowChange] = []
    assert write_row(read_row(payload, message, changes)) == payload
    assert changes == []


@law
@given(odd_wire(), st.sampled_from(list(CLASSES)), st.booleans())
def test_of_any_bytes_all_comes_back_or_the_change_is_told(payload: bytes, message: Message, lenient: bool) -> None:
    changes: list[RowChange] = []
    try:
        row = read_row(payload, message, changes, lenient=lenient)
    except RowError:
        return
    again = write_row(row)
    assert again == payload or changes
    assert write_row(read_row(again, message)) == again
    if not any(change.lost for change in changes):
        assert as_protobuf_says(message, payload) == as_protobuf_says(message, again)


def as_protobuf_says(message: Message, payload: bytes) -> bytes:
    parsed = CLASSES[message].FromString(payload)
    for part in {"example": ["features"], "sequence_example": ["context", "feature_lists"], "ofrecord": []}[message]:
        getattr(parsed, part).SetInParent()
    whole: bytes = parsed.SerializeToString(deterministic=True)
    return whole


@law
@given(st.lists(int64s | st.integers(-2, 200), max_size=40))
def test_numbers_are_packed_as_protobuf_packs_them(values: list[int]) -> None:
    raw = b"".join(varint(value & 2**64 - 1) for value in values)
    assert packed("int64", array("q", values)) == raw
    assert list(unpacked("int64", raw)) == values


def test_an_int32_is_the_low_half_of_a_longer_number() -> None:
    for values in ([2**32 + 5, 2**32 - 1], [2**32 + 5, 2**32 - 1] * 20):
        assert list(unpacked("int32", b"".join(map(varint, values)))) == [5, -1] * (len(values) // 2)


@pytest.mark.parametrize("size", [3, 40])
def test_a_list_with_a_broken_number_is_no_list(size: int) -> None:
    for tail in (b"\x80", b"\xff" * 10 + b"\1"):
        with pytest.raises(WireError):
            unpacked("int64", b"\x81\1" * size + tail)
    with pytest.raises(WireError):
        unpacked("float", bytes(size * 4 + 1))


def test_the_order_of_features_is_kept() -> None:
    payload = raw_example(entry(b"b", numbers(INT64S, 1)), entry(b"a", numbers(INT64S, 300)))
    assert list(read_row(payload, "example").features) == ["b", "a"]
    assert write_row(read_row(payload, "example")) == payload


def test_each_nan_keeps_its_bits() -> None:
    bits = struct.pack("<3I", 0x7F800001, 0xFFC00000, 0x7FC00001)
    payload = raw_example(entry(b"a", sized(FLOATS, sized(1, bits))))
    assert write_row(read_row(payload, "example")) == payload


def test_no_features_no_kind_and_no_values_are_told_apart() -> None:
    row = read_row(example({"a": None, "b": ("float_list", [])}), "example")
    assert row.features == {"a": NO_KIND, "b": Cell("float", array("f"))}
    assert read_row(b"", "ofrecord") == Row("ofrecord")
    assert changes_of(b"\n\0") == [RowChange("", RESPELLED)]


@pytest.mark.parametrize(
    "payload",
    [
        raw_example(entry(b"a", sized(INT64S, b"\x08\x01\x08\x02"))),
        raw_example(entry(b"a", sized(INT64S, sized(1, b"\x81\x00")))),
        raw_example(sized(1, sized(2, numbers(INT64S, 1)), sized(1, b"a"))),
        raw_example(sized(1, sized(1, b"a"))),
        raw_example(entry(b"a", sized(INT64S, sized(1)))),
        b"\x0a\x80\x00",
    ],
    ids=["unpacked", "long varint", "value first", "no value", "an empty packed run", "a long size"],
)
def test_another_spelling_is_told_and_loses_nothing(payload: bytes) -> None:
    assert changes_of(payload) == [RowChange("", RESPELLED)]


def test_of_a_name_that_stands_twice_the_last_counts_and_that_is_told() -> None:
    payload = raw_example(entry(b"a", numbers(INT64S, 1)), entry(b"a", numbers(INT64S, 2)))
    changes: list[RowChange] = []
    assert list(read_row(payload, "example", changes).features["a"].values) == [2]
    assert said(changes) == [("a", "the name stands more than once in a record, and the last is kept", True)]


UNKNOWN = raw_example(entry(b"a", numbers(INT64S, 1))) + sized(9, b"x")
TWICE = raw_example(entry(b"a", numbers(INT64S, 1), sized(FLOATS)))
NOT_TEXT = ofrecord({"a": ("int64_list", [1])}).replace(b"\n\1a", b"\n\1\xff")


@pytest.mark.parametrize(
    ("payload", "message", "change"),
    [
        (UNKNOWN, "example", ("", "field 9 is not known and is dropped")),
        (TWICE, "example", ("a", "a second list stands in the feature, and the last is kept")),
        (NOT_TEXT, "ofrecord", ("\\xff", "the name is not UTF-8, and the feature is left out")),
    ],
)
def test_what_cannot_be_kept_is_refused_or_dropped_and_told(
    payload: bytes, message: Message, change: tuple[str, str]
) -> None:
    with pytest.raises(RowError, match=r"at byte \d+ of the payload"):
        read_row(payload, message)
    assert said(changes_of(payload, message, lenient=True)) == [(*change, True)]


def test_a_name_that_reads_alike_as_text_is_not_taken_for_one_that_is_left_out() -> None:
    one, two = entry(b"\xff", numbers(5, 1)), entry(b"\\xff", numbers(5, 2))
    for payload in (one + two, two + one):
        assert list(read_row(payload, "ofrecord", lenient=True).features["\\xff"].values) == [2]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (example({"label": ("int64_list", [1])}), "ofrecord"),
        (ofrecord({"label": ("int32_list", [1])}), "example"),
        (sequence({}, {"a": [("int64_list", [1])]}), "ofrecord"),
        (b"\xff" * 9, "example"),
        (example({"label": ("int64_list", [1])})[:-1], "example"),
    ],
)
def test_another_message_and_a_broken_one_are_refused(payload: bytes, message: Message, lenient: bool) -> None:
    with pytest.raises(RowError, match="^the payload is not an? "):
        read_row(payload, message, lenient=lenient)


def test_an_example_has_no_doubles_to_write() -> None:
    with pytest.raises(RowError, match="feature 'a': an Example has no list of double"):
        write_row(Row("example", {"a": Cell("double", array("d", [1]))}))


def test_a_long_name_is_cut_in_what_is_said_of_it() -> None:
    assert str(RowError("no", "x" * 1000)) == f"feature '{'x' * 100}'…: no"


RUNS = [[0], [127], [128], [2**14 - 1, 2**14], [2**31 - 1], [-1], [-(2**31), 5]]


@pytest.mark.parametrize(
    ("kind", "values"),
    [("int32", run) for run in RUNS] + [("int64", run) for run in [*RUNS, [2**63 - 1] * 4, [2**31], [-(2**63)]]],
)
def test_integers_are_read_as_protobuf_reads_them(kind: str, values: list[int]) -> None:
    payload = ofrecord({"n": (f"{kind}_list", values)})
    assert list(read_row(payload, "ofrecord").features["n"].values) == values


@pytest.mark.parametrize("before", [0, 1, 20])
@pytest.mark.parametrize("odd", [b"\x81\x00", b"\x80\x80\x00", b"\xff" * 9 + b"\x03"])
def test_a_number_of_more_bytes_than_it_needs_is_a_change_however_long_the_run(odd: bytes, before: int) -> None:
    changes: list[RowChange] = []
    read_row(raw_example(entry(b"n", sized(3, sized(1, b"\x85\x01" * before + odd)))), "example", changes)
    assert changes == [RowChange("", RESPELLED)]


a_varint = st.builds(varint, st.integers(0, 2**64 - 1) | st.integers(0, 300), st.integers(0, 10))


@law
@given(st.lists(a_varint).map(b"".join))
def test_a_packed_list_is_usual_where_packing_its_numbers_gives_it_again(raw: bytes) -> None:
    numbers = unpacked("int64", raw)
    assert is_usual("int64", raw, numbers) == (packed("int64", numbers) == raw)
