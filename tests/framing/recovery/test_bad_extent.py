"""Bytes that are zero, missing, too many or of another writer, and headers that lie: what is kept, what is damaged."""

from __future__ import annotations

import re

import pytest
from kit.damage import File, Walked, cut, drop, insert, ten, walked, zero

from tfrtool.framing.encode import header

FILE = ten()
DATA, AT = FILE.data, FILE.at
FOUR = FILE.span(4)
TEXT = b"INFO:root:step 7 of 9\n"


def says(found: Walked, number: int = 0) -> str:
    return found.damage[number].message


# Holes of zeros


def test_a_record_of_zeros_is_a_hole() -> None:
    found = walked(zero(DATA, *FOUR))
    assert (found.payloads, found.ranges, found.faults) == (FILE.without(4), [FOUR], ["zeros"])
    assert found.damage[0].record is None
    assert f"{FOUR[1] - FOUR[0]} bytes, all zero" in says(found)


def test_a_hole_over_several_records_is_one_range() -> None:
    found = walked(zero(DATA, AT[2], AT[7]))
    assert (found.payloads, found.ranges, found.faults) == (FILE.without(2, 3, 4, 5, 6), [(AT[2], AT[7])], ["zeros"])


def test_a_hole_that_begins_and_ends_inside_records_costs_those_records() -> None:
    found = walked(zero(DATA, AT[3] + 20, AT[6] + 20))
    assert found.payloads == FILE.without(3, 4, 5, 6)
    assert found.ranges == [FILE.span(3), (AT[4], AT[7])]
    assert found.faults == ["data-crc", "zeros"]


def test_a_hole_inside_a_payload_loses_that_record_alone() -> None:
    found = walked(zero(DATA, AT[4] + 20, AT[4] + 50))
    assert (found.payloads, found.ranges, found.faults) == (FILE.without(4), [FOUR], ["data-crc"])


def test_a_hole_over_a_header_leaves_the_payload_proved() -> None:
    hurt = zero(DATA, AT[4], AT[4] + 12)
    assert walked(hurt).recovered(hurt) == [FILE.payloads[4]]


@pytest.mark.parametrize("count", [12, 15, 16, 17, 32, 4096, 300_000])
def test_zeros_before_and_behind_the_records_are_holes(count: int) -> None:
    found = walked(bytes(count) + DATA + bytes(count))
    end = count + len(DATA)
    assert (found.payloads, found.ranges) == (FILE.payloads, [(0, count), (end, end + count)])
    assert found.faults == ["zeros", "zeros"]


def zeros_told(before: int, zeros: int, behind: int) -> int:
    """How long a run of zeros is said to be that stands between other bytes."""
    found = walked(DATA + b"\xff" * before + bytes(zeros) + b"\xff" * behind + DATA)
    assert found.payloads == FILE.payloads * 2
    said = re.search(rf"([0-9,]+) of them zeros from {AT[10] + before} on", says(found))
    assert said
    return int(said[1].replace(",", ""))


