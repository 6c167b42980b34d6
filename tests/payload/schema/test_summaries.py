"""schema: what it says of features and their values, of conflicts, of shards, and of other kinds of records."""

from __future__ import annotations

import gzip
from pathlib import Path
from struct import pack

import pytest
from google.protobuf.message import DecodeError
from kit.damage import flip
from kit.messages import (
    entry,
    event,
    example,
    logged,
    numbers,
    ofrecord,
    ordered,
    raw_example,
    scalar,
    sequence,
    sized,
    tensor,
)
from kit.schemas import batch, described, peak
from pytest import mark

import tfrtool
from tfrtool.cli.printers.schema import lines, sentences
from tfrtool.errors import UnsupportedError
from tfrtool.framing.encode import frame
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.event_reader import EventReader
from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.summarize import summarise
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Numbers
from tfrtool.payload.wire.example import HeaderCache
from tfrtool.payload.wire.messages import message_class
from tfrtool.payload.wire.reader import LONG_NAME
from tfrtool.report import FileReport
from tfrtool.verbs.options import Options
from tfrtool.verbs.schema.emit.as_json import schema_fields
from tfrtool.verbs.schema.emit.forms import emit
from tfrtool.verbs.schema.findings import findings, is_label, looks_like_label
from tfrtool.verbs.schema.job import schema_file

JPEG = b"\xff\xd8\xff\xc0\0\x0b\x08\0\x20\0\x10\x01\x01\x11\0"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\0"


def ints(*values: int) -> tuple[str, list[int]]:
    return "int64_list", list(values)


def floats(*values: float) -> tuple[str, list[float]]:
    return "float_list", list(values)


def blobs(*values: bytes) -> tuple[str, list[bytes]]:
    return "bytes_list", list(values)


def feature(payloads: list[bytes], name: str = "a", is_list: bool = False) -> Feature:
    return batch(payloads).features[is_list, name.encode()]


def of_a(*lists: object) -> Feature:
    """The feature `a` of Examples that each have one of these lists, or None for no feature at all."""
    return feature([example({"a": one} if one else {"b": ints(1)}) for one in lists])


def said(schema: Schema) -> list[tuple[str, int | None]]:
    return [(one.what, one.place.record if one.place else None) for one in findings(schema)]


# Kinds, presence and lengths


def test_a_feature_tells_its_kind_its_presence_and_the_lengths_of_its_lists() -> None:
    found = of_a(ints(1), ints(1, 2, 3), ints())
    assert (found.kind, found.present, found.missing, found.shortest, found.longest) == ("int64", 3, None, 0, 3)


@mark.parametrize("gap", [0, 1, 4])
def test_the_first_record_without_a_feature_is_named(gap: int) -> None:
    found = of_a(*(None if n == gap else ints(1) for n in range(5)))
    assert (found.present, found.missing and found.missing.record) == (4, gap)


def test_a_feature_that_comes_late_is_missing_in_the_first_record(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"b": ints(1)})] * 3, [example({"a": ints(1), "b": ints(1)})])
    missing = schema.examples.features[False, b"a"].missing
    assert missing and (missing.path, missing.record) == (str(tmp_path / "shard-0"), 0)


def test_two_kinds_of_one_feature_are_told_with_the_first_record_of_the_rarer(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ints(1) if n < 5 else floats(1)}) for n in range(8)])
    assert schema.examples.features[False, b"a"].set_kinds == ["int64", "float"]
    assert said(schema) == [("kinds", 5)]
    (one,) = findings(schema)
    assert one.message.startswith("a: int64 in 5 records, float in 3 records; the first float is in record 5 of ")


def test_features_without_a_kind_are_counted_apart() -> None:
    found = feature([example({"a": None}), example({"a": ints(1)})])
    assert {kind: lists.records for kind, lists in found.kinds.items()} == {None: 1, "int64": 1}
    assert (found.kind, found.present) == ("int64", 2)


def test_a_name_that_stands_twice_counts_once_and_its_last_value_holds() -> None:
    twice = raw_example(entry(b"a", numbers(3, 1)), entry(b"b", numbers(3, 9)), entry(b"a", numbers(3, 5)))
    found = feature([raw_example(entry(b"a", numbers(3, 4))), twice])
    assert (found.present, found.repeated, found.first_repeated and found.first_repeated.record) == (2, 1, 1)
    values = found.kinds["int64"].values
    assert isinstance(values, Numbers) and values.distinct == {4, 5}


