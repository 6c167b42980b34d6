"""Protobuf classes made at run time: what they are named, and what their lenient twins show."""

import subprocess
import sys

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.message import DecodeError
from hypothesis import given
from kit.messages import entry, example, examples, law, numbers, ofrecord, raw_example, sized

from tfrtool.payload.wire import messages
from tfrtool.payload.wire.messages import messages as outline

EXAMPLE = messages.message_class("tensorflow", "Example")
LENIENT = messages.message_class("tensorflow", "Example", lenient=True)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("package", "name"), [("tensorflow", "Example"), ("tensorflow", "Event"), ("oneflow", "OFRecord")]
)
def test_each_class_has_the_name_of_its_message_and_is_made_once(package, name, lenient):
    made = messages.message_class(package, name, lenient=lenient)
    assert made.DESCRIPTOR.full_name == f"{package}.{name}"
    assert messages.message_class(package, name, lenient=lenient) is made


def test_an_example_is_the_bytes_that_tensorflow_writes():
    assert example({"label": ("int64_list", [1, -1])}) == raw_example(entry(b"label", numbers(3, 1, 2**64 - 1)))


def test_the_lists_of_an_ofrecord_are_packed_and_numbered_as_oneflow_does():
    assert ofrecord({"a": ("int32_list", [1, 2])}) == entry(b"a", numbers(4, 1, 2))
    assert ofrecord({"a": ("int64_list", [1, 2])}) == entry(b"a", numbers(5, 1, 2))
    assert ofrecord({"a": ("double_list", [0.0])}) == entry(b"a", sized(3, sized(1, bytes(8))))


def test_the_classes_do_not_live_in_the_default_pool():
    assert EXAMPLE.DESCRIPTOR.file.pool is not descriptor_pool.Default()


def test_the_strict_class_refuses_a_name_that_is_not_utf8_and_the_twin_shows_it():
    payload = raw_example(entry(b"\xff", numbers(3, 7)))
    with pytest.raises(DecodeError):
        EXAMPLE.FromString(payload)
    (shown,) = LENIENT.FromString(payload).features.feature
    assert (shown.key, list(shown.value.int64_list.value)) == (b"\xff", [7])


def test_the_lenient_twin_shows_repeated_names_in_their_order():
    payload = raw_example(entry(b"b", numbers(3, 1)), entry(b"a", numbers(3, 2)), entry(b"b", numbers(3, 3)))
    assert [shown.key for shown in LENIENT.FromString(payload).features.feature] == [
        b"b",
        b"a",
        b"b",
    ]


@law
@given(examples)
def test_what_a_twin_read_the_strict_class_reads_from_it(payload):
    strict, lenient = (
        EXAMPLE,
        LENIENT,
    )
    again = strict.FromString(lenient.FromString(payload).SerializeToString())
    assert again.SerializeToString(deterministic=True) == strict.FromString(payload).SerializeToString(
        deterministic=True
    )


def test_reading_kinds_and_features_does_not_import_protobuf():
    code = (
        "import sys; from tfrtool.payload import kinds as k; from tfrtool.payload.features import read as f;"
        "f.read_features(bytes([10, 0]), 'example'); k.kind_of(b'x'); k.fits(b'x', 'event');"
        "sys.exit(any(name.startswith('google') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.tensorflow
def test_every_field_is_that_of_the_real_tensorflow():
    event_pb2 = pytest.importorskip("tensorflow.core.util.event_pb2")
    example_pb2 = pytest.importorskip("tensorflow.core.example.example_pb2")
    real = {}

    def gather(message):
        name = message.full_name.removeprefix("tensorflow.").replace("Summary.", "Summary").split(".")[-1]
        if name not in real:
            real[name] = message
            for field in message.fields:
                if field.message_type:
                    gather(field.message_type)

    for message in (event_pb2.Event, example_pb2.Example, example_pb2.SequenceExample):
        gather(message.DESCRIPTOR)
    opaque = {"ResourceHandleProto", "DtypeAndShape", "VariantTensorDataProto"}
    entries = {"FeatureEntry", "FeatureListEntry"}
    assert set(real) - opaque - entries == set(outline("tensorflow"))
    for name, members in outline("tensorflow").items():
        want = {
            f.number: (f.name, f.is_repeated, f.containing_oneof and f.containing_oneof.name) for f in real[name].fields
        }
        assert {m.number: (m.name, m.repeated or m.map, m.oneof) for m in members} == want
        for member in members:
            ours = messages.message_class("tensorflow", name).DESCRIPTOR.fields_by_number[member.number]
            theirs = real[name].fields_by_number[member.number]
            enum, hidden = theirs.TYPE_ENUM, theirs.message_type and theirs.message_type.name in opaque
            assert ours.type == {enum: theirs.TYPE_INT32}.get(theirs.type, ours.TYPE_BYTES if hidden else theirs.type)


@pytest.mark.tensorflow
def test_both_sets_of_classes_live_in_one_process_and_read_each_other():
    tf = pytest.importorskip("tensorflow")
    ours = EXAMPLE()
    ours.features.feature["a"].float_list.value.append(0.5)
    theirs = tf.train.Example.FromString(ours.SerializeToString())
    assert EXAMPLE.FromString(theirs.SerializeToString()) == ours
    parsed = tf.io.parse_single_example(ours.SerializeToString(), {"a": tf.io.FixedLenFeature([], tf.float32)})
    assert float(parsed["a"]) == 0.5
