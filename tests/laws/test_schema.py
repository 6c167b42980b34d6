"""A schema is the same however its records are cut, and agrees with a reader that goes through them one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from itertools import accumulate

from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    a_feature,
    entry,
    example,
    examples,
    feature_maps,
    law,
    numbers,
    odd_wire,
    ofrecords,
    raw_example,
    sequences,
    sized,
    varint,
)
from kit.schemas import PATH, batch, merged, pieces, plainly, shown, summed
from pytest import MonkeyPatch, mark

from tfrtool.payload.content.detect import content_of
from tfrtool.payload.schema import packed_numbers as numbers_of
from tfrtool.payload.schema import summarize as summary
from tfrtool.payload.schema import table
from tfrtool.payload.schema.columns import blobs_of
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.packed_numbers import integers
from tfrtool.payload.schema.summarize import add, stop_counting
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import DISTINCT, Blobs, Numbers, RecordPlace
from tfrtool.payload.wire.example import HeaderCache
from tfrtool.payload.wire.messages import message_class
from tfrtool.payload.wire.reader import LONG_NAME, read_varint, signed64

pytestmark = mark.slow

begins = st.sampled_from(
    (
        *(
            b"GIF89a",
            b"RIFF\x10\0\0\0WEBPVP8 ",
            b"BM",
            b"II*\0",
            b"OggS",
            b"ID3\3",
            b"fLaC\0",
            b"\xff\xd8\xff",
            b"\x1f\x8b\x08",
        ),
        *(b"{", b"[1, 2", b"x^", b"x\x9c", b"\x0a", b"", b"a" * 127, b"a" * 128, "é".encode() * 64, b"a" * 200 + b"\0"),
    )
)
ends = st.sampled_from((b"", b"\0", b"}", b"]", "é".encode(), "é".encode()[:1])) | st.binary(max_size=200)
values = st.lists(st.builds(lambda begin, end: begin + end, begins, ends), min_size=1, max_size=8)
cuts = st.lists(st.integers(0, 50), max_size=4)
some_examples = st.lists(examples, max_size=8)
long_name = "n" * (LONG_NAME + 1)
of_long_names = st.builds(lambda few, one: example(few | {long_name: one}), st.just({}) | feature_maps, a_feature)
few_names = st.tuples(st.sampled_from((b"a", b"b", b"c", b"d")), st.integers(0, 3) | st.just(1 << 40))
repeating = st.lists(few_names.map(lambda one: entry(one[0], numbers(3, one[1]))), max_size=4)
mixed = st.lists(
    examples | of_long_names | sequences | odd_wire() | repeating.map(lambda some: raw_example(*some)), max_size=8
)
repeated = st.builds(
    lambda few, which: [few[i % len(few)] for i in which],
    st.lists(examples | of_long_names, min_size=1, max_size=3),
    st.lists(st.integers(0, 9), max_size=20),
)


@law
@given(mixed | repeated, cuts)
def test_any_cut_of_examples_gives_the_same(payloads: list[bytes], at: list[int]) -> None:
    cut, whole = merged(pieces(payloads, at)), merged([batch(payloads)])
    assert (cut, shown(cut)) == (whole, shown(whole))


@law
@given(st.lists(repeating.map(lambda some: raw_example(*some)), max_size=9), cuts)
def test_any_cut_of_examples_with_names_that_stand_twice_shows_the_same(payloads: list[bytes], at: list[int]) -> None:
    cut, whole = merged(pieces(payloads, at)), merged([batch(payloads)])
    assert (cut, shown(cut)) == (whole, shown(whole))


@law
@given(
    st.lists(values.map(lambda some: raw_example(entry(b"a", sized(1, *(sized(1, v) for v in some))))), max_size=8),
    cuts,
)
def test_any_cut_of_values_of_any_content_shows_the_same(payloads: list[bytes], at: list[int]) -> None:
    cut, whole = merged(pieces(payloads, at)), merged([batch(payloads)])
    assert (cut, shown(cut)) == (whole, shown(whole))


@law
@given(st.lists(ofrecords, max_size=8), cuts)
def test_any_cut_of_ofrecords_gives_the_same(payloads: list[bytes], at: list[int]) -> None:
    cut, whole = merged(pieces(payloads, at, "ofrecord")), merged([batch(payloads, family="ofrecord")])
    assert (cut, shown(Schema(ofrecords=cut))) == (whole, shown(Schema(ofrecords=whole)))


@law
@given(some_examples, some_examples, some_examples)
def test_merging_is_associative_and_leaves_the_right_side_alone(
    one: list[bytes], two: list[bytes], three: list[bytes]
) -> None:
    a, b, c = (batch(payloads, 100 * i) for i, payloads in enumerate((one, two, three)))
    before = deepcopy((b, c))
    left, right = merged([merged([a, b]), c]), merged([a, merged([b, c])])
    assert (left, shown(left)) == (right, shown(right))
    assert (b, c) == before


@law
@given(mixed | repeated, cuts)
def test_a_table_that_is_spent_adds_what_it_adds_else(payloads: list[bytes], at: list[int]) -> None:
    total = Table()
    for part in pieces(payloads, at):
        total.merge(part, spent=True)
    total.cut()
    assert total == merged(pieces(payloads, at))


def added(payloads: Sequence[bytes], family: str = "example") -> Table:
    """The table of large records, each added to those before it."""
    total, known = Table(), HeaderCache(family)  # type: ignore[arg-type]
    for number, payload in enumerate(payloads):
        add(total, memoryview(b"head" + payload + b"tail"), [4], [4 + len(payload)], number, PATH, known)
        stop_counting(known, total)
    total.cut()
    return total


def of_three(value: bytes, label: Sequence[int], weight: bytes, order: slice = slice(None)) -> bytes:
    entries = (
        entry(b"value", sized(1, sized(1, value))),
        entry(b"label", numbers(3, *label)),
        entry(b"weight", sized(2, sized(1, weight))),
    )
    return raw_example(*entries[order])


integer = st.integers(0, (1 << 64) - 1) | st.integers(0, 300)
usual = st.builds(of_three, values.map(b"".join), st.tuples(integer), st.binary(min_size=4, max_size=4))
orders = st.sampled_from((slice(None), slice(None, None, -1), slice(2), slice(1, 1)))
labels = st.lists(integer, max_size=2) | st.sampled_from(((1 << 70,), ((1 << 64) - 1, 5)))
unusual = st.builds(of_three, values.map(b"".join), labels, st.binary(max_size=8) | st.just(bytes(4)), orders)
value_only = begins.map(lambda value: entry(b"value", sized(1, sized(1, value))))
twice = st.builds(lambda one, two: raw_example(one + one + two), value_only, value_only)
cut_off = st.just(of_three(b"a", [7], bytes(4)).replace(b"\x03\n\x01\x07", b"\x03\n\x01\x87"))
alike = st.lists(usual | unusual | twice, max_size=2).flatmap(
    lambda few: st.lists(usual, min_size=2, max_size=5).flatmap(
        lambda many: st.lists(unusual | twice | cut_off, max_size=3).map(lambda more: few + many + more + many)
    )
)
"""Examples of three features, nearly always with one value each."""


@law
@given(alike)
def test_large_records_that_are_added_one_by_one_give_the_same(payloads: list[bytes]) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(summary, "LARGE", 0)
        one_by_one, whole = added(payloads), merged([batch(payloads)])
        assert (one_by_one, shown(one_by_one)) == (whole, shown(whole))


def test_of_large_records_of_the_same_features_one_table_is_made(monkeypatch: MonkeyPatch) -> None:
    tables: list[object] = []
    whole = summary.summarise
    monkeypatch.setattr(summary, "summarise", lambda *given: (tables.append(given), whole(*given))[1])
    payload = raw_example(entry(b"value", sized(1, sized(1, bytes(9000)))), entry(b"label", numbers(3, 300)))
    assert added([payload] * 5).records == 5
    assert len(tables) == 1


@law
@given(st.lists(ofrecords, max_size=8))
def test_large_ofrecords_that_are_added_one_by_one_give_the_same(payloads: list[bytes]) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(summary, "LARGE", 0)
        assert added(payloads, "ofrecord") == merged([batch(payloads, family="ofrecord")])


@law
@given(mixed)
def test_an_empty_table_is_the_identity(payloads: list[bytes]) -> None:
    one = batch(payloads)
    assert merged([Table(), one]) == merged([one]) == merged([one, Table()])


@law
@given(repeated)
def test_what_is_remembered_of_headers_changes_nothing(payloads: list[bytes]) -> None:
    known = HeaderCache("example")
    first = batch(payloads, known=known)
    assert batch(payloads, known=known) == first == batch(payloads)


def test_which_features_are_kept_does_not_hang_on_the_cut(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEATURES", 5)
    names = [b"%d" % (n * 7919 % 1000) for n in range(60)]
    payloads = [raw_example(entry(name, numbers(3, 1))) for name in names]
    whole = merged([batch(payloads)])
    assert all(merged(pieces(payloads, [at, at * 3, at * 7])) == whole for at in range(1, 50, 7))
    assert whole.more
    assert {name for _, name in whole.features} == set(sorted(set(names), key=lambda name: (len(name), name))[:5])


@law
@given(st.lists(st.lists(st.integers(0, 30), max_size=9), min_size=1, max_size=12), cuts)
def test_what_stands_in_every_record_is_kept_whole_however_many_other_names_there_are(
    rows: list[list[int]], at: list[int]
) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(table, "FEATURES", 12)  # more than a record has
        payloads = [
            raw_example(*(entry(b"%d" % n, numbers(3, n)) for n in row), entry(b"long name", numbers(3, 7)))
            for row in rows
        ]
        found = merged(pieces(payloads, at))
    assert found.features[False, b"long name"] == batch(payloads).features[False, b"long name"]
    assert len(found.features) <= 12


told_apart = st.sampled_from((DISTINCT, 2))


def same_facts(found_by_us: Table, payloads: Sequence[bytes], kind: str) -> None:
    """Every fact of the table that the slow reader knows too."""
    found = plainly(payloads, kind)
    assert {name for is_list, name in found_by_us.features if not is_list} == found.keys()
    for name, plain in found.items():
        feature = found_by_us.features[False, name]
        assert feature.present == plain.present
        assert (None if feature.missing is None else feature.missing.record) == plain.missing
        assert {kind: lists.records for kind, lists in feature.kinds.items()} == {
            kind: len(counts) for kind, counts in plain.kinds.items()
        }
        for kind_of, counts in plain.kinds.items():
            lists = feature.kinds[kind_of]
            assert (lists.shortest, lists.longest) == (min(counts), max(counts))
            if len(plain.kinds) == 1:
                same_values(lists.values, plain.values)


@law
@given(values)
def test_many_values_hold_what_each_of_them_holds(values: list[bytes]) -> None:
    stops = list(accumulate(map(len, values)))
    spans = list(zip([0, *stops], stops, strict=False))
    found = blobs_of(b"".join(values), spans, lambda i: RecordPlace(PATH, i)).contents
    each = [content_of(value).kind for value in values]
    assert {kind: held.values for kind, held in found.items()} == Counter(each)
    assert [(kind, held.first.record) for kind, held in found.items()] == [
        (kind, each.index(kind)) for kind in dict.fromkeys(each)
    ]


def same_values(sums: Numbers | Blobs | None, values: list[object]) -> None:
    if isinstance(sums, Blobs):
        sizes = [len(value) for value in values]  # type: ignore[arg-type]
        assert (sums.values, sums.bytes, sum(held.values for held in sums.contents.values())) == (
            len(sizes),
            sum(sizes),
            len(sizes),
        )
    elif isinstance(sums, Numbers):
        finite = [value for value in values if math.isfinite(value)]  # type: ignore[arg-type]
        assert sums.values == len(values)
        assert sums.nan == sum(value != value for value in values)
        assert sums.infinite == len(values) - len(finite) - sums.nan
        if finite:
            assert (sums.least, sums.greatest) == (min(finite), max(finite))  # type: ignore[type-var]
        if sums.distinct is not None and values and isinstance(values[0], int):
            assert sums.distinct == set(values)


@law
@given(mixed | repeated, told_apart)
def test_examples_are_described_as_a_plain_reader_sees_them(payloads: list[bytes], distinct: int) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(numbers_of, "DISTINCT", distinct)
        same_facts(batch(payloads), payloads, "sequence_example")


@law
@given(st.lists(ofrecords | odd_wire(), max_size=8), told_apart)
def test_ofrecords_are_described_as_a_plain_reader_sees_them(payloads: list[bytes], distinct: int) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(numbers_of, "DISTINCT", distinct)
        same_facts(batch(payloads, family="ofrecord"), payloads, "ofrecord")


near_edges = st.sampled_from((0, 1, 1 << 62, 1 << 63, (1 << 63) + 1, (1 << 64) - 2, (1 << 64) - 1, 5 << 64))
drawn_out = st.builds(varint, integer | near_edges | near_edges, st.sampled_from((0, 0, 3, 10, 10)))


@law
@given(st.lists(drawn_out, min_size=1, max_size=12), told_apart)
def test_the_least_and_the_greatest_integer_are_found_in_whatever_form(varints: list[bytes], distinct: int) -> None:
    numbers = Numbers(set())
    with MonkeyPatch.context() as patch:
        patch.setattr(numbers_of, "DISTINCT", distinct)
        integers([b"".join(varints)], numbers, narrow=False)
    each = [signed64(read_varint(one, 0, len(one))[0]) for one in varints]
    assert (numbers.least, numbers.greatest, numbers.values) == (min(each), max(each), len(each))


@law
@given(odd_wire() | st.binary(max_size=4).map(lambda name: raw_example(entry(name, numbers(3, 1)))))
def test_what_protobuf_refuses_for_more_than_a_name_is_not_described(payload: bytes) -> None:
    try:
        message_class("tensorflow", "SequenceExample", lenient=True).FromString(payload)
    except DecodeError:
        assert [number for number, _ in summed([payload])[1]] == [0]