@mark.parametrize("name", ["a", "a" * (LONG_NAME + 1)], ids=["short", "long"])
def test_the_first_records_with_the_fewest_and_the_most_values_are_known(name: str) -> None:
    (lists,) = feature([example({name: ints(*[7] * n), "b": ints(1)}) for n in (3, 3, 1, 5, 1, 5)], name).kinds.values()
    assert (lists.shortest, lists.short_at.record, lists.longest, lists.long_at.record) == (1, 2, 5, 3)


# What values are


def test_integers_tell_their_range_and_how_many_are_different() -> None:
    values = of_a(ints(3, 3), ints(-1), ints(2**40)).kinds["int64"].values
    assert isinstance(values, Numbers)
    assert (values.least, values.greatest, values.distinct, values.fits_int32) == (-1, 2**40, {3, -1, 2**40}, False)


@mark.parametrize("value", [0, 1, 127, 128, 2**14, 2**21, 2**31 - 1, 2**35, 2**49, 2**56, 2**63 - 1, -1, -(2**63)])
def test_integers_of_every_length_are_read_right(value: int) -> None:
    around = [value, min(value + 1, 2**63 - 1)]
    for lists in ([ints(one) for one in around], [ints(*around)], [ints(one) for one in around * 3]):
        values = of_a(*lists).kinds["int64"].values
        assert isinstance(values, Numbers)
        assert (values.least, values.greatest, values.distinct) == (around[0], around[-1], set(around))


def test_floats_tell_their_finite_range_and_count_what_is_not_finite() -> None:
    nan, inf = float("nan"), float("inf")
    values = of_a(floats(nan, 1.5), floats(-inf, -2.0), floats(inf)).kinds["float"].values
    assert isinstance(values, Numbers)
    assert (values.least, values.greatest, values.nan, values.infinite) == (-2.0, 1.5, 1, 2)


def test_few_repeated_integers_from_zero_look_like_a_label_and_others_do_not() -> None:
    def label(*values: int) -> bool:
        found = of_a(*map(ints, values)).kinds["int64"].values
        assert isinstance(found, Numbers)
        return looks_like_label(found)

    assert label(*[0, 1, 2] * 4) and label(*[1, 2] * 4) and label(*[-1, 0, 1] * 4)
    assert not label(*range(10)) and not label(*[7, 8] * 4) and not label(*[0, 10**6] * 4) and not label(0, 0, 0)


def test_counts_are_no_labels_however_few_there_are(tmp_path: Path) -> None:
    def label(name: str, *values: int) -> bool:
        (lists,) = feature([example({name: ints(value)}) for value in values], name).kinds.values()
        assert isinstance(lists.values, Numbers)
        return is_label(name.encode(), lists.values)

    few = [0, 1, 2] * 4
    assert label("label", *few) and label("image/class/label", 1, 2, 1, 2) and label("classId", *few)
    assert not label("qty", *few) and not label("x", *few) and not label("valid", *few)
    assert label("x", *few * 50) and not label("x", *[1, 2, 3] * 200) and not label("x", *[0, 2] * 200)
    assert not label("num_boxes", *few * 50) and not label("class_count", *few)


