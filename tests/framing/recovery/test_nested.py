"""Records that hold record files.

Where intact records of the file hold such files too, frames of a damaged record stay in it; in an ordinary file they
come out.
"""

from __future__ import annotations

import pytest
from kit.damage import Drip, File, cut, drop, flip, insert, nest, spoil, ten, walked
from kit.messages import sized

from tfrtool.framing.encode import frame

INNER = File(ten(5, 10, 30).payloads[:4])
MANY = ten(7, 30, 60)
BESIDE = ten(3, 20, 60).payloads


def around(payload: bytes) -> File:
    """Three records, the last of which holds a record file, one that holds the payload, and three more."""
    return File((*BESIDE[:2], nest(File(BESIDE[6:8]), b"also ", b"!"), payload, *BESIDE[3:6]))


def message(inner: File) -> bytes:
    """A message whose second value is a record file, as an Example that carries one is."""
    return sized(1, b"name") + sized(2, inner.data) + sized(3, b"and what stands behind it")


BARE, VALUE, LARGE = around(nest(INNER)), around(message(INNER)), around(message(MANY))
EACH = pytest.mark.parametrize("file", [BARE, VALUE, LARGE], ids=["bare", "value", "large"])


@EACH
def test_a_sound_file_gives_the_outer_records_alone(file: File) -> None:
    assert walked(file.data).payloads == file.payloads


@EACH
def test_a_damaged_header_brings_back_the_outer_payload_whole(file: File) -> None:
    begin, end = file.span(3)
    for hurt in (flip(file.data, begin), flip(file.data, begin + 9, 3), spoil(file.data, begin, begin + 12)):
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (file.without(3), [(begin, end)])
        assert found.recovered(hurt) == [file.payloads[3]]


@EACH
def test_a_damaged_payload_loses_the_outer_record_whole(file: File) -> None:
    begin, end = file.span(3)
    for at in range(begin + 12, end - 4):
        found = walked(spoil(file.data, at, at + 1))
        assert (found.payloads, found.ranges, found.faults) == (file.without(3), [(begin, end)], ["data-crc"])


@EACH
def test_a_damaged_length_that_can_be_mended_still_tells_where_a_damaged_payload_ends(file: File) -> None:
    begin, end = file.span(3)
    hurt = spoil(flip(file.data, begin, 2), end - 8, end - 4)
    found = walked(hurt)
    assert (found.payloads, found.ranges, found.faults) == (file.without(3), [(begin, end)], ["length-crc"])


@EACH
def test_bytes_missing_anywhere_lose_the_outer_record_alone(file: File) -> None:
    begin, end = file.span(3)
    for at in range(begin + 12, end - 7):
        found = walked(drop(file.data, at, at + 7))
        assert (found.payloads, found.stretches) == (file.without(3), [(begin, end - 7)])


@EACH
def test_bytes_missing_from_the_header_bring_back_the_outer_payload(file: File) -> None:
    begin, end = file.span(3)
    for missing in range(1, 12):  # with the twelfth gone, the inner records of the bare one stand where outer ones do
        hurt = drop(file.data, begin, begin + missing)
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (file.without(3), [(begin, end - missing)])
        assert found.recovered(hurt) == [file.payloads[3]]


@EACH
def test_bytes_put_in_anywhere_are_taken_out_of_the_outer_record(file: File) -> None:
    begin, end = file.span(3)
    for at in range(begin + 12, end - 3):
        hurt = insert(file.data, at, b"INFO: a line of a log\n")
        found = walked(hurt)
        assert walked(Drip(hurt, 64)) == found
        assert (found.payloads, found.ranges) == (file.without(3), [(begin, end + 22)])
        assert found.recovered(hurt) == [file.payloads[3]]


@EACH
def test_a_cut_anywhere_leaves_one_torn_record(file: File) -> None:
    begin, end = file.span(3)
    for size in range(begin + 1, end):
        found = walked(cut(file.data, size))
        assert (found.payloads, found.ranges, found.faults) == (file.payloads[:3], [(begin, size)], ["torn"])


def test_a_cut_between_two_inner_records_is_still_the_outer_record() -> None:
    for file, before in ((BARE, 12), (VALUE, 12 + len(sized(1, b"name")) + 2)):
        begin = file.at[3] + before
        for boundary in INNER.at[:-1]:
            found = walked(cut(file.data, begin + boundary))
            assert (found.payloads, found.ranges) == (file.payloads[:3], [(file.at[3], begin + boundary)])


def test_damage_to_the_record_before_does_not_open_the_record_that_holds_others() -> None:
    for file in (BARE, VALUE, LARGE):
        for hurt in (flip(file.data, file.at[2] + 20), spoil(file.data, file.at[2], file.at[2] + 12)):
            found = walked(hurt)
            assert (found.payloads, found.ranges) == (file.without(2), [file.span(2)])


def test_record_files_three_deep_stay_closed() -> None:
    deep = around(nest(File((b"a", nest(File((b"b", nest(INNER), b"c"))), b"d"))))
    begin, end = deep.span(3)
    for at in range(begin, end):
        hurt = flip(deep.data, at, at % 8)
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (deep.without(3), [(begin, end)])


def test_the_first_and_the_last_record_may_hold_a_record_file_too() -> None:
    file = File((nest(INNER), b"between", nest(INNER)))
    for number in (0, 2):
        begin, end = file.span(number)
        for at in range(begin, end):
            hurt = flip(file.data, at, at % 8)
            found = walked(hurt)
            assert (found.payloads, found.ranges) == (file.without(number), [(begin, end)])


def test_a_record_that_holds_a_record_of_no_bytes_stays_closed() -> None:
    file = around(frame(b"") * 5)
    begin, end = file.span(3)
    for at in range(begin, end):
        assert walked(flip(file.data, at, at % 8)).payloads == file.without(3)


def test_frames_of_a_damaged_record_come_out_where_no_other_record_holds_any() -> None:
    file = File((*BESIDE[:3], nest(INNER, b"(", b")"), *BESIDE[3:6]))
    begin, end = file.span(3)
    inner = begin + 13
    hurt = spoil(spoil(file.data, begin, begin + 12), end - 5, end - 4)
    assert walked(hurt).payloads == (*BESIDE[:3], *INNER.payloads, *BESIDE[3:6])
    assert walked(cut(file.data, inner + INNER.at[2])).payloads == (*BESIDE[:3], *INNER.payloads[:2])


def test_a_record_that_its_checksum_proves_keeps_its_frames_in_any_file() -> None:
    file = File((*BESIDE[:3], nest(INNER, b"(", b")"), *BESIDE[3:6]))
    begin, end = file.span(3)
    for hurt in (
        spoil(file.data, begin, begin + 12),
        drop(file.data, begin, begin + 5),
        insert(file.data, end - 9, b"x"),
    ):
        found = walked(hurt)
        assert (found.payloads, found.recovered(hurt)) == (file.without(3), [file.payloads[3]])


def test_a_declared_extent_that_ends_at_a_header_keeps_its_frames_in_any_file() -> None:
    file = File((*BESIDE[:3], nest(INNER, b"(", b")"), *BESIDE[3:6]))
    begin, end = file.span(3)
    for hurt in (flip(file.data, begin + 12), spoil(flip(file.data, begin, 2), end - 8, end - 4)):
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (file.without(3), [(begin, end)])
