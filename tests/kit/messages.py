"""Building payloads for tests: by protobuf, byte by byte, and at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tfrtool.payload.wire import messages

law = settings(deadline=None, max_examples=150, derandomize=True)
"""For tests of laws: the same examples in each run, and no clock."""

VARINT, I64, LEN, SGROUP, EGROUP, I32 = range(6)
BYTES, FLOATS, INT64S = 1, 2, 3  # the lists of a feature of an Example
DOUBLES, OF_INT32S, OF_INT64S = 3, 4, 5  # those that differ in an OFRecord
KINDS = ("example", "sequence_example", "event", "ofrecord")


# Byte by byte.


def varint(value: int, length: int = 0) -> bytes:
    """`value` as a varint, drawn out to `length` bytes if that is more than it needs."""
    out = bytearray()
    while value > 0x7F or len(out) + 1 < length:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def tag(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def sized(number: int, *parts: bytes) -> bytes:
    """A LEN field that holds the parts."""
    data = b"".join(parts)
    return tag(number, LEN) + varint(len(data)) + data


def entry(name: bytes, *feature: bytes) -> bytes:
    """A map entry: a name, and a value of these parts."""
    return sized(1, sized(1, name), sized(2, *feature))


def numbers(kind: int, *values: int) -> bytes:
    """The list of a feature, its varints packed."""
    return sized(kind, sized(1, *map(varint, values)))


def raw_example(*entries: bytes) -> bytes:
    return sized(1, *entries)


# By protobuf.

Lists = Mapping[str, Any]


def fill(features: Any, lists: Lists) -> None:
    """Set `{"label": ("int64_list", [1])}`; None for a feature of no kind."""
    for name, kind_and_values in lists.items():
        set_feature(features[name], kind_and_values)


def set_feature(feature: Any, kind_and_values: Any) -> None:
    if kind_and_values is None:
        feature.SetInParent()
        return
    kind, values = kind_and_values
    getattr(feature, kind).SetInParent()
    getattr(feature, kind).value.extend(values)


def example(lists: Lists) -> bytes:
    message = messages.message_class("tensorflow", "Example")()
    fill(message.features.feature, lists)
    return message.SerializeToString(deterministic=True)


def ordered(lists: Lists) -> bytes:
    """An Example whose entries stand in this order in each run; protobuf's own order is that of a hash."""
    message = messages.message_class("tensorflow", "Features")
    entries = []
    for name, kind_and_values in lists.items():
        fill((one := message()).feature, {name: kind_and_values})
        entries.append(one.SerializeToString(deterministic=True))
    return sized(1, *entries)


def ofrecord(lists: Lists) -> bytes:
    message = messages.message_class("oneflow", "OFRecord")()
    fill(message.feature, lists)
    return message.SerializeToString(deterministic=True)


def sequence(context: Lists, feature_lists: Mapping[str, list[Any]]) -> bytes:
    message = messages.message_class("tensorflow", "SequenceExample")()
    fill(message.context.feature, context)
    for name, steps in feature_lists.items():
        message.feature_lists.feature_list[name].SetInParent()
        for step in steps:
            set_feature(message.feature_lists.feature_list[name].feature.add(), step)
    return message.SerializeToString(deterministic=True)


def event(**parts: Any) -> bytes:
    return messages.message_class("tensorflow", "Event")(**{"wall_time": 1.7e9, **parts}).SerializeToString(
        deterministic=True
    )


def scalar(tag: str, value: float) -> dict[str, Any]:
    """A summary of one simple value, for `event(summary=…)`."""
    return {"value": [{"tag": tag, "simple_value": value}]}


def logged(tag: bytes, plugin: bytes = b"", *more: bytes) -> bytes:
    """An event with one value, which is of a plugin if that is named; `more` are other parts of the value."""
    metadata = sized(9, sized(1, sized(1, plugin))) if plugin else b""
    return event(step=1) + sized(5, sized(1, sized(1, tag), metadata, *more))


def tensor(**parts: Any) -> bytes:
    return messages.message_class("tensorflow", "TensorProto")(**parts).SerializeToString(deterministic=True)


# At random.

names = st.text(max_size=8)
int64s = st.integers(-(2**63), 2**63 - 1)
int32s = st.integers(-(2**31), 2**31 - 1)


def a_list(kind: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(kind), st.lists(values, max_size=5))


binaries = a_list("bytes_list", st.binary(max_size=12))
floats = a_list("float_list", st.floats(width=32))
a_feature = st.none() | binaries | floats | a_list("int64_list", int64s)
an_of_feature = a_feature | a_list("double_list", st.floats()) | a_list("int32_list", int32s)

feature_maps = st.dictionaries(names, a_feature, max_size=5)
examples = st.dictionaries(names, a_feature, min_size=1, max_size=5).map(example)
sequences = st.builds(
    sequence, feature_maps, st.dictionaries(names, st.lists(a_feature, max_size=4), min_size=1, max_size=3)
)
ofrecords = (
    st.dictionaries(names, an_of_feature, min_size=1, max_size=5).filter(lambda m: any(m.values())).map(ofrecord)
)
_scalars = st.builds(scalar, names, st.floats(width=32)).map(lambda summary: {"summary": summary})
_logs = names.map(lambda text: {"log_message": {"level": 20, "message": text}})
_version = st.just({"file_version": "brain.Event:2"})
events = st.builds(
    lambda time, step, what: event(wall_time=time, step=step, **what),
    st.floats().filter(bool),
    int64s,
    _scalars | _logs | _version,
)
of_kind = {"example": examples, "sequence_example": sequences, "event": events, "ofrecord": ofrecords}


@st.composite
def odd_wire(draw: st.DrawFn, depth: int = 4) -> bytes:
    """Wire bytes as no writer makes them: drawn-out varints, split and mixed lists, repeated fields, groups."""
    out = b""
    for _ in range(draw(st.integers(0, 3))):
        number = draw(st.sampled_from((1, 1, 1, 2, 2, 3, 4, 5, 16)))
        wire = draw(st.sampled_from((LEN, LEN, LEN, LEN, VARINT, I32, I64, SGROUP)))
        head = varint(number << 3 | wire, draw(st.integers(0, 5)))
        if wire == VARINT:
            out += head + varint(draw(st.integers(0, 2**64 - 1)), draw(st.integers(0, 10)))
        elif wire == SGROUP:
            out += head + draw(odd_wire(0)) + tag(number, EGROUP)
        elif wire == LEN:
            content = draw(odd_wire(depth - 1) if depth else st.binary(max_size=16))
            out += head + varint(len(content), draw(st.integers(0, 5))) + content
        else:
            out += head + draw(st.binary(min_size=4, max_size=4)) * (2 if wire == I64 else 1)
    return out