@mark.parametrize(
    ("value", "kind", "detail"),
    [
        (JPEG, "jpeg", "16x32"),
        (PNG, "png", "7x5"),
        (b"GIF89a\x03\0\x04\0", "gif", "3x4"),
        (b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0", "wav", "1 channel, 8000 Hz"),
        (b"fLaC" + bytes(40), "flac", ""),
        (b"ID3\3\0\0\0\0\0\0", "mp3", ""),
        ("grün".encode(), "utf-8", ""),
        (b"Basel, or Rome", "utf-8", ""),
        (b'{"a": [1]}', "json", ""),
        (b"[" + b"1, " * 4000 + b"1]", "json", ""),
        (gzip.compress(b"x", mtime=0), "gzip", ""),
        (tensor(dtype=1, tensor_shape={"dim": [{"size": 2}]}, tensor_content=bytes(8)), "tensor", "float32 [2]"),
        (example({"x": ints(1)}), "example", ""),
        (b"", "empty", ""),
        (bytes(range(200, 256)), "raw", ""),
        (bytes([200]) * 10**6, "raw", ""),
        (b"long text " * 1000, "utf-8", ""),
        (b"\xc3\xa4" * 127 + b"a\xc3\xa4" * 99, "utf-8", ""),
    ],
)
def test_bytes_tell_what_they_hold(value: bytes, kind: str, detail: str) -> None:
    held = of_a(blobs(value)).contents
    assert list(held) == [kind]
    assert list(held[kind].details) == ([detail] if detail else [])
    among = of_a(blobs(b"text"), blobs(value, value), blobs(b"more")).contents
    assert {one: (held.values, held.first.record) for one, held in among.items()} == (
        {"utf-8": (4, 0)} if kind == "utf-8" else {"utf-8": (2, 0), kind: (2, 1)}
    )


def test_the_sizes_of_images_are_counted_and_the_first_odd_one_out_is_named(tmp_path: Path) -> None:
    payloads = [example({"a": blobs(PNG if n == 6 else JPEG)}) for n in range(9)]
    schema = described(tmp_path, payloads)
    assert schema.examples.features[False, b"a"].contents["jpeg"].details == {"16x32": 8}
    assert schema.examples.features[False, b"a"].contents["jpeg"].forms == {"grey": 8}
    assert said(schema) == [("content", 6)]


def test_no_large_value_is_copied_to_learn_its_kind() -> None:
    view = memoryview(example({"a": blobs(bytes([200]) * (8 << 20)), "b": ints(1)}))
    found: list[Table] = []
    known = HeaderCache("example")
    assert peak(lambda: found.append(summarise(view, [0], [len(view)], 0, "a", known)[0])) < 1 << 20
    values = found[0].features[False, b"a"].kinds["bytes"].values
    assert isinstance(values, Blobs) and values.longest == 8 << 20


# Lists that belong together


# Other kinds of records


def test_a_sequence_example_has_context_and_feature_lists(tmp_path: Path) -> None:
    payloads = [
        sequence({"id": blobs(b"x")}, {"frames": [ints(1, 2)] * n, "words": [blobs(b"w"), None]}) for n in (1, 3)
    ]
    schema = described(tmp_path, payloads)
    frames = schema.examples.features[True, b"frames"]
    assert (schema.kind, frames.kind, frames.steps, frames.shortest, frames.longest) == (
        "sequence_example",
        "int64",
        (1, 3),
        2,
        2,
    )
    fields = schema_fields(schema)
    assert [one["name"] for one in fields["features"]] == ["id"]
    assert {one["name"]: one["kinds"] for one in fields["feature_lists"]} == {
        "frames": {"int64": 2},
        "words": {"bytes": 2, "unset": 2},
    }


def test_ofrecords_have_five_kinds(tmp_path: Path) -> None:
    lists = {
        "b": blobs(b"x"),
        "f": floats(0.5),
        "d": ("double_list", [1e300]),
        "i": ("int32_list", [-3, 7]),
        "l": ints(2**40),
    }
    schema = described(tmp_path, [ofrecord(lists)] * 3)
    found = {name.decode(): one for (_, name), one in schema.ofrecords.features.items()}
    assert {name: one.kind for name, one in found.items()} == {
        "b": "bytes",
        "f": "float",
        "d": "double",
        "i": "int32",
        "l": "int64",
    }
    assert [found["i"].kinds["int32"].values.least, found["d"].kinds["double"].values.least] == [-3, 1e300]  # type: ignore[union-attr]


def test_events_tell_tags_steps_times_gaps_and_restarts(tmp_path: Path) -> None:
    times = [10.0, 11.0, 12.0, 20.0, 21.0]
    steps = [0, 1, 2, 1, 2]
    payloads = [event(wall_time=9.5, file_version="brain.Event:2")]
    payloads += [event(wall_time=t, step=s, summary=scalar("loss", 1)) for t, s in zip(times, steps, strict=True)]
    events = described(tmp_path, payloads).events
    assert events is not None
    assert (events.records, events.earliest, events.latest, events.low, events.high) == (6, 9.5, 21.0, 0, 2)
    assert (events.gap, events.gap_at and events.gap_at.record) == (8.0, 4)
    assert (events.restarts, events.first_restart and events.first_restart.place.record) == (1, 4)
    tag = events.tags[b"loss"]
    assert (tag.values, tag.low, tag.high, tag.kinds) == (5, 0, 2, {"scalar": 5})


def test_scalars_of_events_tell_their_range_and_what_is_not_finite(tmp_path: Path) -> None:
    numbers = [0.5, float("nan"), -2.0, float("inf"), 3.0, float("nan")]
    payloads = [event(step=n, summary=scalar("loss", number)) for n, number in enumerate(numbers)]
    schema = described(tmp_path, payloads[:4], payloads[4:])
    assert schema.events
    found = schema.events.tags[b"loss"].numbers
    assert found and (found.least, found.greatest, found.nan, found.infinite) == (-2.0, 3.0, 2, 1)
    (tag,) = schema_fields(schema)["events"]["tags"]
    assert tag["numbers"] == {"min": -2.0, "max": 3.0, "nan": 2, "infinite": 1}
    (line,) = lines(schema)
    assert line.what == "steps 0 to 5; -2.0 to 3.0, 2 NaN, 1 infinite"


def test_tags_are_told_apart_though_they_stand_behind_their_values(tmp_path: Path) -> None:
    values = [sized(1, b"\x15" + pack("<f", 0.5) + sized(1, tag)) for tag in (b"loss", b"rate", b"loss")]
    payloads = [b"\x09" + pack("<d", 1.0) + sized(5, value) for value in values]
    events = described(tmp_path, [event(file_version="brain.Event:2"), *payloads]).events
    assert events and {name: tag.values for name, tag in events.tags.items()} == {b"loss": 2, b"rate": 1}


def test_an_event_without_a_time_was_logged_at_none(tmp_path: Path) -> None:
    timed = [event(wall_time=10.0 + n, step=n, summary=scalar("loss", 1)) for n in range(3)]
    untimed = sized(5, sized(1, sized(1, b"loss"), b"\x15" + bytes(4)))
    nan = event(wall_time=float("nan"))
    events = described(tmp_path, [b"", b"", *timed[:2], untimed, nan, timed[2], untimed]).events
    assert events and (events.records, events.earliest, events.latest) == (8, 10.0, 12.0)
    assert (events.gap, events.gap_at and events.gap_at.record) == (1.0, 3)


@mark.parametrize(
    ("long", "short"),
    [
        (b"\x18\x80\x80\x80\1", b"\x18\1" + sized(1, b"b")),  # a varint of four bytes, or of one and a tag
        (b"\x23\x10\x81\x82\1\x24", b"\x23\x10\1\x24" + sized(1, b"")),  # the same of a group
    ],
)
def test_a_value_counts_under_its_own_tag_whatever_came_before(long: bytes, short: bytes) -> None:
    one, other = logged(b"loss", b"", long), logged(b"loss", b"", short)
    assert (len(one), one[:-4]) == (len(other), other[:-4])
    found = EventReader().summarise(memoryview(one + other), [0, len(one)], [len(one), 2 * len(one)], 0, "a")[0]
    (name,) = {b"b", b""} & found.tags.keys()
    assert {tag: one.values for tag, one in found.tags.items()} == {b"loss": 1, name: 1}


def test_unknown_records_tell_their_top_fields(tmp_path: Path) -> None:
    one = sized(1, example({"x": ints(1)})) * 2 + b"\x38\x07" + b"\x45" + pack("<f", 1) + b"\x49" + bytes(8)
    unknown = described(tmp_path, [one] * 3).unknown
    assert unknown is not None
    assert {key: (found.records, found.most) for key, found in unknown.fields.items()} == {
        (1, 2): (3, 2),
        (7, 0): (3, 1),
        (8, 5): (3, 1),
        (9, 1): (3, 1),
    }
    assert list(unknown.fields[1, 2].values.contents) == ["example"]


def test_records_that_are_no_messages_tell_what_they_hold(tmp_path: Path) -> None:
    unknown = described(tmp_path, [b"plain text %d" % n for n in range(3)]).unknown
    assert unknown is not None
    assert (unknown.opaque, list(unknown.payloads.contents)) == (3, ["utf-8"])


def test_empty_records_before_the_first_example_are_examples_without_features(tmp_path: Path) -> None:
    schema = described(tmp_path, [b"", example({}), example({"a": ints(1)})])
    assert schema.kinds == {"example": 3}
    assert said(schema) == [("missing", 0)]


def test_a_file_of_empty_records_counts_as_what_the_others_hold(tmp_path: Path) -> None:
    lists = {"a": ints(1)}
    for full, kind in ((example(lists), "example"), (ofrecord({"a": ("int32_list", [1])}), "ofrecord")):
        for order in (1, -1):
            schema = described(tmp_path, *[[full] * 2, [b"", b"\n\0", b""]][::order])
            assert schema.kinds == {kind: 5}
            missing = schema.table.features[False, b"a"].missing
            assert missing == (str(tmp_path / f"shard-{1 if order == 1 else 0}"), 0)
            assert {one.what for one in findings(schema)} == {"missing", "shard"}
    both = described(tmp_path, [example(lists)] * 3, [b""] * 4, [ofrecord({"b": ("int32_list", [1])})] * 4)
    assert both.kinds == {"example": 7, "ofrecord": 4} and list(both.table.features) == [(False, b"a")]
    alone = described(tmp_path, [b"", b"\n\0"])
    assert (alone.kinds, alone.blank) == ({"unknown": 2}, 2)
    with pytest.raises(UnsupportedError, match="nothing but empty records"):
        emit(alone, "tf")


def test_any_number_of_empty_records_may_come_first(tmp_path: Path) -> None:
    schema = described(tmp_path, [b"\n\0"] * 5000 + [example({"a": ints(1)})] * 3)
    assert schema.kinds == {"example": 5003}
    missing = schema.examples.features[False, b"a"].missing
    assert missing and missing.record == 0


def test_payloads_of_another_kind_do_not_parse_and_agree_with_verify(tmp_path: Path) -> None:
    sound = example({"a": ints(1)})
    others = [event(step=1, summary=scalar("loss", 1)), b"\x08\3", ofrecord({"label": ("int32_list", [1])})]
    (tmp_path / "a").write_bytes(b"".join(map(frame, [sound, *others, sound, b"", sound])))
    *found, schema, _ = schema_file(str(tmp_path / "a"), Options())
    assert isinstance(schema, Schema)
    assert (schema.records, schema.misfits, schema.first_misfit and schema.first_misfit.record) == (4, 3, 1)
    assert found == tfrtool.verify(tmp_path / "a", payload=True).damage


NOT_TEXT = entry(b"a\xff", numbers(3, 1))
NAMES_NOT_TEXT = {
    "in the usual form": (example({"a": ints(1)}), raw_example(NOT_TEXT)),
    "that are long": (example({"a": ints(1)}), raw_example(entry(b"\xff" * 3000, numbers(3, 1)))),
    "of large records": (example({"a": ints(1)}), raw_example(NOT_TEXT, entry(b"b", sized(1, sized(1, bytes(9000)))))),
    "of an unusual form": (example({"a": ints(1)}), raw_example(sized(1, sized(2, numbers(3, 1)), sized(1, b"\xff")))),
    "of surrogates": (example({"a": ints(1)}), raw_example(entry(b"\xed\xa0\x80", numbers(3, 1)))),
    "of feature lists": (sequence({}, {"a": [ints(1)]}), sized(2, sized(1, sized(1, b"\xff")))),
    "of a context": (sequence({}, {"a": [ints(1)]}), sized(1, NOT_TEXT) + sized(2)),
    "of an OFRecord": (ofrecord({"a": ints(1)}), entry(b"\xff", numbers(5, 1))),
}
"""A sound payload, and one in which a name is not UTF-8."""


@mark.parametrize("kind", NAMES_NOT_TEXT)
@mark.parametrize("among", [1, 20])
def test_names_that_are_not_utf8_are_described_though_protobuf_and_verify_refuse_them(
    kind: str, among: int, tmp_path: Path
) -> None:
    sound, odd = NAMES_NOT_TEXT[kind]
    says = "not all readers take"
    if kind == "of an OFRecord":
        message_class("oneflow", "OFRecord").FromString(odd)
    else:
        says = "protobuf refuses"
        with pytest.raises(DecodeError, match="UTF-8"):
            message_class("tensorflow", "SequenceExample").FromString(odd)
    (tmp_path / "a").write_bytes(b"".join(map(frame, [sound] * 3 * among + [odd, sound, odd])))
    schema, report = schema_file(str(tmp_path / "a"), Options())
    assert isinstance(schema, Schema) and isinstance(report, FileReport)
    assert (schema.records, schema.misfits, report.status) == (3 * among + 3, 0, "clean")
    ((name, place, message),) = [(one.key[1], one.place, one.message) for one in findings(schema) if one.what == "name"]
    assert name.decode(errors="ignore") in ("", "a") and b"a" in [key[1] for key in schema.table.features]
    assert place is None or place.record == 3 * among
    assert message.endswith(f": the name is not UTF-8, which {says}")
    refused = [one.message for one in tfrtool.verify(tmp_path / "a", payload=True).damage]
    assert len(refused) == 2 and all("a name or text is not UTF-8" in one for one in refused)


def test_an_event_with_a_tag_that_is_not_utf8_does_not_parse(tmp_path: Path) -> None:
    odd = event() + sized(5, sized(1, sized(1, b"\xff")))
    (tmp_path / "a").write_bytes(b"".join(map(frame, [event(step=1, summary=scalar("a", 1))] * 3 + [odd])))
    *found, schema, report = schema_file(str(tmp_path / "a"), Options())
    assert isinstance(schema, Schema) and isinstance(report, FileReport)
    assert (schema.records, schema.misfits, report.status) == (3, 1, "damaged")
    assert found == tfrtool.verify(tmp_path / "a", payload=True).damage


def test_the_features_of_both_kinds_are_told_with_what_is_odd_about_each(tmp_path: Path) -> None:
    few = [ofrecord({"a": ints(1)}), ofrecord({"b": ints(1)})]
    schema = described(tmp_path, [example({"a": ints(1)})] * 3, few)
    fields = schema_fields(schema)
    (other,) = fields["others"]
    assert [(one["described"], len(one["features"])) for one in (fields, other)] == [("example", 1), ("ofrecord", 2)]
    assert (other["records"], [one["conflict"]["record"] for one in other["features"]]) == (2, [1, 0])
    assert fields["features"][0]["conflict"]["what"] == "shard"
    missing = [(one["kind"], one["feature"], one["record"]) for one in fields["findings"] if one["what"] == "missing"]
    assert missing == [("ofrecord", "a", 1), ("ofrecord", "b", 0)]
    assert [len(line.remarks) for line in lines(schema)] == [0, 1, 1]
    alone = schema_fields(described(tmp_path, few))
    assert "others" not in alone and alone["described"] == "ofrecord" and "kind" not in alone["findings"][0]


def test_a_feature_is_told_from_a_feature_list_of_its_name(tmp_path: Path) -> None:
    def of(n: int) -> bytes:
        return sequence({"id": blobs(*[b"x"] * n), "": ints(1)}, {"id": [ints(1)] * n, "": [], "l": []})

    schema = described(tmp_path, [of(1), of(2), sequence({}, {})] * 5, [of(3)] * 5, [of(2), of(3)])
    fields = schema_fields(schema)
    told = [(one["feature"], one["feature_list"], one["message"]) for one in fields["findings"]]
    named = {("id", False): "id", ("id", True): "the feature list id", ("l", True): "the feature list l"}
    named |= {("", is_list): f"the feature{' list' * is_list} without a name" for is_list in (False, True)}
    assert {key[:2] for key in told} == named.keys()
    for name, is_list, message in told:
        assert message.startswith(f"{named[name, is_list]}: ") or f": {named[name, is_list]} is " in message


def test_files_of_several_kinds_are_told(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ints(1)})] * 2, [event(step=1, summary=scalar("loss", 1))])
    assert schema.kinds == {"example": 2, "event": 1}
    assert said(schema) == [("mixed", 0)]


