"""schema on hostile input: bounded memory, linear time, and an answer whatever the bytes are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random

from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from kit.damage import flip
from kit.messages import (
    LEN,
    SGROUP,
    entry,
    event,
    example,
    law,
    logged,
    numbers,
    odd_wire,
    raw_example,
    sized,
    tag,
    varint,
)
from kit.schemas import batch, described, merged, peak, summed
from pytest import MonkeyPatch, mark, raises

from tfrtool.framing.encode import frame
from tfrtool.payload.features.read import read_features
from tfrtool.payload.schema import events as event_table
from tfrtool.payload.schema import table
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.event_reader import EventReader
from tfrtool.payload.schema.events import EventTable
from tfrtool.payload.schema.shards import ShardGroups
from tfrtool.payload.schema.values import DISTINCT, Numbers
from tfrtool.payload.wire import example as walker
from tfrtool.payload.wire.messages import message_class
from tfrtool.report import FileReport
from tfrtool.verbs.options import Options
from tfrtool.verbs.schema.emit.as_json import schema_fields
from tfrtool.verbs.schema.job import schema_file

pytestmark = mark.slow


def test_of_many_names_those_of_most_records_are_kept(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEATURES", 100)
    usual = entry(b"a/rather/long/name/of/the/label", numbers(3, 1))
    seldom = entry(b"a/name/that/half/of/the/records/have", numbers(3, 1))
    made = [raw_example(entry(b"%d" % n, numbers(3, 1)), usual, *[seldom] * (n % 2)) for n in range(3000)]
    schema = described(tmp_path, made[:2000], made[2000:])
    found = schema.examples
    assert (len(found.features), found.more) == (100, True)
    label = found.features[False, b"a/rather/long/name/of/the/label"]
    assert (label.present, label.missing) == (3000, None)
    assert found.features[False, b"a/name/that/half/of/the/records/have"].present == 1500


def test_a_wide_table_is_described_whole() -> None:
    payload = raw_example(*(entry(b"column_%05d" % n, numbers(3, n % 7)) for n in range(20_000)))
    found = batch([payload, payload])
    assert (len(found.features), found.more) == (20_000, False)
    assert all((feature.present, feature.missing) == (2, None) for feature in found.features.values())


def test_one_record_of_many_names_is_described_within_the_bound(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEATURES", 4000)
    payload = raw_example(*(entry(b"%05d" % n, numbers(3, n)) for n in range(20_000)))
    found = batch([payload, payload])
    assert (len(found.features), found.more, found.records) == (4000, True, 2)
    assert all((feature.present, feature.missing) == (2, None) for feature in found.features.values())


def test_very_long_names_are_dropped_before_they_fill_the_memory(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "NAMES", 1000)
    names = [b"%03d" % n * 100 for n in range(9)]
    found = merged([batch([raw_example(*[entry(name, numbers(3, 1)) for name in [b"label", *names]])])])
    assert (found.more, {name for _, name in found.features}) == (True, {b"label", *names[:3]})


def test_many_features_share_what_is_told_apart(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_CROWDED", 4)
    monkeypatch.setattr(table, "_ALL_DISTINCT", 40)
    payloads = [
        raw_example(entry(b"id", numbers(3, n)), *(entry(b"f%d" % i, numbers(3, n % 2)) for i in range(9)))
        for n in range(20)
    ]
    for found in (merged([batch(payloads)]), merged([batch(payloads[:3]), batch(payloads[3:], 3)])):
        told = {
            name: lists.values.distinct for (_, name), one in found.features.items() for lists in one.kinds.values()
        }  # type: ignore[union-attr]
        assert told == {b"id": None} | {b"f%d" % i: {0, 1} for i in range(9)}


def test_what_many_features_may_have_is_held_to_their_share_while_they_are_added_up(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_CROWDED", 4)
    monkeypatch.setattr(table, "_ALL_DISTINCT", 40)
    total = table.Table()
    for n in range(6):
        total.merge(batch([raw_example(*(entry(b"f%d" % i, numbers(3, n)) for i in range(10)))], n))
        told = [lists.values.distinct for one in total.features.values() for lists in one.kinds.values()]  # type: ignore[union-attr]
        assert told == ([set(range(n + 1))] if n < 4 else [None]) * 10


def test_memory_does_not_grow_with_the_number_of_names(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEATURES", 100)
    monkeypatch.setattr(walker, "_KNOWN_MOST", 100)

    def most(count: int) -> int:
        names = [b"name-%09d" % n for n in range(count)]
        (tmp_path / "a").write_bytes(b"".join(frame(raw_example(entry(name, numbers(3, 1)))) for name in names))
        return peak(lambda: list(schema_file(str(tmp_path / "a"), Options())))

    assert most(20_000) < 1.2 * most(10_000)


def test_of_many_plugins_under_one_tag_few_are_told_apart_and_the_others_counted(tmp_path: Path) -> None:
    names = [b"long-%d" % (n % 3) for n in range(30)] + [b"short"] * 7 + [b"p-%d" % n for n in range(100, 300)]
    events = described(tmp_path, [logged(b"tag", name) for name in names + names]).events
    assert events
    kinds = events.tags[b"tag"].kinds
    assert kinds == {"p-100": 2, "p-101": 2, "p-102": 2, "p-103": 2, "other": 2 * (30 + 7 + 196)}


def test_of_tags_that_are_long_or_many_those_of_most_values_are_kept(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(event_table, "NAMES", 3000)
    monkeypatch.setattr(event_table, "TAGS", 5)

    def kept(names: list[bytes]) -> tuple[set[bytes], bool]:
        payloads = [sized(5, *(sized(1, sized(1, name)) for name in names))]  # one event has them all
        payloads += [logged(name) for each in names for name in (each, b"loss")]
        total = EventTable()
        for payload in payloads:
            total.merge(EventReader().summarise(memoryview(payload), [0], [len(payload)], 0, "a")[0])
            assert len(total.tags) <= 10 and sum(map(len, total.tags)) <= 6000
        total.cut()
        return set(total.tags), total.more

    assert kept([b"%04d" % n * 250 for n in range(20)]) == ({b"loss", b"0000" * 250, b"0001" * 250}, True)
    assert kept([b"%d" % n for n in range(20)]) == ({b"loss", b"0", b"1", b"2", b"3"}, True)
    assert kept([b"lr"]) == ({b"loss", b"lr"}, False)


@mark.parametrize("tag_of", [lambda n: b"", lambda n: sized(1, b"%06d" % n)], ids=["one tag", "many tags"])
def test_an_event_takes_no_more_memory_the_more_values_it_has(
    tag_of: Callable[[int], bytes], monkeypatch: MonkeyPatch
) -> None:
    monkeypatch.setattr(event_table, "TAGS", 50)

    def most(count: int) -> int:
        payload = event(step=1) + sized(5, *(sized(1, tag_of(n)) for n in range(count)))
        return peak(lambda: EventReader().summarise(memoryview(payload), [0], [len(payload)], 0, "a"))

    assert most(20_000) - most(10_000) < 10_000 * 10


def test_shards_of_long_names_are_told_apart_in_little_memory(tmp_path: Path) -> None:
    def of_names(first: int) -> list[bytes]:
        return [raw_example(*(entry(b"%d" % n * 6000, numbers(3, 1)) for n in range(first, first + 20)))]

    total, same = ShardGroups(), ShardGroups()
    for n in range(10, 500, 10):
        found = merged([batch(of_names(n))])
        total.add(found, f"{n}")
        same.add(merged([batch(of_names(10))]), f"{n}")
    assert (sum(alike.files for alike in total.uncompared), same.uncompared, total.groups) == (49, [], {})
    assert len(pickle.dumps(total)) < 10_000


def test_more_different_integers_than_are_told_apart_are_forgotten() -> None:
    values = batch([example({"a": ("int64_list", [n])}) for n in range(DISTINCT + 1)]).features[False, b"a"]
    (lists,) = values.kinds.values()
    assert isinstance(lists.values, Numbers)
    assert (lists.values.distinct, lists.values.least, lists.values.greatest) == (None, 0, DISTINCT)


def test_a_list_of_very_many_values_is_read_in_pieces() -> None:
    many = example({"a": ("int64_list", range(-5, 300_000)), "b": ("float_list", [0.5] * 300_000)})
    found = batch([many])
    (ints,), (floats,) = (found.features[False, name].kinds.values() for name in (b"a", b"b"))
    assert isinstance(ints.values, Numbers) and isinstance(floats.values, Numbers)
    assert (ints.longest, ints.values.least, ints.values.greatest) == (300_005, -5, 299_999)
    assert (floats.longest, floats.values.values) == (300_000, 300_000)


def test_a_list_of_very_many_empty_values_takes_little_memory() -> None:
    unknown = sized(3, b"unknown")  # so that the record is read by itself

    def most(count: int) -> int:
        payload = raw_example(entry(b"a", sized(1, sized(1) * count))) + unknown
        return peak(lambda: batch([payload]))

    most(1)  # which imports what is imported when it is first needed
    assert most(40_000) < 1.3 * most(20_000)


def of_lists(count: int) -> bytes:
    """Forty feature lists, each of a fortieth of the steps."""
    lists = (sized(1, sized(1, b"%d" % n), sized(2, sized(1) * (count // 40))) for n in range(40))
    return sized(2, *lists)


@mark.parametrize(
    "made",
    [
        lambda count: raw_example(sized(1, sized(1, b"a"), sized(2) * count)),
        lambda count: raw_example(sized(1, sized(1, b"a"), sized(2, sized(3) * count))),
        lambda count: raw_example(sized(1, sized(1, b"a"), sized(2, sized(1) * count, sized(3) * count))),
        lambda count: raw_example(sized(1, sized(1, b"a"), sized(2, sized(1, sized(1) * count, b"\x18\1")))),
        lambda count: raw_example(entry(b"a", numbers(3, 1))) + sized(1) * count,
        lambda count: sized(2, sized(1, sized(1, b"a"), sized(2) * count)),
        of_lists,
    ],
    ids=["values of an entry", "lists", "lists of two kinds", "empty values", "features", "values of a list", "steps"],
)
@mark.parametrize("read", [lambda p: batch([p]), lambda p: read_features(p, "sequence_example")], ids=["all", "one"])
def test_a_record_takes_no_more_memory_the_more_pieces_its_features_are_in(
    made: Callable[[int], bytes], read: Callable[[bytes], object]
) -> None:
    few, many = made(8_000), made(16_000)
    read(made(40))  # which imports what is imported when it is first needed
    bytes_for_each = 10
    assert peak(lambda: read(many)) - peak(lambda: read(few)) < bytes_for_each * (len(many) - len(few))


def test_deep_nests_end_as_payloads_that_do_not_parse() -> None:
    nest = b""
    for _ in range(3000):
        nest = sized(1, nest)
    groups = tag(9, SGROUP) * 5000
    found, misfits = summed([example({"a": ("int64_list", [1])}), nest, groups])
    assert (found.records, found.features[False, b"a"].present) == (2, 1)  # of the nest the most is a name
    assert [(number, error.why) for number, error in misfits] == [(2, "groups nest more than 100 deep")]
    with raises(DecodeError):
        message_class("tensorflow", "Example").FromString(groups)


@law
@given(st.lists(st.binary(max_size=40) | odd_wire(), max_size=6), st.booleans())
def test_any_payloads_give_a_schema_and_json(payloads: list[bytes], of_examples: bool) -> None:
    import json
    import tempfile

    if of_examples:
        payloads = [example({"a": ("int64_list", [n])}) for n in range(7)] + payloads
    with tempfile.TemporaryDirectory() as folder:
        schema = described(Path(folder), payloads)
    assert schema.records + schema.misfits == len(payloads)
    json.dumps(schema_fields(schema), allow_nan=False)


def test_any_flipped_byte_leaves_all_other_records_described(tmp_path: Path) -> None:
    payloads = [example({"label": ("int64_list", [n]), "text": ("bytes_list", [b"x" * n])}) for n in range(5)]
    data = b"".join(map(frame, payloads))
    random = Random(7)
    for at in random.sample(range(len(data)), 60):
        (tmp_path / "a").write_bytes(flip(data, at, random.randrange(8)))
        *damage, schema, report = schema_file(str(tmp_path / "a"), Options())
        assert isinstance(schema, Schema) and isinstance(report, FileReport)
        assert damage and (schema.records, report.status) == (4, "damaged")


def test_sizes_that_lie_are_caught() -> None:
    sound = example({"a": ("int64_list", [1])})
    lies = [
        b"\x0a" + varint(1 << 30) + sound,
        tag(1, LEN) + varint(len(sound) + 9) + sound,
        raw_example(tag(1, LEN) + varint(99) + b"abc"),
        raw_example(entry(b"a", sized(3, tag(1, LEN) + varint(50) + b"\x01"))),
        raw_example(entry(b"a", sized(3, sized(1, b"\x80\x80")))),
        raw_example(entry(b"a", sized(3, sized(1, b"\x80" * 11 + b"\x01")))),
        raw_example(entry(b"a", sized(2, sized(1, b"abc")))),
    ]
    for lie in lies:
        found = batch([sound, lie, sound])
        assert (found.records, found.features[False, b"a"].present) == (2, 2), lie
