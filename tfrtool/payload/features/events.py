"""Read a TensorBoard event as features: its time, its step, and each summary under the name of its tag."""

from __future__ import annotations

import struct
from functools import partial

from tfrtool.payload.content.tensors import Tensor, read_tensor
from tfrtool.payload.features.view import FeatureView, mark_repeated, nothing, unpack, view_of
from tfrtool.payload.text import Value, text_of
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import I32, I64, LEN, VARINT, Buffer, fields, read_varint, signed32, signed64

_FIELDS = {
    3: b"file_version",
    4: b"graph_def",
    6: b"log_message",
    7: b"session_log",
    8: b"tagged_run_metadata",
    9: b"meta_graph_def",
    10: b"source_metadata",
}
_INNER = {6: 2, 7: 3, 8: 2, 10: 1}  # field of the event -> field inside it that is shown as its value
_LEVELS = {10: "debug", 20: "info", 30: "warn", 40: "error", 50: "fatal"}
_STATUS = {1: "start", 2: "stop", 3: "checkpoint"}
_NUMBERS: dict[str, tuple[ListKind, str]] = {
    "float32": ("float", "f"),
    "float64": ("double", "d"),
    "int32": ("int32", "i"),
    "int16": ("int32", "h"),
    "int8": ("int32", "b"),
    "uint8": ("int32", "B"),
    "uint16": ("int32", "H"),
    "bool": ("int32", "B"),
    "int64": ("int64", "q"),
    "uint32": ("int64", "I"),
}
"""Type of a tensor -> the kind of list that shows its numbers, and their `struct` type in `tensor_content`."""


def event_features(payload: Buffer) -> list[FeatureView]:
    """What an event says, in the order of its bytes; names are those of its fields, and the tags of its summaries.

    Raises WireError if the payload is not sound wire format. Graphs and encoded media are views, never copied.
    """
    views: list[FeatureView] = []
    tags: list[FeatureView] = []
    for number, wire, begin, end in fields(payload, 0, len(payload)):
        if number == 1 and wire == I64:
            views.append(_one(b"wall_time", "double", struct.unpack_from("<d", payload, begin)[0]))
        elif number == 2 and wire == VARINT:
            views.append(_one(b"step", "int64", signed64(read_varint(payload, begin, end)[0])))
        elif number == 5 and wire == LEN:
            for inner, kind, first, last in fields(payload, begin, end):
                if inner == 1 and kind == LEN:
                    tags.append(_summary(payload, first, last))
        elif number in _FIELDS and wire == LEN:
            views.append(_other(payload, number, begin, end))
    mark_repeated(views)
    mark_repeated(tags)
    fields_named = {view.name for view in views}
    for tag in tags:
        if tag.name in fields_named:
            tag.note = "; ".join(filter(None, (tag.note, "the tag of a summary, no field of the event")))
    return [*views, *tags]


def _one(name: bytes, kind: ListKind, value: Value, note: str = "") -> FeatureView:
    return FeatureView(name, kind, 1, partial(iter, (value,)), note=note)


def _other(payload: Buffer, number: int, begin: int, end: int) -> FeatureView:
    """Return a file version or a graph, as it is; of a message, the text that it carries."""
    name, value, note = _FIELDS[number], (begin, end), ""
    if number in _INNER:
        parts = _parts(payload, begin, end)
        value = parts.get((_INNER[number], LEN), (end, end))
        if number == 6:
            note = _LEVELS.get(_varint(payload, parts, 1), "")
        elif number == 7:
            note = _STATUS.get(_varint(payload, parts, 1), "")
            value = parts.get((2, LEN), value)
        elif number == 8:
            note = f"tag {_text(payload, parts, 1)}"
    return _one(name, "bytes", memoryview(payload)[slice(*value)], note)