# Shards, samples and damage


def test_a_shard_that_differs_from_the_others_is_named(tmp_path: Path) -> None:
    usual, odd = example({"a": ints(1), "b": ints(1)}), example({"a": floats(1), "c": ints(1)})
    schema = described(tmp_path, [usual] * 2, [usual] * 2, [odd] * 2, [usual])
    found = {(one.what, one.here, one.elsewhere) for one in schema.shards.differences()}
    assert found == {("kind", "float", "int64"), ("missing", "", ""), ("extra", "", "")}
    assert {one.path for one in schema.shards.differences()} == {str(tmp_path / "shard-2")}


def test_what_is_said_of_a_whole_shard_names_no_record_of_it(tmp_path: Path) -> None:
    usual, odd = example({"a": ints(1)}), example({"a": floats(1)})
    found = schema_fields(described(tmp_path, [usual] * 2, [usual] * 2, [odd] * 2))["findings"]
    assert [(one["what"], one["path"], one["record"]) for one in found] == [
        ("kinds", str(tmp_path / "shard-2"), 0),
        ("shard", str(tmp_path / "shard-2"), None),
    ]


def test_of_two_shards_none_is_the_odd_one(tmp_path: Path) -> None:
    less, more = [example({"a": ints(1)})] * 3, [example({"a": ints(1), "b": ints(1)})] * 3
    for files, what in (((more, less), "missing"), ((less, more), "extra")):
        schema = described(tmp_path, *files)
        (found,) = schema.shards.differences()
        assert (found.what, found.most) == (what, False)
        message = next(one.message for one in findings(schema) if one.what == "shard")
        assert message.startswith("the shards differ: b is ")
        assert "most" not in message and "shard-0" in message and "shard-1" in message


