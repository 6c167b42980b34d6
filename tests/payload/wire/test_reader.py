"""Reading the wire format, held against protobuf."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import EGROUP, I32, I64, LEN, SGROUP, VARINT, law, odd_wire, sized, tag, varint

from tfrtool.payload.wire import reader as wire
from tfrtool.payload.wire.messages import message_class
from tfrtool.payload.wire.reader import WireError, fields


def walk(data, begin=0, end=None):
    return list(fields(data, begin, len(data) if end is None else end))


def why(data):
    with pytest.raises(WireError) as caught:
        walk(data)
    return caught.value.offset, caught.value.why


def test_each_wire_type_gives_the_bounds_of_its_value():
    data = tag(1, VARINT) + varint(300) + tag(2, I64) + bytes(8) + sized(3, b"abc") + tag(4, I32) + bytes(4)
    assert walk(data) == [(1, VARINT, 1, 3), (2, I64, 4, 12), (3, LEN, 14, 17), (4, I32, 18, 22)]


def test_only_the_given_range_is_read():
    data = b"\xff" + sized(1, b"ab") + b"\xff"
    assert walk(data, 1, 5) == [(1, LEN, 3, 5)]


def test_a_memoryview_reads_as_its_bytes():
    data = sized(1, b"x" * 200) + tag(2, VARINT) + varint(2**40)
    assert walk(memoryview(data)) == walk(data)


@law
@given(st.integers(0, 2**64 - 1), st.integers(0, 10))
def test_a_varint_may_be_drawn_out_to_ten_bytes(value, length):
    data = varint(value, length)
    assert wire.read_varint(data, 0, len(data)) == (value, len(data))


def test_a_varint_of_more_than_64_bits_is_cut():
    assert wire.read_varint(b"\xff" * 9 + b"\x7f", 0, 10) == (2**64 - 1, 10)


@law
@given(st.integers(-(2**63), 2**63 - 1))
def test_signed_numbers_come_back(value):
    assert wire.signed64(value % 2**64) == value
    assert wire.signed32(value % 2**64) == (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (b"\x08", 1, "cut off"),
        (b"\x08" + b"\x80" * 11, 1, "more than 10 bytes"),
        (b"\x08" + b"\x80" * 10, 1, "more than 10 bytes"),
        (b"\x80" * 6 + b"\x01", 0, "more than 5 bytes"),
        (b"\xff\xff\xff\xff\x7f", 0, "not a field number"),
        (b"\x00\x00", 0, "0 is not a field number"),
        (b"\x80\x00\x00", 0, "0 is not a field number"),
        (b"\x0a\x05abc", 0, "field 1 needs 5 bytes where 3 are left"),
        (b"\x0a", 1, "cut off"),
        (b"\x0a" + varint(2**31), 1, "2 GiB"),
        (b"\x0a" + varint(1, 6) + b"x", 1, "more than 5 bytes"),
        (b"\x09" + bytes(7), 0, "needs 8 bytes where 7"),
        (b"\x0d" + bytes(3), 0, "needs 4 bytes where 3"),
        (b"\x0e", 0, "6 is not a wire type"),
        (b"\x0f", 0, "7 is not a wire type"),
        (b"\x0c", 0, "never began"),
        (b"\x0b\x14", 1, "not the open one"),
        (b"\x0b\x0e", 1, "6 is not a wire type"),
        (b"\x0b\x08\x01", 1, "a group is cut off"),
        (b"\x0b\x12\x7f", 1, "a group is cut off"),
        (b"\x08\x01" + b"\x0b" * 200, 102, "more than 100 deep"),
    ],
)
def test_broken_bytes_are_told_with_their_place(data, offset, reason):
    assert why(data)[0] == offset
    assert reason in why(data)[1]


def test_the_fields_before_a_break_are_given():
    reading = fields(b"\x08\x01\x0f", 0, 3)
    assert next(reading) == (1, VARINT, 1, 2)
    with pytest.raises(WireError):
        next(reading)


def test_groups_are_passed_over_whole():
    inner = tag(2, SGROUP) + sized(3, b"ab") + tag(2, EGROUP) + tag(4, I32) + bytes(4) + tag(5, I64) + bytes(8)
    data = tag(1, SGROUP) + inner + tag(1, EGROUP) + tag(6, VARINT) + b"\x01"
    assert walk(data) == [(1, SGROUP, 1, 1 + len(inner)), (6, VARINT, len(data) - 1, len(data))]


def test_groups_nest_as_deep_as_protobuf_allows():
    deepest, deeper = (tag(5, SGROUP) * depth + tag(5, EGROUP) * depth for depth in (100, 101))
    message_class("tensorflow", "LogMessage").FromString(deepest)
    assert len(walk(deepest)) == 1
    with pytest.raises(DecodeError):
        message_class("tensorflow", "LogMessage").FromString(deeper)
    assert "more than 100 deep" in why(deeper)[1]


def test_the_error_reads_as_one_sentence():
    assert str(WireError(3, "a number is cut off")) == "a number is cut off, at byte 3 of the payload"


@law
@given(st.binary(max_size=24) | odd_wire(1))
def test_the_wire_is_sound_for_us_exactly_when_it_is_for_protobuf(data):
    try:
        message_class("tensorflow", "LogMessage", lenient=True).FromString(data)
        sound = True
    except DecodeError:
        sound = False
    try:
        walk(data)
        assert sound
    except WireError:
        assert not sound


@law
@given(st.lists(st.integers(0, 2**64 - 1), max_size=8), st.integers(0, 10))
def test_packed_varints_are_checked_counted_and_read(values, length):
    data = b"".join(varint(value, length) for value in values)
    wire.check_varints(data, 0, len(data))
    assert wire.count_varints(data, 0, len(data)) == len(values)
    assert list(wire.varints(data, 0, len(data))) == values


@law
@given(st.binary(min_size=1, max_size=40))
def test_packed_varints_are_refused_exactly_when_protobuf_does(data):
    try:
        want = list(message_class("tensorflow", "Int64List").FromString(sized(1, data)).value)
    except DecodeError:
        with pytest.raises(WireError):
            wire.check_varints(data, 0, len(data))
    else:
        wire.check_varints(data, 0, len(data))
        assert [wire.signed64(value) for value in wire.varints(data, 0, len(data))] == want


def test_a_long_run_is_counted_and_checked_across_chunks():
    data = (b"\xff" * 9 + b"\x01") * 20_000
    wire.check_varints(data, 0, len(data))
    assert wire.count_varints(data, 0, len(data)) == 20_000
    for at in (5, 65_530, 131_066, 199_980):
        broken = data[:at] + b"\xff" * 10 + data[at:]
        with pytest.raises(WireError, match="more than 10 bytes"):
            wire.check_varints(broken, 0, len(broken))


def test_a_window_looks_at_the_first_bytes_and_the_last_one():
    data = b"\x01" * 100 + b"\xff" * 10 + b"\x01"
    wire.check_varints(data, 0, len(data), window=64)
    with pytest.raises(WireError, match="last number"):
        wire.check_varints(data, 0, len(data) - 1, window=64)
