"""What a record holds, read as protobuf would: names, kinds, counts and values; and what protobuf hides."""

import json
import math
import struct

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    BYTES,
    DOUBLES,
    FLOATS,
    INT64S,
    OF_INT32S,
    VARINT,
    entry,
    event,
    example,
    law,
    numbers,
    odd_wire,
    of_kind,
    raw_example,
    scalar,
    sequence,
    sized,
    tag,
)

from tfrtool.payload.features.read import read_features
from tfrtool.payload.text import json_value, shortest_float32, text_of
from tfrtool.payload.wire import messages
from tfrtool.payload.wire.reader import WireError

LISTS = {
    "bytes_list": "bytes",
    "float_list": "float",
    "int64_list": "int64",
    "double_list": "double",
    "int32_list": "int32",
}
LENIENT = {
    "example": messages.message_class("tensorflow", "Example", lenient=True),
    "sequence_example": messages.message_class("tensorflow", "SequenceExample", lenient=True),
    "ofrecord": messages.message_class("oneflow", "OFRecord", lenient=True),
}


def comparable(values):
    """Bytes as bytes, numbers by their spelling, so that NaN equals NaN and 0.0 is not -0.0."""
    return [repr(value) if isinstance(value, float | int) else bytes(value) for value in values]


def ours(view):
    return view.kind, view.count, comparable(view.values())


def theirs(feature):
    kind = feature.WhichOneof("kind")
    values = getattr(feature, kind).value if kind else []
    return LISTS.get(kind), len(values), comparable(values)


def by_us(payload, kind):
    found = read_features(payload, kind)
    lists = [(view.name, view.count, [ours(step) for step in view.steps()]) for view in found.feature_lists]
    return [(view.name, *ours(view)) for view in found.features], lists


def by_protobuf(payload, kind):
    message = LENIENT[kind].FromString(payload)
    held = {"example": "features", "sequence_example": "context"}.get(kind)
    features = getattr(message, held).feature if held else message.feature
    lists = message.feature_lists.feature_list if kind == "sequence_example" else []
    steps = [(one.key, len(one.value.feature), [theirs(step) for step in one.value.feature]) for one in lists]
    return [(one.key, *theirs(one.value)) for one in features], steps


@pytest.mark.slow
@pytest.mark.parametrize("kind", LENIENT)
def test_what_protobuf_writes_is_read_as_protobuf_reads_it(kind):
    @law
    @given(of_kind[kind])
    def holds(payload):
        assert by_us(payload, kind) == by_us(memoryview(payload), kind) == by_protobuf(payload, kind)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", LENIENT)
def test_odd_wire_is_read_or_refused_exactly_as_protobuf_does(kind):
    @law
    @given(odd_wire() | odd_wire().map(lambda inner: sized(1, inner)) | st.binary(max_size=20))
    def holds(payload):
        try:
            want = by_protobuf(payload, kind)
        except DecodeError:
            with pytest.raises(WireError):
                read_features(payload, kind)
        else:
            assert by_us(payload, kind) == want

    holds()


@law
@given(st.sampled_from(sorted(of_kind)).flatmap(lambda kind: st.tuples(st.just(kind), of_kind[kind])), st.data())
def test_a_cut_payload_is_read_or_refused_with_a_place(kind_and_payload, data):
    kind, payload = kind_and_payload
    cut = payload[: data.draw(st.integers(0, len(payload)))]
    try:
        read_features(cut, kind)
    except WireError as error:
        assert 0 <= error.offset <= len(cut)


def only(payload, kind="example"):
    (view,) = read_features(payload, kind).features
    return view


def in_example(*parts):
    return raw_example(entry(b"a", *parts))


def test_features_stand_in_the_order_of_the_bytes():
    payload = raw_example(entry(b"z", numbers(INT64S, 1)), entry(b"a", sized(BYTES, sized(1, b"x"))))
    assert [(view.name, view.kind, view.count) for view in read_features(payload, "example").features] == [
        (b"z", "int64", 1),
        (b"a", "bytes", 1),
    ]


def test_a_repeated_name_is_shown_each_time_and_marked():
    names = [entry(b"a", numbers(INT64S, 1)), entry(b"b", numbers(INT64S, 2)), entry(b"a", numbers(INT64S, 3))]
    views = read_features(raw_example(*names), "example").features
    assert [(view.name, view.values(), view.repeated) for view in views] == [
        (b"a", [1], True),
        (b"b", [2], False),
        (b"a", [3], True),
    ]
    assert ["readers keep the last" in view.note for view in views] == [True, False, False]