def test_of_a_feature_in_some_records_only_a_shard_is_not_said_to_have_it_in_none(tmp_path: Path) -> None:
    both, less = example({"a": ints(1), "b": ints(1)}), example({"a": ints(1)})

    def told(*files: list[bytes]) -> str:
        (said,) = (one for one in sentences(described(tmp_path, *files)) if "differs" in one)
        return said.partition(": ")[2].replace(f"{tmp_path}/", "")

    usual, without = "b is in every record of most shards, and", "b is in every record of it, and"
    assert told([both] * 2, [both] * 2, [less] * 2) == f"{usual} in no record of it"
    assert told([both] * 2, [both] * 2, [both, less]) == f"{usual} missing in records of it, first in record 1"
    assert told([less] * 2, [less] * 2, [both] * 2) == f"{without} in no record of most shards"
    assert told([less] * 2, [less, both], [both] * 2) == f"{without} missing in records of most shards"


def test_of_a_feature_list_without_steps_a_shard_is_not_said_to_have_it_in_no_record(tmp_path: Path) -> None:
    usual, empty, none = sequence({}, {"l": [ints(1)]}), sequence({}, {"l": []}), sequence({"a": ints(1)}, {})
    schema = described(tmp_path, [usual] * 2, [usual] * 2, [empty, none])
    assert any("and missing in records of it, first in record 1" in one for one in sentences(schema))