@pytest.mark.parametrize(("before", "zeros"), [(100, 300), (300, 600_000), (100_000, 262_144), (5000, 263_000)])
def test_the_longest_run_of_zeros_is_told(before: int, zeros: int) -> None:
    assert zeros_told(before, zeros, behind=before // 2) == zeros


@pytest.mark.parametrize("behind", [1, 3, 11, 15, 17, 63])
def test_the_last_zeros_of_a_run_are_counted_too(behind: int) -> None:
    assert zeros_told(100, 300, behind) == 300


def test_a_file_of_zeros_is_one_hole() -> None:
    assert [(d.begin, d.end, d.fault) for d in walked(bytes(1 << 20)).damage] == [(0, 1 << 20, "zeros")]


# Bytes that are missing


def test_a_record_that_lacks_bytes_of_its_header_is_proved_by_where_its_payload_begins() -> None:
    for number in (0, 4, 9):
        for missing in range(1, 13):
            hurt = drop(DATA, AT[number], AT[number] + missing)
            found = walked(hurt)
            assert (found.payloads, found.ranges) == (
                FILE.without(number),
                [(AT[number], AT[number + 1] - missing)],
            )
            assert found.recovered(hurt) == [FILE.payloads[number]]


def test_bytes_missing_inside_a_header_are_the_same() -> None:
    for begin, end in ((1, 2), (3, 9), (7, 8), (8, 12), (10, 12)):
        hurt = drop(DATA, AT[4] + begin, AT[4] + end)
        found = walked(hurt)
        assert found.ranges == [(AT[4], AT[5] - (end - begin))]
        assert found.recovered(hurt) == [FILE.payloads[4]]


def test_a_payload_that_lacks_bytes_ends_where_the_next_record_begins() -> None:
    for missing in (1, 7, 30):
        found = walked(drop(DATA, AT[4] + 20, AT[4] + 20 + missing))
        assert (found.payloads, found.ranges) == (FILE.without(4), [(AT[4], AT[5] - missing)])
        assert (found.faults, found.damage[0].record) == (["data-crc"], 4)


def test_a_footer_that_is_missing_leaves_a_payload_without_proof() -> None:
    found = walked(drop(DATA, AT[5] - 4, AT[5]))
    assert (found.payloads, found.ranges) == (FILE.without(4), [(AT[4], AT[5] - 4)])
    assert (found.damage[0].recovery.method, found.damage[0].recovery.pieces) == (
        "unverified",
        ((AT[4] + 12, AT[5] - 4),),
    )


def test_bytes_missing_from_the_end_of_one_record_and_the_begin_of_the_next_cost_both() -> None:
    found = walked(drop(DATA, AT[5] - 10, AT[5] + 10))
    assert (found.payloads, found.stretches) == (FILE.without(4, 5), [(AT[4], AT[6] - 20)])


def test_records_that_are_missing_whole_cannot_be_missed() -> None:
    assert walked(drop(DATA, AT[4], AT[6])).damage == ()


# Bytes too many


@pytest.mark.parametrize("what", [b"\0", b"\x11\0", TEXT, bytes(5), b"\xff" * 300, TEXT * 1000])
def test_bytes_between_records_are_the_only_damage(what: bytes) -> None:
    for number in (0, 4):
        found = walked(insert(DATA, AT[number], what))
        assert (found.payloads, found.ranges) == (FILE.payloads, [(AT[number], AT[number] + len(what))])
        assert (found.faults, found.damage[0].record) == (["stray" if any(what) else "zeros"], None)


def test_text_between_records_is_shown_without_its_control_characters() -> None:
    found = walked(insert(DATA, AT[4], b"\x1b[2J" + TEXT))
    assert r"they read as text: '\x1b[2JINFO:root:step 7 of 9\n'" in says(found)


def test_bytes_inside_a_payload_are_taken_out() -> None:
    for at in range(AT[4] + 12, AT[5] - 3):
        hurt = insert(DATA, at, TEXT)
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (FILE.without(4), [(AT[4], AT[5] + len(TEXT))])
        assert (found.damage[0].recovery.method, found.recovered(hurt)) == ("bytes-removed", [FILE.payloads[4]])


def test_bytes_inside_a_header_leave_the_payload_proved() -> None:
    for at in range(AT[4] + 1, AT[4] + 12):
        hurt = insert(DATA, at, TEXT)
        found = walked(hurt)
        assert (found.payloads, found.stretches) == (FILE.without(4), [(AT[4], AT[5] + len(TEXT))])
        assert found.recovered(hurt) == [FILE.payloads[4]]


def test_bytes_inside_a_footer_cost_that_record_alone() -> None:
    for at in range(AT[5] - 3, AT[5]):
        found = walked(insert(DATA, at, TEXT))
        assert (found.payloads, found.stretches) == (FILE.without(4), [(AT[4], AT[5] + len(TEXT))])


# Several writers on one path


def test_records_of_another_writer_inside_a_record_are_kept_and_the_record_is_rejoined() -> None:
    other = ten(2)
    for at in (AT[4] + 13, AT[4] + 30, AT[5] - 5):
        hurt = insert(DATA, at, other.data)
        found = walked(hurt)
        assert found.payloads == FILE.payloads[:4] + other.payloads + FILE.payloads[5:]
        assert found.ranges == [(AT[4], at), (at + len(other.data), AT[5] + len(other.data))]
        assert found.recovered(hurt) == [FILE.payloads[4]]


def test_a_shorter_file_written_over_a_longer_one_leaves_its_tail() -> None:
    short = File((b"one", b"two", b"three")).data
    found = walked(short + DATA[len(short) :])
    assert found.payloads == (b"one", b"two", b"three") + FILE.payloads[1:]
    assert found.ranges == [(len(short), AT[1])]


def test_two_files_one_after_the_other_are_one() -> None:
    assert walked(DATA + DATA).payloads == FILE.payloads * 2


# Sound headers that lie


@pytest.mark.parametrize("length", [2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1])
def test_a_stray_header_of_more_than_any_writer_makes_costs_itself_alone(length: int) -> None:
    for number in (0, 4):
        found = walked(insert(DATA, AT[number], header(length)))
        assert (found.payloads, found.ranges) == (FILE.payloads, [(AT[number], AT[number] + 12)])
        assert found.faults == ["stray"]
    found = walked(DATA + header(length))
    assert (found.payloads, found.ranges) == (FILE.payloads, [(AT[10], AT[10] + 12)])
    assert found.faults == ["torn"]


@pytest.mark.parametrize("length", [0, 1, 30, 50, 300])
def test_a_stray_header_of_a_length_that_fits_costs_itself_alone(length: int) -> None:
    found = walked(insert(DATA, AT[4], header(length)))
    assert (found.payloads, found.ranges) == (FILE.payloads, [(AT[4], AT[4] + 12)])


def test_a_header_that_claims_all_the_rest_holds_what_it_claims() -> None:
    found = walked(DATA[: AT[4]] + header(AT[10] - AT[4]) + DATA[AT[4] :] + bytes(4))
    assert (found.payloads, found.ranges) == (FILE.payloads[:4], [(AT[4], AT[10] + 16)])
    assert found.faults == ["data-crc"]


def test_a_sound_header_of_another_length_costs_that_record_alone() -> None:
    for length in (0, 20, 200, 2**40):
        hurt = DATA[: AT[4]] + header(length) + DATA[AT[4] + 12 :]
        found = walked(hurt)
        assert (found.payloads, found.stretches) == (FILE.without(4), [FOUR])


@pytest.mark.parametrize("before", [0, 3, *range(4, 13), 13, 16, 30])
def test_a_header_without_a_payload_is_no_payload_whatever_stands_before_it(before: int) -> None:
    junk, end = insert(DATA, AT[5], b"\x11" * before), AT[5] + before + 12
    for hurt in (cut(junk, end), drop(junk, end, AT[6] + before), junk[: end - 12] + header(2**40) + DATA[AT[5] :]):
        found = walked(hurt)
        assert found.recovered(hurt) == []
        assert found.stretches == [(AT[5], end)]