def test_a_name_that_is_not_utf8_is_kept_and_written_in_escapes():
    view = only(raw_example(entry(b"caf\xc3\xa9\xff", numbers(INT64S, 1))))
    assert (view.name, view.text) == (b"caf\xc3\xa9\xff", "café\\xff")


def test_no_kind_and_an_empty_list_are_told_apart():
    assert (only(in_example()).kind, only(in_example()).values()) == (None, [])
    assert (only(in_example(sized(FLOATS))).kind, only(in_example(sized(FLOATS))).count) == ("float", 0)


def test_of_two_kinds_the_last_wins_and_the_same_kind_twice_is_one_list():
    assert ours(only(in_example(numbers(INT64S, 1), sized(BYTES, sized(1, b"x"))))) == ("bytes", 1, [b"x"])
    assert only(in_example(numbers(INT64S, 1), numbers(INT64S, 2, 3))).values() == [1, 2, 3]


def test_a_list_that_is_overridden_must_be_sound_too():
    with pytest.raises(WireError, match="5 bytes, which 4 does not divide"):
        read_features(in_example(sized(FLOATS, sized(1, bytes(5))), numbers(INT64S, 1)), "example")


def test_packed_and_single_numbers_mix():
    mixed = sized(INT64S, tag(1, VARINT) + b"\x05", sized(1, b"\x06\x07"), tag(1, VARINT) + b"\x08")
    assert only(in_example(mixed)).values() == [5, 6, 7, 8]


def test_the_numbers_of_an_ofrecord_are_of_its_kinds():
    double = entry(b"a", sized(DOUBLES, sized(1, struct.pack("<d", 0.1))))
    assert ours(only(double, "ofrecord")) == ("double", 1, ["0.1"])
    assert only(entry(b"a", numbers(OF_INT32S, 2**32 + 5, 2**32 - 1, 2**64 - 3)), "ofrecord").values() == [5, -1, -3]


def test_only_as_many_values_are_read_as_asked_for():
    view = only(example({"a": ("float_list", [0.5] * 5000)}))
    assert (view.count, view.values(2), view.values(0), len(view.values())) == (5000, [0.5, 0.5], [], 5000)


def test_bytes_are_views_of_the_payload():
    payload = memoryview(example({"a": ("bytes_list", [b"abc"])}))
    (value,) = only(payload).values()
    assert isinstance(value, memoryview) and value.obj is payload.obj and value == b"abc"


def test_an_unknown_kind_has_no_features():
    assert read_features(b"junk", "unknown").features == []


def test_feature_lists_tell_their_steps_and_kinds():
    payload = sequence(
        {"id": ("int64_list", [1])}, {"tokens": [("int64_list", [1, 2]), ("int64_list", [3])], "none": []}
    )
    found = read_features(payload, "sequence_example")
    lists = {view.text: view for view in found.feature_lists}
    assert [view.text for view in found.features] == ["id"]
    assert (lists["tokens"].count, lists["tokens"].values, lists["tokens"].kinds) == (2, 3, ("int64",))
    assert [step.values() for step in lists["tokens"].steps(1)] == [[1, 2]]
    assert (lists["none"].count, lists["none"].kinds, lists["none"].steps()) == (0, (), [])


def test_a_feature_list_of_mixed_kinds_tells_both():
    payload = sequence({}, {"mixed": [("int64_list", [1]), ("float_list", [1.0]), None]})
    (view,) = read_features(payload, "sequence_example").feature_lists
    assert view.kinds == ("int64", "float", None)


def test_a_million_pieces_of_one_list_take_no_more_than_their_share():
    view = only(in_example(sized(INT64S, sized(1, b"\1")) * 50_000))
    assert (view.count, sum(view.values())) == (50_000, 50_000)


# Values for JSON and for people.


@pytest.mark.parametrize(
    ("value", "kind", "want"),
    [
        (b"text", "bytes", "text"),
        (memoryview("é".encode()), "bytes", "é"),
        (b"\xff\x00", "bytes", {"bytes": "/wA="}),
        (5, "int64", 5),
        (0.5, "float", 0.5),
        (math.nan, "float", "NaN"),
        (math.inf, "float", "Infinity"),
        (-math.inf, "double", "-Infinity"),
        (0.10000000149011612, "float", 0.1),
        (0.10000000149011612, "double", 0.10000000149011612),
    ],
)
def test_a_value_as_json_holds_it(value, kind, want):
    assert json_value(value, kind) == want
    assert json.loads(json.dumps(json_value(value, kind), allow_nan=False)) == want


