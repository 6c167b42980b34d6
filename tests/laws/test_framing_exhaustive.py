"""Every byte of small files, damaged in every way: nothing is invented, nothing that stands whole is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
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
    without_inner,
    written_by,
    zero,
)
from kit.messages import sized

from tfrtool.framing.encode import frame
from tfrtool.framing.layout import LAYOUTS, Layout

pytestmark = pytest.mark.slow

PLAIN = File(ten(3, 20, 60).payloads[:6])
INNER = File(ten(5, 10, 30).payloads[:3])
HOLDS_FILES = File(
    PLAIN.payloads[:2]
    + (sized(1, b"label") + sized(2, INNER.data) + b"and more", nest(INNER), b"")
    + PLAIN.payloads[2:4]
)
EMPTY = File((b"", b"", b"x", b"", b""))
TINY = File((b"a", b"bc", b"", b"def", b"gh"))
FILES = {"plain": PLAIN, "record files inside": HOLDS_FILES, "empty records": EMPTY, "tiny records": TINY}

WAYS: dict[str, Callable[[bytes, int], bytes]] = {
    "a bit flipped": lambda data, at: flip(data, at, at % 8),
    "a byte changed": lambda data, at: spoil(data, at, at + 1),
    "the file cut": cut,
    "a byte missing": lambda data, at: drop(data, at, at + 1),
    "seven bytes missing": lambda data, at: drop(data, at, at + 7),
    "two bytes too many": lambda data, at: insert(data, at, b"\x11\0"),
    "text too many": lambda data, at: insert(data, at, b"INFO: a line\n"),
    "64 zeros too many": lambda data, at: insert(data, at, bytes(64)),
    "nine bytes of zeros": lambda data, at: zero(data, at, at + 9)[: len(data)],
}
WIDE: dict[str, Callable[[bytes, int], bytes]] = {
    "100 bytes missing": lambda data, at: drop(data, at, at + 100),
    "200 bytes of zeros": lambda data, at: zero(data, at, at + 200)[: len(data)],
}

each_file = pytest.mark.parametrize("file", FILES.values(), ids=FILES)


def saved(found: Walked, data: bytes) -> list[bytes]:
    return [*found.payloads, *found.recovered(data)]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@each_file
def test_one_small_accident_anywhere_invents_nothing_and_loses_no_whole_record(
    file: File, way: Callable[[bytes, int], bytes]
) -> None:
    frames = [frame(payload) for payload in file.payloads]
    for at in range(len(file.data)):
        hurt = way(file.data, at)
        found = walked(hurt)
        assert set(without_inner(saved(found, hurt), hurt, file.payloads, INNER.payloads)) <= set(file.payloads), at
        whole = {p for p, one in zip(file.payloads, frames, strict=True) if one in hurt}
        assert whole <= set(found.payloads), at


@pytest.mark.parametrize("way", WIDE.values(), ids=WIDE)
def test_one_wide_accident_anywhere_invents_nothing_where_no_record_holds_records(
    way: Callable[[bytes, int], bytes],
) -> None:
    for at in range(len(PLAIN.data)):
        hurt = way(PLAIN.data, at)
        found = walked(hurt)
        assert set(saved(found, hurt)) <= set(PLAIN.payloads), at
        assert set(found.offsets) == set(lies_at(map(frame, PLAIN.payloads), hurt)), at


@each_file
def test_a_flip_anywhere_is_confined_to_its_record(file: File) -> None:
    for number in range(len(file.payloads)):
        begin, end = file.span(number)
        for at in range(begin, end):
            for bit in range(0, 8, 3):
                found = walked(flip(file.data, at, bit))
                assert (found.payloads, found.ranges) == (file.without(number), [(begin, end)]), (at, bit)


@each_file
def test_a_cut_anywhere_leaves_the_records_before_it_and_one_torn_range(file: File) -> None:
    for size in range(len(file.data)):
        whole = sum(end <= size for end in file.at[1:])
        found = walked(cut(file.data, size))
        hurt = file.data[:size]
        own = without_inner(found.payloads, hurt, file.payloads, INNER.payloads)
        assert own == list(file.payloads[:whole])
        if len(own) < len(found.payloads):
            continue
        assert found.ranges == [(file.at[whole], size)] * (size > file.at[whole])
        assert found.faults == ["torn"] * len(found.damage)


@pytest.mark.parametrize("way", [*WAYS.values(), *WIDE.values()], ids=[*WAYS, *WIDE])
@each_file
def test_a_walk_over_headers_agrees_wherever_no_payload_is_damaged(
    file: File, way: Callable[[bytes, int], bytes]
) -> None:
    for at in range(len(file.data)):
        hurt = way(file.data, at)
        found = walked(hurt)
        records, damage = counted(hurt)
        if "data-crc" not in found.faults:
            assert (records, damage) == (len(found.payloads), list(found.damage)), at
        else:
            assert records >= len(found.payloads), at


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_no_accident_to_a_wrong_writers_file_invents_anything(
    layout: Layout, way: Callable[[bytes, int], bytes]
) -> None:
    data = written_by(layout, TINY.payloads)
    for at in range(len(data)):
        hurt = way(data, at)
        found = walked(hurt)
        counted(hurt)
        assert set(saved(found, hurt)) <= set(TINY.payloads), at
        for damage in found.damage:
            if damage.recovery and damage.recovery.layout:
                ((begin, end),) = damage.recovery.pieces
                assert hurt[begin:end] in data


@each_file
def test_a_pipe_gives_the_same_as_a_file_whatever_byte_is_changed(file: File) -> None:
    for at in range(len(file.data)):
        for way in (WAYS["a byte changed"], WAYS["the file cut"], WAYS["seven bytes missing"]):
            hurt = way(file.data, at)
            assert walked(Drip(hurt, 7)) == walked(hurt)
            assert counted(Drip(hurt, 7)) == counted(hurt)
