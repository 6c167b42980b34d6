"""Scalars in event files, by themselves and in tensors: least, greatest, and how many are not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from struct import pack
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.messages import event, law, scalar, sized, tensor
from kit.schemas import PATH, described
from pytest import mark

from tfrtool.cli.printers.schema import lines
from tfrtool.payload.content.tensors import number_of
from tfrtool.payload.schema.event_reader import EventReader
from tfrtool.payload.schema.events import EventTable, Tag
from tfrtool.verbs.schema.emit.as_json import schema_fields

PLUGIN = {"plugin_data": {"plugin_name": "scalars"}}
NAN, INF = float("nan"), float("inf")


def logged(tag: str, parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"value": [{"tag": tag, "tensor": parts, **more}]}


def content(value: float) -> dict[str, Any]:
    """As TensorFlow 2 writes a scalar."""
    return {"dtype": 1, "tensor_shape": {}, "tensor_content": pack("<f", value)}


def table(payloads: Sequence[bytes], reader: EventReader | None = None) -> EventTable:
    total = EventTable()
    for number, payload in enumerate(payloads):
        one = reader or EventReader()
        total.merge(one.summarise(memoryview(payload), [0], [len(payload)], number, PATH)[0])
    return total


def only_tag(payloads: Sequence[bytes]) -> Tag:
    (tag,) = table(payloads, EventReader()).tags.values()
    return tag


@mark.parametrize("form", [content, lambda value: {"dtype": 1, "tensor_shape": {}, "float_val": [value]}])
def test_scalars_of_tensorflow_2_tell_their_range_and_what_is_not_finite(form: Any, tmp_path: Path) -> None:
    values = [0.5, NAN, -2.0, INF, 3.0, NAN, 0.1]
    payloads = [event(step=n, summary=logged("loss", form(value), metadata=PLUGIN)) for n, value in enumerate(values)]
    schema = described(tmp_path, payloads[:4], payloads[4:])
    (tag,) = schema_fields(schema)["events"]["tags"]
    assert tag["numbers"] == {"min": -2.0, "max": 3.0, "nan": 2, "infinite": 1}
    assert [line.what for line in lines(schema)] == ["steps 0 to 6; -2.0 to 3.0, 2 NaN, 1 infinite"]


def test_a_float32_is_shown_as_short_as_that_has_digits(tmp_path: Path) -> None:
    payloads = [event(step=n, summary=logged("loss", content(value))) for n, value in enumerate((0.1, 0.7))]
    schema = described(tmp_path, payloads)
    assert [line.what for line in lines(schema)] == ["steps 0 to 1; 0.1 to 0.7"]
    assert schema_fields(schema)["events"]["tags"][0]["numbers"]["max"] == 0.7


def test_a_tag_may_be_logged_in_both_styles() -> None:
    both = [event(step=1, summary=scalar("loss", 1.5)), event(step=2, summary=logged("loss", content(NAN)))]
    tag = only_tag(both)
    assert tag.numbers and (tag.numbers.values, tag.numbers.greatest, tag.numbers.nan, tag.wide) == (2, 1.5, 1, False)


ONE = {
    "PyTorch, which leaves out the shape": ({"dtype": 1, "float_val": [1.5]}, 1.5),
    "a shape of one": ({"dtype": 1, "tensor_shape": {"dim": [{"size": 1}]}, "float_val": [1.5]}, 1.5),
    "float64": ({"dtype": 2, "tensor_shape": {}, "double_val": [1e300]}, 1e300),
    "float64 as content": ({"dtype": 2, "tensor_shape": {}, "tensor_content": pack("<d", 0.1)}, 0.1),
    "float16": ({"dtype": 19, "tensor_shape": {}, "half_val": [0x3E00]}, 1.5),
    "float16 as content": ({"dtype": 19, "tensor_shape": {}, "tensor_content": b"\0\x3e"}, 1.5),
    "bfloat16": ({"dtype": 14, "tensor_shape": {}, "half_val": [0x3FC0]}, 1.5),
    "bfloat16 as content": ({"dtype": 14, "tensor_shape": {}, "tensor_content": b"\xc0\x3f"}, 1.5),
    "int32": ({"dtype": 3, "tensor_shape": {}, "int_val": [-7]}, -7),
    "int8 as content": ({"dtype": 6, "tensor_shape": {}, "tensor_content": b"\xf9"}, -7),
    "int64": ({"dtype": 9, "tensor_shape": {}, "int64_val": [-(2**63)]}, -(2**63)),
    "uint64": ({"dtype": 23, "tensor_shape": {}, "uint64_val": [2**64 - 1]}, 2**64 - 1),
    "uint64 as content": ({"dtype": 23, "tensor_shape": {}, "tensor_content": b"\xff" * 8}, 2**64 - 1),
    "bool": ({"dtype": 10, "tensor_shape": {}, "bool_val": [True]}, 1),
}


@mark.parametrize("name", ONE)
def test_a_tensor_of_one_element_is_a_number(name: str) -> None:
    parts, value = ONE[name]
    tag = only_tag([event(step=step, summary=logged("x", parts)) for step in (1, 2)])
    assert tag.numbers and (tag.numbers.values, tag.numbers.least, tag.numbers.greatest) == (2, value, value)
    assert tag.wide == (parts["dtype"] != 1)


def test_numbers_that_are_no_float32_are_shown_in_full(tmp_path: Path) -> None:
    values = [2**53 + 1, 0]
    payloads = [event(step=1, summary=logged("x", {"dtype": 9, "tensor_shape": {}, "int64_val": [n]})) for n in values]
    assert [line.what for line in lines(described(tmp_path, payloads))] == [f"steps 1 to 1; 0 to {2**53 + 1}"]


@mark.parametrize(
    "parts",
    [
        {"dtype": 1, "tensor_shape": {"dim": [{"size": 2}]}, "float_val": [1, 2]},
        {"dtype": 1, "tensor_shape": {}, "float_val": [1, 2]},
        {"dtype": 1, "tensor_shape": {}, "tensor_content": b"\0\0\0"},
        {"dtype": 1, "tensor_shape": {"unknown_rank": True}, "float_val": [1]},
        {"dtype": 3, "tensor_shape": {}, "int_val": [1, 2]},
        {"dtype": 7, "tensor_shape": {}, "string_val": [b"1"]},
        {"dtype": 8, "tensor_shape": {}, "scomplex_val": [1]},
        {"dtype": 1, "tensor_shape": {"dim": [{"size": 0}]}},
        {},
    ],
)
def test_no_other_tensor_is_a_number(parts: dict[str, Any]) -> None:
    assert number_of(tensor(**parts), 0, len(tensor(**parts))) is None
    assert only_tag([event(step=1, summary=logged("x", parts))] * 2).numbers is None


numbers = st.floats(width=32) | st.sampled_from((0.0, NAN, INF))
tags = st.sampled_from(("loss", "rate", "a", "bb"))
tensors = (
    numbers.map(content)
    | numbers.map(lambda value: {"dtype": 1, "float_val": [value]})
    | st.sampled_from([parts for parts, _ in ONE.values()])
    | st.lists(numbers, min_size=2, max_size=2).map(lambda two: {"dtype": 1, "tensor_shape": {}, "float_val": two})
    | st.binary(min_size=4, max_size=4).map(lambda four: {"dtype": 7, "tensor_shape": {}, "string_val": [four]})
)
summaries = (
    st.builds(scalar, tags, numbers)
    | st.builds(logged, tags, tensors)
    | st.builds(lambda tag, parts: logged(tag, parts, metadata=PLUGIN), tags, tensors)
    | st.builds(lambda tag, text: {"value": [{"tag": tag, "metadata": text}]}, tags, st.just(PLUGIN))
)


@st.composite
def turned(draw: st.DrawFn) -> bytes:
    """A value whose fields stand in another order than a writer puts them."""
    name = sized(1, draw(tags).encode())
    held = draw(st.just(b"\x15" + pack("<f", draw(numbers))) | tensors.map(lambda parts: sized(8, tensor(**parts))))
    order = draw(st.permutations([name, held, sized(9, sized(1, sized(1, b"scalars")))]))
    return b"\x09" + pack("<d", 1.0) + b"\x10\x01" + sized(5, sized(1, b"".join(order)))


@law
@given(st.lists(summaries.map(lambda summary: event(step=1, summary=summary)) | turned(), max_size=12))
def test_what_is_remembered_of_values_changes_nothing(payloads: list[bytes]) -> None:
    assert repr(table(payloads, EventReader())) == repr(table(payloads))


@mark.tensorflow
@mark.consumer("tensorflow")
def test_the_scalars_that_tensorflow_logs_are_told(tmp_path: Path) -> None:
    import tensorflow as tf

    import tfrtool

    values = [0.0, 1.5, -2.5, NAN, INF]
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for step, value in enumerate(values):
            tf.summary.scalar("loss", value, step=step)
        tf.summary.histogram("weights", [1.0, 2.0], step=1)
    writer.close()
    (path,) = tmp_path.iterdir()
    events = tfrtool.schema(path).events
    assert events
    found = events.tags[b"loss"].numbers
    assert found and (found.values, found.least, found.greatest, found.nan, found.infinite) == (5, -2.5, 1.5, 1, 1)
    assert events.tags[b"weights"].numbers is None


def test_a_tensor_whose_bytes_end_early_is_no_number_and_no_crash() -> None:
    data = tensor(**content(1.5))
    for end in range(len(data)):
        assert number_of(data, 0, end) is None
    assert math.isnan(number_of(tensor(**content(NAN)), 0, len(data)).value)  # type: ignore[union-attr]
