"""Writers that got the checksums wrong in every record: their files hold whole payloads."""

from __future__ import annotations

import pytest
from kit.damage import Walked, counted, cut, flip, ten, walked, written_by

from tfrtool.framing.layout import TFRECORD, WRONG_WRITERS, ZEROED, Layout

FILE = ten()
OTHER = ten(2).payloads
PROVED = pytest.mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
EACH = pytest.mark.parametrize("layout", [*WRONG_WRITERS, ZEROED], ids=lambda layout: layout.name)


def runs(found: Walked) -> list[tuple[str, int, tuple[tuple[int, int], ...]]]:
    return [
        (d.recovery.layout, d.recovery.records, d.recovery.pieces)
        for d in found.damage
        if d.recovery and d.recovery.layout
    ]


def test_the_right_layout_is_what_the_encoder_writes() -> None:
    assert written_by(TFRECORD, FILE.payloads) == FILE.data


@EACH
def test_a_whole_file_is_one_range_that_names_its_writer(layout: Layout) -> None:
    data = written_by(layout, FILE.payloads)
    found = walked(data)
    assert (found.payloads, found.ranges, found.faults) == ((), [(0, len(data))], ["length-crc"])
    assert runs(found) == [(layout.name, 10, ((0, len(data)),))]
    assert f"10 records were written with {layout.words}" in found.damage[0].message
    assert counted(data) == (0, list(found.damage))


@PROVED
def test_proved_payloads_are_restorable(layout: Layout) -> None:
    assert walked(written_by(layout, FILE.payloads)).restorable == 10


def test_zeros_in_place_of_checksums_prove_nothing() -> None:
    found = walked(written_by(ZEROED, FILE.payloads))
    assert (found.damage[0].recovery.method, found.restorable) == ("unverified", 0)


@PROVED
def test_a_stretch_between_sound_records_is_one_range_and_counts_its_records(layout: Layout) -> None:
    middle = written_by(layout, OTHER)
    begin, end = FILE.at[4], FILE.at[4] + len(middle)
    hurt = FILE.data[:begin] + middle + flip(FILE.data[begin:], 12)
    found = walked(hurt)
    assert found.payloads == FILE.without(4)
    assert runs(found) == [(layout.name, 10, ((begin, end),))]
    assert [d.record for d in found.damage] == [4, 14]


@PROVED
def test_a_single_record_at_the_end_is_told(layout: Layout) -> None:
    data = FILE.data + written_by(layout, [b"one"])
    found = walked(data)
    assert (found.payloads, runs(found)) == (FILE.payloads, [(layout.name, 1, ((FILE.at[10], len(data)),))])


@PROVED
def test_empty_records_are_told_too(layout: Layout) -> None:
    data = written_by(layout, [b"", b"x", b""])
    assert runs(walked(data)) == [(layout.name, 3, ((0, len(data)),))]


@PROVED
def test_a_torn_tail_is_left_out_of_the_run(layout: Layout) -> None:
    data = cut(written_by(layout, FILE.payloads), FILE.at[9] + 30)
    found = walked(data)
    assert runs(found) == [(layout.name, 9, ((0, FILE.at[9]),))]
    assert found.stretches == [(0, len(data))]


@PROVED
def test_a_damaged_payload_is_left_out_and_the_runs_beside_it_are_kept(layout: Layout) -> None:
    found = walked(flip(written_by(layout, FILE.payloads), FILE.at[4] + 20))
    assert runs(found) == [
        (layout.name, 4, ((0, FILE.at[4]),)),
        (layout.name, 5, ((FILE.at[5], FILE.at[10]),)),
    ]


@pytest.mark.parametrize("hurt", ["header", "payload"])
def test_zero_checksums_are_believed_only_from_the_first_byte_to_the_last(hurt: str) -> None:
    zeroed = written_by(ZEROED, FILE.payloads)
    data = {"header": FILE.data[: FILE.at[1]] + zeroed, "payload": zeroed + b"\1"}[hurt]
    assert runs(walked(data)) == []
