"""The laws of the engine, on files with several accidents at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from functools import reduce

from hypothesis import given, settings
from hypothesis import strategies as st
from kit.damage import (
    Drip,
    File,
    Walked,
    counted,
    cut,
    drop,
    flip,
    insert,
    lies_at,
    nest,
    spoil,
    ten,
    walked,
    written_by,
    zero,
)
from pytest import mark

from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.encode import frame, header
from tfrtool.framing.layout import LAYOUTS
from tfrtool.report import FileReport, Summary, Tally

pytestmark = mark.slow

PLAIN = ten(3, 20, 60)
OTHER = ten(8, 5, 30)
INNER = File(ten(5, 10, 30).payloads[:4])
MIXED = File(
    PLAIN.payloads[:2] + (nest(INNER, b"(", b")"), b"", bytes(300), b"", nest(INNER), b"\n" * 50) + PLAIN.payloads[2:4]
)
FILES = [PLAIN.data, MIXED.data, File((b"",) * 8).data, *(written_by(x, MIXED.payloads) for x in LAYOUTS.values())]
LENGTHS = [0, 1, 30, 1000, 2**31, 2**40, 2**64 - 1]
EXTRA = [b"\0", b"INFO: a line\n", bytes(40), b"\xff" * 20]
FRAMES = [frame(b"one more"), OTHER.data[:90]]

many = settings(max_examples=400)


@st.composite
def accident(draw: st.DrawFn, data: bytes, writers: bool) -> bytes:
    """One more thing gone wrong with a file; `writers`: also what only another writer on the same path does to it."""
    at = draw(st.integers(0, len(data)))
    end = min(len(data), at + draw(st.sampled_from([1, 2, 4, 9, 12, 16, 60, 200])))
    if at < end:
        kinds = ["flip", "flip", "spoil", "zero", "drop", "cut", "insert", *(["header", "again"] if writers else [])]
    else:
        kinds = ["insert"]
    kind = draw(st.sampled_from(kinds))
    if kind == "flip":
        return flip(data, at, draw(st.integers(0, 7)))
    if kind == "insert":
        return insert(data, at, draw(st.sampled_from(EXTRA + FRAMES * writers)))
    if kind == "header":
        return insert(data, at, header(draw(st.sampled_from(LENGTHS))))
    if kind == "again":
        return insert(data, draw(st.integers(0, len(data))), data[at:end])
    return cut(data, at) if kind == "cut" else {"spoil": spoil, "zero": zero, "drop": drop}[kind](data, at, end)


@st.composite
def accidents(draw: st.DrawFn, data: bytes, *, writers: bool = True) -> bytes:
    for _ in range(draw(st.integers(1, 5))):
        data = draw(accident(data, writers))
    return data


hurt_files = st.sampled_from(FILES).flatmap(accidents)


# Law 1


@many
@given(hurt_files)
def test_frames_and_damage_tile_the_stream(data: bytes) -> None:
    walked(data)
    counted(data)


@many
@given(hurt_files)
def test_what_is_given_as_sound_is_a_frame_that_stands_there(data: bytes) -> None:
    found = walked(data)
    for at, payload in zip(found.offsets, found.payloads, strict=True):
        assert data.startswith(frame(payload), at)


@many
@given(hurt_files)
def test_pieces_of_a_rescue_lie_in_order_from_their_range_on(data: bytes) -> None:
    for damage in walked(data).damage:
        ends = [damage.begin, *(end for piece in damage.recovery.pieces for end in piece)] if damage.recovery else []
        assert ends == sorted(ends)
        assert not ends or (ends[1] <= damage.end and ends[-1] <= len(data))


@many
@given(hurt_files)
def test_a_walk_over_what_was_saved_is_clean(data: bytes) -> None:
    found = walked(data)
    saved = File(found.payloads + tuple(found.recovered(data)))
    assert walked(saved.data) == Walked(saved.payloads, tuple(saved.at[:-1]), ())


# Nothing invented, nothing lost, where no record holds records


@many
@given(accidents(PLAIN.data, writers=False))
def test_nothing_is_invented(data: bytes) -> None:
    found = walked(data)
    assert {*found.payloads, *found.recovered(data)} <= set(PLAIN.payloads)


@many
@given(accidents(PLAIN.data, writers=False))
def test_no_record_that_stands_whole_is_lost(data: bytes) -> None:
    whole = lies_at(map(frame, PLAIN.payloads), data)
    assert set(whole) <= set(walked(data).offsets)


# Law 3


@many
@given(hurt_files, st.sampled_from([1, 2, 7, 64, 4096]), st.booleans())
def test_any_chunking_gives_the_same_and_asks_for_nothing_forgotten(data: bytes, step: int, sized: bool) -> None:
    assert walked(Drip(data, step, sized=sized)) == walked(data)
    assert counted(Drip(data, step, sized=sized)) == counted(data)


# Law 2

counts = st.integers(0, 2**40)
faults = st.dictionaries(st.sampled_from(["torn", "zeros", "stray"]), st.integers(1, 9)).map(Counter)
tallies = st.builds(Tally, counts, counts, counts, counts, faults)
numbers = {one.name: counts for one in fields(Summary) if one.name != "faults"}
summaries = st.builds(Summary, **numbers, faults=faults)
damages = st.builds(
    lambda begin, size, fault, records: Damage(
        begin, begin + size, fault, recovery=Recovery("lost-header", records, ((begin, begin),)) if records else None
    ),
    counts,
    counts,
    st.sampled_from(["torn", "zeros", "stray", "data-crc"]),
    st.integers(0, 3),
)
reports = st.builds(
    FileReport,
    path=st.just("a"),
    status=st.sampled_from(["clean", "damaged", "foreign", "error"]),
    records=counts,
    bytes=st.none() | counts,
    damaged_bytes=counts,
    restorable=counts,
    faults=faults,
)


@given(tallies | summaries, st.data())
def test_merging_is_associative_and_has_an_identity(a: Tally | Summary, data: st.DataObject) -> None:
    same = tallies if isinstance(a, Tally) else summaries
    b, c = data.draw(same), data.draw(same)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(type(a)()) == type(a)().merge(a) == a


@given(tallies | summaries)
def test_merging_changes_neither_operand(a: Tally | Summary) -> None:
    before = repr(a)
    a.merge(a).faults["torn"] += 1
    assert repr(a) == before


@given(st.lists(damages, max_size=8), st.lists(st.integers(0, 8), max_size=3))
def test_any_split_of_the_damage_gives_the_same_tally(found: list[Damage], cuts: list[int]) -> None:
    def tallied(part: list[Damage]) -> Tally:
        total = Tally()
        for damage in part:
            total.add(damage)
        return total

    edges = [0, *sorted(cuts), len(found)]
    parts = [tallied(found[begin:end]) for begin, end in zip(edges, edges[1:], strict=False)]
    assert reduce(Tally.merge, parts, Tally()) == tallied(found)


@given(st.lists(reports, max_size=8), st.integers(0, 8), st.integers(0, 3))
def test_any_split_of_the_files_gives_the_same_summary(files: list[FileReport], at: int, missing: int) -> None:
    parts = Summary.of(files[:at], missing).merge(Summary.of(files[at:]))
    assert parts == Summary.of(files, missing)
    assert parts.exit == max([3 * (f.status == "error") or f.status != "clean" for f in files] + [missing > 0])