def test_a_long_bytes_value_is_cut_for_json_and_says_its_size():
    assert json_value(b"abcdef", "bytes", cut=3) == {"bytes": "YWJj", "size": 6}
    assert json_value(b"abc", "bytes", cut=3) == "abc"


def test_a_feature_gives_its_values_for_json():
    assert only(example({"a": ("float_list", [0.1, math.nan, 3.0])})).json_values(2) == [0.1, "NaN"]
    assert only(example({"a": ("bytes_list", [b"abc", b"\xff"])})).json_values(cut=2) == [
        {"bytes": "YWI=", "size": 3},
        {"bytes": "/w=="},
    ]


@law
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_shortest_float32_reads_back_as_the_same_float32(value):
    short = shortest_float32(value)
    assert struct.pack("<f", short) == struct.pack("<f", value)
    assert len(repr(short)) <= len(repr(value))


@pytest.mark.parametrize(
    "text", ["0.1", "1e-45", "3.4028235e+38", "16777216.0", "1.0", "-0.0", "1.1754944e-38", "0.33333334", "-103.217316"]
)
def test_a_float32_is_written_as_shortly_as_it_can_be(text):
    assert repr(shortest_float32(struct.unpack("<f", struct.pack("<f", float(text)))[0])) == text


@law
@given(st.binary(max_size=20))
def test_text_holds_no_surrogate(data):
    text_of(data).encode()


# Events.


def shown(payload):
    return {view.text: (view.kind, view.json_values(), view.note) for view in read_features(payload, "event").features}


def summary(**value):
    return shown(event(wall_time=2.5, step=-3, summary={"value": [{"tag": "it", **value}]}))["it"]


def test_an_event_shows_its_time_its_step_and_its_scalar():
    assert shown(event(wall_time=2.5, step=-3, summary=scalar("loss", 0.1))) == {
        "wall_time": ("double", [2.5], ""),
        "step": ("int64", [-3], ""),
        "loss": ("float", [0.1], ""),
    }


def test_an_event_shows_its_version_and_writer():
    payload = event(file_version="brain.Event:2", source_metadata={"writer": "me"})
    assert shown(payload)["file_version"] == ("bytes", ["brain.Event:2"], "")
    assert shown(payload)["source_metadata"] == ("bytes", ["me"], "")


def test_an_event_shows_its_logs_and_graphs():
    assert shown(event(log_message={"level": 40, "message": "oh"}))["log_message"] == ("bytes", ["oh"], "error")
    assert shown(event(session_log={"status": 1, "msg": "go"}))["session_log"] == ("bytes", ["go"], "start")
    saved = {"status": 3, "checkpoint_path": "a/b"}
    assert shown(event(session_log=saved))["session_log"] == ("bytes", ["a/b"], "checkpoint")
    run = {"tag": "step 1", "run_metadata": b"x"}
    assert shown(event(tagged_run_metadata=run))["tagged_run_metadata"][2] == "tag step 1"
    assert shown(event(graph_def=b"abc"))["graph_def"] == ("bytes", ["abc"], "")


def test_an_image_a_sound_and_a_histogram_tell_their_sizes():
    image = {"height": 4, "width": 6, "colorspace": 3, "encoded_image_string": b"abc"}
    assert summary(image=image) == ("bytes", ["abc"], "image 6x4")
    audio = {"sample_rate": 8000, "num_channels": 1, "length_frames": 99, "encoded_audio_string": b"abc"}
    assert summary(audio=audio) == ("bytes", ["abc"], "audio 8000 Hz, 1 channels, 99 frames")
    assert summary(image={}) == ("bytes", [""], "image 0x0")
    assert summary(audio={}) == ("bytes", [""], "audio 0 Hz, 0 channels, 0 frames")
    assert summary(obsolete_old_style_histogram=b"x") == ("bytes", ["x"], "an obsolete histogram")
    histo = {"min": -1, "max": 2.5, "num": 3, "bucket_limit": [0, 3], "bucket": [1, 2]}
    assert summary(histo=histo) == ("double", [1.0, 2.0], "histogram of 3 values from -1 to 2.5")


def vector(size):
    return {"dim": [{"size": size}]}