def test_a_shard_with_lists_of_another_length_is_named_with_the_record(tmp_path: Path) -> None:
    def of(*lengths: int) -> list[bytes]:
        return [example({"a": floats(*[1.0] * length), "b": ints(*range(n))}) for n, length in enumerate(lengths)]

    for odd, here, record in (((3, 3, 3), "3", None), ((2, 2, 1, 3), "1 to 3", 2), ((2, 5, 2), "2 to 5", 1)):
        schema = described(tmp_path, of(2, 2, 2), of(*odd), of(2, 2, 2, 2))
        found = [(one.here, one.elsewhere, one.record, one.path) for one in schema.shards.differences()]
        assert found == [(here, "2", record, str(tmp_path / "shard-1"))]
    assert list(described(tmp_path, of(2, 2, 2), of(2, 2, 1), of(2, 2, 3)).shards.differences()) == []


def test_lists_of_few_values_in_few_records_are_of_one_length_by_chance(tmp_path: Path) -> None:
    def told(usual: int, odd: int, records: int) -> list[str]:
        files = [[example({"a": ints(*range(length))})] * records for length in (usual, odd, usual)]
        return [one.what for one in described(tmp_path, *files).shards.differences()]

    assert told(2, 3, records=2) == told(7, 6, records=2) == []
    assert told(2, 3, records=3) == told(8, 9, records=1) == ["length"]


