"""The walk, one fault at a time: what is kept, which bytes are damaged, and what is said of them."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from kit.damage import File, Walked, counted, cut, flip, insert, spoil, ten, walked

from tfrtool.framing.crc import masked_crc
from tfrtool.framing.encode import frame
from tfrtool.framing.messages import tensorflow

FILE = ten()
DATA, AT = FILE.data, FILE.at
FOUR = FILE.span(4)
TEXT = b"INFO:root:step 7 of 9\n"


def says(found: Walked, number: int = 0) -> str:
    return found.damage[number].message


# What is sound


def test_no_bytes_are_no_records_and_no_damage() -> None:
    assert walked(b"") == Walked((), (), ())
    assert counted(b"") == (0, [])


@pytest.mark.parametrize("file", [FILE, File((b"",) * 5), File((b"x", b"", b"yz"))])
def test_a_sound_file_gives_every_payload_at_its_offset(file: File) -> None:
    assert walked(file.data) == Walked(file.payloads, tuple(file.at[:-1]), ())
    assert counted(file.data) == (len(file.payloads), [])


def test_a_file_that_ends_between_records_is_sound() -> None:
    for number in range(10):
        assert walked(cut(DATA, AT[number])) == Walked(FILE.payloads[:number], tuple(AT[:number]), ())


# Torn tails


def test_a_tail_torn_anywhere_is_one_range_of_what_is_left_of_the_record() -> None:
    for size in range(AT[9] + 1, AT[10]):
        found = walked(cut(DATA, size))
        assert found.payloads == FILE.payloads[:9]
        assert (found.ranges, found.faults) == ([(AT[9], size)], ["torn"])
        assert (found.damage[0].record, found.restorable) == (9, 0)
        assert counted(cut(DATA, size)) == (9, list(found.damage))


def test_a_torn_first_record_is_torn() -> None:
    for size in range(1, AT[1]):
        found = walked(cut(DATA, size))
        assert (found.payloads, found.ranges, found.faults) == ((), [(0, size)], ["torn"])


def test_a_torn_payload_that_is_complete_is_offered_but_not_proved() -> None:
    for missing in (1, 2, 3, 4):
        recovery = walked(cut(DATA, len(DATA) - missing)).damage[0].recovery
        assert recovery is not None
        assert (recovery.method, recovery.pieces) == ("unverified", ((AT[9] + 12, AT[10] - 4),))
    assert walked(cut(DATA, len(DATA) - 5)).damage[0].recovery is None


def test_a_torn_tail_says_how_much_is_there() -> None:
    assert "inside a header: 3 of its 12 bytes" in says(walked(cut(DATA, AT[9] + 3)))
    assert f"28 of {len(FILE.payloads[9])} bytes of its payload" in says(walked(cut(DATA, AT[9] + 40)))
    assert "3 of the 4 bytes of its checksum are missing" in says(walked(cut(DATA, len(DATA) - 3)))


# Flipped bits


def test_a_bit_flipped_in_a_header_is_mended() -> None:
    for at in range(AT[4], AT[4] + 12):
        for bit in range(8):
            hurt = flip(DATA, at, bit)
            found = walked(hurt)
            assert (found.payloads, found.ranges, found.faults) == (FILE.without(4), [FOUR], ["length-crc"])
            assert found.recovered(hurt) == [FILE.payloads[4]]
            assert found.damage[0].record == 4


def test_two_and_three_bits_flipped_in_a_length_are_mended() -> None:
    for bits in [*combinations((0, 9, 21, 40, 63), 2), *combinations((1, 8, 30, 47, 63), 3)]:
        hurt = DATA
        for bit in bits:
            hurt = flip(hurt, AT[4] + bit // 8, bit % 8)
        found = walked(hurt)
        assert (found.ranges, found.damage[0].recovery.method) == ([FOUR], "mended-header")
        assert f"{len(bits)} bits are flipped in the length; it is {len(FILE.payloads[4])}" in says(found)
        assert found.recovered(hurt) == [FILE.payloads[4]]


def test_a_header_that_is_all_wrong_is_proved_by_the_checksum_before_the_next_one() -> None:
    for number in range(10):
        hurt = spoil(DATA, AT[number], AT[number] + 12)
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (FILE.without(number), [FILE.span(number)])
        assert (found.damage[0].recovery.method, found.recovered(hurt)) == ("lost-header", [FILE.payloads[number]])


def test_a_bit_flipped_in_a_payload_loses_that_record_alone() -> None:
    for at in range(AT[4] + 12, AT[5] - 4):
        found = walked(flip(DATA, at, at % 8))
        assert (found.payloads, found.ranges, found.faults) == (FILE.without(4), [FOUR], ["data-crc"])
        assert found.damage[0].recovery is None


def test_a_bit_flipped_in_a_stored_data_checksum_leaves_the_payload_proved() -> None:
    for at in range(AT[5] - 4, AT[5]):
        for bit in range(8):
            hurt = flip(DATA, at, bit)
            found = walked(hurt)
            assert (found.ranges, found.damage[0].recovery.method) == ([FOUR], "stored-checksum")
            assert found.recovered(hurt) == [FILE.payloads[4]]


def test_two_bits_flipped_in_a_stored_data_checksum_prove_nothing() -> None:
    found = walked(flip(flip(DATA, AT[5] - 4, 1), AT[5] - 2, 6))
    assert (found.ranges, found.faults, found.restorable) == ([FOUR], ["data-crc"], 0)


def test_a_damaged_header_before_a_damaged_payload_costs_that_record_alone() -> None:
    hurt = flip(DATA, AT[4] + 20)
    for begin, end in ((0, 8), (8, 12), (0, 12)):
        found = walked(spoil(hurt, AT[4] + begin, AT[4] + end))
        assert (found.payloads, found.ranges, found.restorable) == (FILE.without(4), [FOUR], 0)


def test_a_length_that_still_leads_on_says_that_its_record_is_lost() -> None:
    found = walked(flip(flip(DATA, AT[4] + 20), AT[4] + 9))
    assert (found.faults, found.damage[0].record) == (["length-crc"], 4)
    assert f"the length of {len(FILE.payloads[4])} still leads to the next record" in says(found)


def test_the_checksums_that_disagree_are_told() -> None:
    at = AT[4]
    payload, stored = flip(FILE.payloads[4], 0), int.from_bytes(DATA[AT[5] - 4 : AT[5]], "little")
    found = walked(flip(DATA, at + 12)).damage[0]
    assert (found.want, found.got) == (masked_crc(payload), stored)
    found = walked(flip(DATA, at)).damage[0]
    assert (found.want, found.got) == (
        masked_crc(flip(DATA[at : at + 8], 0)),
        int.from_bytes(DATA[at + 8 : at + 12], "little"),
    )
    found = walked(cut(DATA, at + 20)).damage[0]
    assert (found.want, found.got) == (None, None)


# Neighbours


@pytest.mark.parametrize(
    ("offset", "ways"),
    [
        ((12, 12), [None, None]),
        ((0, 0), ["mended-header", "mended-header"]),
        ((0, 12), ["mended-header", None]),
        ((12, 0), [None, "mended-header"]),
    ],
)
def test_two_damaged_neighbours_are_two_ranges(offset: tuple[int, int], ways: list[str | None]) -> None:
    found = walked(flip(flip(DATA, AT[4] + offset[0]), AT[5] + offset[1]))
    assert (found.payloads, found.ranges) == (FILE.without(4, 5), [FOUR, FILE.span(5)])
    assert [d.recovery and d.recovery.method for d in found.damage] == ways
    assert [d.record for d in found.damage] == [4, 5]


def test_a_header_that_is_all_wrong_behind_a_damaged_payload_is_proved_all_the_same() -> None:
    hurt = spoil(flip(DATA, AT[4] + 20), AT[5], AT[5] + 12)
    found = walked(hurt)
    assert (found.payloads, found.ranges) == (FILE.without(4, 5), [FOUR, FILE.span(5)])
    assert found.recovered(hurt) == [FILE.payloads[5]]


@pytest.mark.parametrize(("first", "last"), [(4, 5), (0, 1), (8, 9), (2, 7), (0, 9)])
def test_lost_headers_one_after_the_other_cost_no_payload(first: int, last: int) -> None:
    numbers = range(first, last + 1)
    hurt = DATA
    for number in numbers:
        hurt = spoil(hurt, AT[number], AT[number] + 12)
    found = walked(hurt)
    assert (found.payloads, found.stretches) == (FILE.without(*numbers), [(AT[first], AT[last + 1])])
    assert found.recovered(hurt) == list(FILE.payloads[first : last + 1])


def test_every_payload_damaged_is_ten_ranges() -> None:
    hurt = DATA
    for begin in AT[:-1]:
        hurt = flip(hurt, begin + 12)
    found = walked(hurt)
    assert (found.payloads, found.ranges) == ((), [FILE.span(number) for number in range(10)])
    assert counted(hurt) == (10, [])


# Numbers and words


def test_records_are_numbered_as_they_stand_in_the_file() -> None:
    hurt = flip(flip(flip(DATA, AT[2]), AT[5] + 12), AT[9] - 1)
    assert [d.record for d in walked(hurt).damage] == [2, 5, 8]


def test_bytes_of_no_record_have_no_number_and_count_as_none() -> None:
    hurt = insert(flip(DATA, AT[6] + 12), AT[4], TEXT)
    assert [d.record for d in walked(hurt).damage] == [None, 6]


def test_what_tensorflow_says_is_told_of_the_first_damage_alone() -> None:
    found = walked(cut(flip(flip(DATA, AT[2]), AT[5] + 12), len(DATA) - 1))
    assert [("TensorFlow" in d.message) for d in found.damage] == [True, False, False]
    assert f"'corrupted record at {AT[2]}'" in says(found)
    assert f"'corrupted record at {AT[4] + 12}'" in says(walked(flip(DATA, AT[4] + 12)))
    assert f"'truncated record at {AT[9]}'" in says(walked(cut(DATA, len(DATA) - 1)))
    assert "TensorFlow takes this for a clean end" in says(walked(cut(DATA, AT[9] + 11)))


def test_every_sentence_is_one_line_without_an_end_mark() -> None:
    assert not tensorflow("torn", 0, 3).endswith(".")
    random = Random(3)
    for _ in range(100):
        hurt = spoil(DATA, begin := random.randrange(len(DATA)), begin + random.randrange(40))
        for damage in walked(hurt).damage:
            assert damage.message
            assert "\n" not in damage.message
            assert not damage.message.endswith(".")


def test_frames_are_those_of_the_encoder() -> None:
    assert walked(frame(b"abc") + frame(b"")).payloads == (b"abc", b"")
