"""Laws of schema beyond one table of features: events, unknown records, files and shards, however they are cut."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import entry, events, law, logged, numbers, odd_wire, of_kind, raw_example, sized
from kit.schemas import PATH, batch, shown
from pytest import MonkeyPatch, mark

from tfrtool.payload.kinds import fits
from tfrtool.payload.schema import shards
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.event_reader import EventReader
from tfrtool.payload.schema.events import PLUGINS, EventTable
from tfrtool.payload.schema.shards import ShardGroups
from tfrtool.payload.schema.unknown import WireTable, summarise_wire
from tfrtool.payload.wire.messages import message_class

pytestmark = mark.slow

cuts = st.lists(st.integers(0, 50), max_size=4)


def a_text(draw: st.DrawFn) -> bytes:
    return draw(st.sampled_from((b"", b"loss", "é".encode(), b"\xc3", b"a\xffb")))


@st.composite
def events_of_odd_texts(draw: st.DrawFn) -> bytes:
    data = {"plugin_data": {"plugin_name": a_text(draw)}, "display_name": a_text(draw)}
    value = {"tag": a_text(draw), "node_name": a_text(draw), "metadata": data, "simple_value": 0.5}
    carried = {
        "file_version": a_text(draw),
        "log_message": {"message": a_text(draw)},
        "session_log": {"msg": a_text(draw), "checkpoint_path": a_text(draw)},
        "tagged_run_metadata": {"tag": a_text(draw)},
        "summary": {"value": [value, {"metadata": {"summary_description": a_text(draw)}, "simple_value": 1}]},
    }
    what = draw(st.sampled_from(sorted(carried)))
    more = {"source_metadata": {"writer": a_text(draw)}}
    message = message_class("tensorflow", "Event", lenient=True)
    return message(wall_time=1.0, **{what: carried[what]}, **more).SerializeToString(deterministic=True)


@law
@given(events_of_odd_texts())
def test_an_event_parses_where_protobuf_and_verify_take_its_texts(payload: bytes) -> None:
    reader = EventReader()
    misfits = [reader.summarise(memoryview(payload), [0], [len(payload)], n, PATH)[1] for n in range(2)]
    assert [[(0, error.offset, error.why) for _, error in one] for one in misfits] == [
        [(0, found.offset, found.why)] if (found := fits(payload, "event")) else [] for _ in range(2)
    ]
    try:
        message_class("tensorflow", "Event").FromString(payload)
    except DecodeError:
        assert misfits[0]
    else:
        assert not misfits[0]


def pieces_of_events(payloads: list[bytes], at: list[int]) -> EventTable:
    total = EventTable()
    edges = sorted({0, len(payloads), *(cut % (len(payloads) + 1) for cut in at)})
    for begin, end in zip(edges, edges[1:], strict=False):
        data = b"".join(payloads[begin:end])
        stops = [len(b"".join(payloads[begin : i + 1])) for i in range(begin, end)]
        total.merge(EventReader().summarise(memoryview(data), [0, *stops][:-1], stops, begin, PATH)[0])
    return total


parts_of_values = st.sampled_from(
    (
        *(sized(1, b"a"), sized(1, b"b"), b"\x15" + bytes(4), sized(8, bytes(4)), sized(4, sized(1, b"b"))),
        *(b"\x18\x80\x80\x80\1", b"\x18\1", b"\x2b\x08\1\x2c", b"\x2b\x2c", b"\x23\x08\7\x10\x8a\1\x24"),
    )
)
summary_values = st.lists(parts_of_values, min_size=1, max_size=4).map(lambda parts: sized(1, *parts))
odd_events = st.lists(summary_values, max_size=4).map(lambda many: sized(5, *many))


@law
@given(st.lists(events | odd_events, max_size=8), cuts)
def test_any_cut_of_events_gives_the_same(payloads: list[bytes], at: list[int]) -> None:
    cut, whole = pieces_of_events(payloads, at), pieces_of_events(payloads, [])
    assert (repr(cut), shown(Schema(events=cut))) == (repr(whole), shown(Schema(events=whole)))


@law
@given(st.lists(st.sampled_from("abcdefg"), max_size=30), cuts)
def test_which_plugins_are_told_apart_does_not_hang_on_the_cut(names: list[str], at: list[int]) -> None:
    payloads = [logged(b"tag", name.encode()) for name in names]
    whole = pieces_of_events(payloads, [])
    assert repr(pieces_of_events(payloads, at)) == repr(whole)
    for tag in whole.tags.values():
        apart = sorted(set(names))[:PLUGINS]
        counts = {name: names.count(name) for name in apart}
        assert tag.kinds == counts | ({"other": rest} if (rest := len(names) - sum(counts.values())) else {})


@law
@given(st.lists(odd_wire(), max_size=6), st.integers(0, 6))
def test_any_cut_of_unknown_records_gives_the_same(payloads: list[bytes], at: int) -> None:
    def table_of(some: list[bytes], first: int) -> WireTable:
        data = b"".join(some)
        stops = [len(b"".join(some[: i + 1])) for i in range(len(some))]
        return summarise_wire(memoryview(data), [0, *stops][:-1], stops, first, PATH)

    whole, parts = WireTable(), WireTable()
    whole.merge(table_of(payloads, 0))
    for some, first in ((payloads[:at], 0), (payloads[at:], len(payloads[:at]))):
        parts.merge(table_of(some, first))
    assert (parts, shown(Schema(unknown=parts))) == (whole, shown(Schema(unknown=whole)))


@mark.parametrize("kind", ["example", "ofrecord"])
@law
@given(data=st.data())
def test_schemas_of_files_merge_to_the_same(kind: str, data: st.DataObject) -> None:
    def one(number: int) -> Schema:
        found = batch(data.draw(st.lists(of_kind[kind], max_size=3)), 10 * number, kind)
        made = Schema(examples=found) if kind == "example" else Schema(ofrecords=found)
        made.shards.add(found, f"{number}")
        return made

    a, b, c = map(one, range(3))
    left, right, inner = Schema(), Schema(), Schema()
    for part in (a, b, c):
        left.merge(part)
    for part in (b, c):
        inner.merge(part)
    for part in (a, inner):
        right.merge(part)
    assert (left, shown(left)) == (right, shown(right))


def shards_of(files: Sequence[int], at: int, before: int = 0) -> ShardGroups:
    """Those of files that have one of some features each; cut, and both halves cut again, as `at` says."""
    total = ShardGroups()
    if len(files) > 1:
        stop = 1 + at % (len(files) - 1)
        for part, first in ((files[:stop], before), (files[stop:], before + stop)):
            total.merge(shards_of(part, at // 3, first))
    for which in files if len(files) == 1 else ():
        names = [b"%d" % n for n in range(8) if which >> n & 1]
        total.add(batch([raw_example(*(entry(name, numbers(3, 1)) for name in names))] * 3), f"{before}")
    return total


@law
@given(st.lists(st.integers(0, 255) | st.integers(0, 3), max_size=9), st.integers(0, 10**6))
def test_shards_of_any_cut_are_the_same_and_none_is_lost(files: list[int], at: int) -> None:
    with MonkeyPatch.context() as patch:
        patch.setattr(shards, "FEATURES", 3)
        patch.setattr(shards, "GROUPS", 2)
        one_by_one, cut = shards_of(files, 0), shards_of(files, at)
    assert one_by_one == cut and list(one_by_one.groups) == list(cut.groups)
    narrow = list(dict.fromkeys(which for which in files if which.bit_count() <= 3))[:2]
    compared = [n for n, which in enumerate(files) if which in narrow]
    assert sum(group.files for group in cut.groups.values()) == len(compared)
    others = {which: f"{n}" for n, which in reversed([*enumerate(files)]) if which not in narrow}
    assert {alike.first for alike in cut.beyond.values()} == set(others.values())
    assert sum(alike.files for alike in cut.beyond.values()) == len(files) - len(compared)