def test_examples_beside_sequence_examples_are_told(tmp_path: Path) -> None:
    lists = sequence({"a": ints(1)}, {"words": [ints(1)]})
    schema = described(tmp_path, [lists] * 2, [example({"a": ints(1)})] * 3, [lists])
    found = next(one for one in findings(schema) if one.what == "mixed")
    assert (found.place, found.shard) == (None, str(tmp_path / "shard-1"))
    assert found.message.startswith("1 file of example records beside 2 of sequence_example records, the first ")


def test_the_first_of_all_that_conflict_is_named(tmp_path: Path) -> None:
    blob, number, score = (example({"a": one}) for one in (blobs(b"x"), ints(1), floats(1)))
    schema = described(tmp_path, [blob] * 5 + [number] * 3, [score] + [blob] * 5)
    (one,) = (one for one in findings(schema) if one.what == "kinds")
    assert one.place == (str(tmp_path / "shard-0"), 5)
    assert "the first int64 is in record 5 of " in one.message and "the first float is in record 0 of " in one.message
    many = [example({"a": blobs(one)}) for one in [JPEG] * 5 + [PNG] * 2 + [b"GIF89a\x03\0\x04\0"] + [JPEG]]
    assert said(described(tmp_path, many)) == [("content", 5)]
    other = [event(step=1, summary=scalar("loss", 1))]
    kinds = described(tmp_path, [number] * 5, other * 3, [ofrecord({"a": ("int32_list", [1])})])
    assert next(one.place for one in findings(kinds)) == (str(tmp_path / "shard-1"), 0)


