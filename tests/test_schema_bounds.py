"""schema on hostile input: bounded memory, linear time, and an answer whatever the bytes are."""

from __future__ import annotations

from pathlib import Path
from random import Random

from faults import flip
from hypothesis import given
from hypothesis import strategies as st
from messagekit import LEN, SGROUP, entry, example, law, numbers, odd_wire, raw_example, sized, tag, varint
from pytest import MonkeyPatch
from schemakit import batch, described, peak

from tfrtool.framing.encode import frame
from tfrtool.payload.schema import table, walker
from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.table import FEATURES
from tfrtool.payload.schema.values import DISTINCT, Numbers
from tfrtool.report import FileReport
from tfrtool.verbs import Options
from tfrtool.verbs.emit.as_json import schema_fields
from tfrtool.verbs.schema import schema_file


def test_of_many_names_those_that_people_give_are_kept(tmp_path: Path) -> None:
    made = (raw_example(entry(b"label", numbers(3, 1)), entry(b"token_%07d" % n, numbers(3, 1))) for n in range(12_000))
    schema = described(tmp_path, list(made))
    found = schema.examples
    assert (len(found.features), found.more, found.features[False, b"label"].present) == (FEATURES, True, 12_000)


def test_one_record_of_many_names_is_described_within_the_bound() -> None:
    payload = raw_example(*(entry(b"%05d" % n, numbers(3, n)) for n in range(20_000)))
    found = batch([payload, payload])
    assert (len(found.features), found.more, found.records) == (FEATURES, True, 2)


def test_memory_does_not_grow_with_the_number_of_names(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEATURES", 100)
    monkeypatch.setattr(walker, "_KNOWN_MOST", 100)

    def most(count: int) -> int:
        names = [b"name-%09d" % n for n in range(count)]
        (tmp_path / "a").write_bytes(b"".join(frame(raw_example(entry(name, numbers(3, 1)))) for name in names))
        return peak(lambda: list(schema_file(str(tmp_path / "a"), Options())))

    assert most(20_000) < 1.2 * most(10_000)


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

    assert most(40_000) < 1.3 * most(20_000)


def test_deep_nests_end_as_payloads_that_do_not_parse() -> None:
    nest = b""
    for _ in range(3000):
        nest = sized(1, nest)
    groups = tag(9, SGROUP) * 5000
    found = batch([example({"a": ("int64_list", [1])}), nest, groups])
    assert found.features[False, b"a"].present == 1


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