@pytest.mark.parametrize(
    ("parts", "kind", "values", "note"),
    [
        ({"dtype": 1, "tensor_shape": {}, "float_val": [0.1]}, "float", [0.1], "float32 []"),
        ({"dtype": 1, "tensor_shape": {}, "tensor_content": struct.pack("<f", 0.1)}, "float", [0.1], "float32 []"),
        (
            {"dtype": 2, "tensor_shape": vector(2), "tensor_content": struct.pack("<2d", 1, 2)},
            "double",
            [1.0, 2.0],
            "float64 [2]",
        ),
        ({"dtype": 3, "tensor_shape": vector(1), "int_val": [-7]}, "int32", [-7], "int32 [1]"),
        ({"dtype": 9, "tensor_shape": vector(1), "tensor_content": struct.pack("<q", -7)}, "int64", [-7], "int64 [1]"),
        ({"dtype": 10, "tensor_shape": vector(2), "tensor_content": b"\1\0"}, "int32", [1, 0], "bool [2]"),
        ({"dtype": 7, "tensor_shape": vector(2), "string_val": [b"a", b"b"]}, "bytes", ["a", "b"], "string [2]"),
        ({"dtype": 14, "tensor_shape": vector(1), "tensor_content": b"ab"}, "bytes", ["ab"], "bfloat16 [1]"),
        ({"dtype": 14, "tensor_shape": vector(1), "half_val": [5]}, None, [], "bfloat16 [1]"),
        ({"dtype": 1, "tensor_shape": vector(0)}, "float", [], "float32 [0]"),
        ({"dtype": 2, "double_val": [0.1]}, "double", [0.1], "float64 []"),  # as PyTorch writes a scalar
    ],
)
def test_a_tensor_shows_its_numbers_or_strings(parts, kind, values, note):
    assert summary(tensor=parts) == (kind, values, f"tensor {note}")


def test_a_tensor_that_contradicts_itself_is_shown_as_bytes():
    parts = {"dtype": 1, "tensor_shape": vector(2), "tensor_content": b"abc"}
    assert summary(tensor=parts)[::2] == ("bytes", "tensor")


def test_the_plugin_of_a_summary_is_told():
    scalars = {"plugin_data": {"plugin_name": "scalars"}}
    parts = {"dtype": 1, "tensor_shape": {}, "float_val": [0.5]}
    assert summary(tensor=parts, metadata=scalars) == ("float", [0.5], "scalars: tensor float32 []")
    assert summary(metadata=scalars) == (None, [], "scalars")


def test_a_tag_of_the_name_of_a_field_is_told_apart_from_it():
    views = read_features(event(step=7, summary=scalar("step", 0.5)), "event").features
    found = [(view.kind, view.repeated, view.note) for view in views if view.text == "step"]
    assert found == [("int64", False, ""), ("float", False, "the tag of a summary, no field of the event")]


def test_a_tag_that_stands_twice_is_marked():
    twice = {"value": [{"tag": "loss", "simple_value": 1.0}, {"tag": "loss", "simple_value": 2.0}]}
    views = [view for view in read_features(event(summary=twice), "event").features if view.text == "loss"]
    assert [(view.values(), view.repeated) for view in views] == [([1.0], True), ([2.0], True)]


@law
@given(odd_wire())
def test_an_odd_event_is_read_or_refused(payload):
    try:
        for view in read_features(payload, "event").features:
            assert len(view.values()) == view.count
    except WireError as error:
        assert 0 <= error.offset <= len(payload)


@pytest.mark.tensorflow
def test_the_messages_of_the_real_tensorflow_are_read_as_it_reads_them():
    tf = pytest.importorskip("tensorflow")
    real = tf.train.Example()
    real.features.feature["f"].float_list.value.extend([0.1, math.nan, -math.inf])
    real.features.feature["i"].int64_list.value.extend([-(2**63), 2**63 - 1])
    real.features.feature["b"].bytes_list.value.extend([b"", b"\xff"])
    want = {key: theirs(feature) for key, feature in real.features.feature.items()}
    got = read_features(real.SerializeToString(), "example").features
    assert {view.text: ours(view) for view in got} == want


@pytest.mark.tensorflow
def test_an_events_file_of_the_real_tensorflow_is_read(tmp_path):
    tf = pytest.importorskip("tensorflow")
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf.summary.scalar("loss", 0.25, step=1)
        tf.summary.text("words", "hello", step=1)
        tf.summary.image("picture", tf.zeros([1, 4, 6, 3]), step=1)
    writer.close()
    (path,) = tmp_path.iterdir()
    records = [record.numpy() for record in tf.data.TFRecordDataset(str(path))]
    from tfrtool.payload.kinds import fits, kind_of

    assert {kind_of(record) for record in records} == {"event"}
    assert [fits(record, "event") for record in records] == [None] * 4
    found = {view.text: view for record in records for view in read_features(record, "event").features}
    assert found["loss"].values() == [0.25] and found["loss"].note == "scalars: tensor float32 []"
    assert found["words"].values() == [b"hello"]
    assert found["picture"].values(2) == [b"6", b"4"]