def test_a_sample_says_so(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ints(n)}) for n in range(9)], n=4)
    assert (schema.records, schema.limited, schema.files[0].records) == (4, True, 4)


def test_a_sample_of_all_records_is_the_whole(tmp_path: Path) -> None:
    files = [[example({"a": ints(n)}) for n in range(5)], [example({"a": ints(7)})] * 3]
    assert described(tmp_path, *files, n=5) == described(tmp_path, *files)
    cut = described(tmp_path, *files, n=4)
    assert ([file.whole for file in cut.files], cut.limited, cut.sampled) == ([False, True], True, 1)
    assert list(sentences(cut))[-1].startswith("only the first records of 1 of 2 inputs were read")


def test_of_a_sample_nothing_is_said_of_whole_shards_nor_of_every_record(tmp_path: Path) -> None:
    full, less = example({"x": floats(1, 2), "y": ints(1)}), example({"x": floats(1)})
    shards = [full] * 3 + [less] * 3, [less] * 3 + [full] * 3, [less] * 3 + [full] * 3, [less] * 2, [full] * 2
    assert "shard" in {what for what, _ in said(described(tmp_path, *shards))}
    assert "shard" not in {what for what, _ in said(described(tmp_path, *shards[:3]))}
    sample = described(tmp_path, *shards, n=3)
    assert "shard" not in {what for what, _ in said(sample)}
    assert [group.first for group in sample.shards.groups.values()] == [str(tmp_path / f"shard-{n}") for n in (3, 4)]


def test_of_a_sample_the_kinds_of_files_are_told_as_far_as_they_were_read(tmp_path: Path) -> None:
    lists = sequence({"a": ints(1)}, {"words": [ints(1)]})
    sample = described(tmp_path, [example({"a": ints(1)})] * 2 + [lists], [lists] * 3, n=2)
    (one,) = (one for one in findings(sample) if one.what == "mixed")
    assert "beside 1 of sequence_example records as far as they were read, the first" in one.message
    blank = described(tmp_path, [b""] * 2 + [example({"a": ints(1)})], n=2)
    assert "all records read are empty, like Examples and OFRecords without features" in sentences(blank)
    with pytest.raises(UnsupportedError, match="first records of the inputs hold nothing but empty records"):
        emit(blank, "tf")
    unset = described(tmp_path, [ordered({"a": None, "b": ints(1)})] * 2 + [example({"a": ints(1)})], n=2)
    for what in ("tf", "dali", "tfrecord", "pbtxt"):
        assert "no record that was read sets its kind" in emit(unset, what)


def test_damaged_records_are_passed_over_and_payloads_that_do_not_parse_are_damage(tmp_path: Path) -> None:
    sound, broken = example({"a": ints(1)}), example({"a": ints(1)})[:-1] + b"\x80"
    data = b"".join(map(frame, [sound, broken, sound, sound]))
    (tmp_path / "a").write_bytes(flip(data, len(data) - 10))
    *found, schema, report = schema_file(str(tmp_path / "a"), Options())
    assert isinstance(schema, Schema) and isinstance(report, FileReport)
    assert [one.fault for one in found] == ["payload", "data-crc"]  # type: ignore[union-attr]
    size = len(frame(sound))
    assert (found[0].begin, found[0].end, found[0].record) == (size, 2 * size, 1)  # type: ignore[union-attr]
    assert (schema.records, schema.misfits, schema.first_misfit and schema.first_misfit.record) == (2, 1, 1)
    assert (report.status, report.records) == ("damaged", 2)


def test_one_odd_record_does_not_hide_its_neighbours(tmp_path: Path) -> None:
    odd = raw_example(sized(1, sized(2, numbers(3, 7)), sized(1, b"a")))
    payloads = [example({"a": ints(n)}) for n in range(40)]
    payloads[17] = odd
    found = described(tmp_path, payloads).examples.features[False, b"a"]
    assert (found.present, found.missing) == (40, None)


def test_the_library_raises_where_a_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(tfrtool.OpenError):
        tfrtool.schema(tmp_path / "nowhere")