def _summary(payload: Buffer, begin: int, end: int) -> FeatureView:
    """Return one value of a summary, named by its tag; the note says what it was logged as."""
    parts = _parts(payload, begin, end)
    first, last = parts.get((1, LEN)) or parts.get((7, LEN), (end, end))
    view = _summary_value(payload, bytes(payload[first:last]), parts)
    if metadata := parts.get((9, LEN)):
        plugin = _parts(payload, *metadata).get((1, LEN))
        if plugin and (logged := _text(payload, _parts(payload, *plugin), 1)):
            view.note = f"{logged}: {view.note}" if view.note else logged
    return view


def _summary_value(payload: Buffer, name: bytes, parts: Parts) -> FeatureView:
    view = memoryview(payload)
    for (number, wire), (begin, end) in reversed(parts.items()):
        if number == 2 and wire == I32:
            return _one(name, "float", struct.unpack_from("<f", payload, begin)[0])
        if number == 3 and wire == LEN:
            return _one(name, "bytes", view[begin:end], "an obsolete histogram")
        if number == 4 and wire == LEN:
            image = _parts(payload, begin, end)
            size = f"{_varint(payload, image, 2)}x{_varint(payload, image, 1)}"
            return _one(name, "bytes", view[slice(*image.get((4, LEN), (end, end)))], f"image {size}")
        if number == 5 and wire == LEN:
            return _histogram(payload, name, begin, end)
        if number == 6 and wire == LEN:
            audio = _parts(payload, begin, end)
            rate = _double(payload, audio, 1, I32)
            note = f"audio {rate:g} Hz, {_varint(payload, audio, 2)} channels, {_varint(payload, audio, 3)} frames"
            return _one(name, "bytes", view[slice(*audio.get((4, LEN), (end, end)))], note)
        if number == 8 and wire == LEN:
            tensor = read_tensor(payload, begin, end, bare=True)
            return _tensor(payload, name, tensor) if tensor else _one(name, "bytes", view[begin:end], "tensor")
    return FeatureView(name, None, 0, nothing)


def _histogram(payload: Buffer, name: bytes, begin: int, end: int) -> FeatureView:
    parts = _parts(payload, begin, end)
    low, high, number = (_double(payload, parts, field, I64) for field in (1, 2, 3))
    view = view_of(payload, name, "double", begin, end, 7)
    view.note = f"histogram of {number:g} values from {low:g} to {high:g}"
    return view


def _tensor(payload: Buffer, name: bytes, tensor: Tensor) -> FeatureView:
    """Return the numbers or strings of a tensor; of other types the bytes of its content."""
    content = tensor.field == 4
    if tensor.dtype in _NUMBERS:
        kind, code = _NUMBERS[tensor.dtype]
        if content:
            count = (tensor.end - tensor.begin) // tensor.width
            view = FeatureView(name, kind, count, partial(unpack, payload, tensor.begin, tensor.end, code))
        else:
            view = view_of(payload, name, kind, tensor.begin, tensor.end, tensor.field)
    elif tensor.dtype == "string" and not content:
        view = view_of(payload, name, "bytes", tensor.begin, tensor.end, tensor.field)
    elif content:
        view = _one(name, "bytes", memoryview(payload)[tensor.begin : tensor.end])
    else:
        view = FeatureView(name, None, 0, nothing)
    view.note = f"tensor {tensor}"
    return view


Parts = dict[tuple[int, int], tuple[int, int]]
"""(field number, wire type) -> the bounds of its last value, in the order of the last ones."""


def _parts(payload: Buffer, begin: int, end: int) -> Parts:
    found: Parts = {}
    for number, wire, first, last in fields(payload, begin, end):
        found.pop((number, wire), None)
        found[number, wire] = (first, last)
    return found


def _varint(payload: Buffer, parts: Parts, number: int) -> int:
    return signed32(read_varint(payload, *parts[number, VARINT])[0]) if (number, VARINT) in parts else 0


def _double(payload: Buffer, parts: Parts, number: int, wire: int) -> float:
    if (number, wire) not in parts:
        return 0.0
    value: float = struct.unpack_from("<d" if wire == I64 else "<f", payload, parts[number, wire][0])[0]
    return value


def _text(payload: Buffer, parts: Parts, number: int) -> str:
    begin, end = parts.get((number, LEN), (0, 0))
    return text_of(payload[begin:end])
