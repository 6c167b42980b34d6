"""Damage that hides records from what would prove them, and records that hold record files: nothing of those comes out.

What decides is what the bytes around say: where a chain of headers died, what a payload announces, and what a checksum
farther on proves.
"""

from __future__ import annotations

import pytest
from kit.damage import File, drop, insert, nest, ten, walked
from kit.messages import entry, numbers, raw_example, sized

from tfrtool.framing.encode import frame

TEXT = b"INFO: a line of a log\n"
FILE = ten()
DATA, AT = FILE.data, FILE.at
INNER = ten(5, 20, 40)
NAME = sized(1, b"name")
BARE = File((*FILE.payloads[:3], nest(INNER), *FILE.payloads[3:]))
VALUE = File((*FILE.payloads[:3], NAME + sized(2, INNER.data) + sized(3, b"and more behind it"), *FILE.payloads[3:]))
INTO_BARE, INTO_VALUE = BARE.at[3] + 12, VALUE.at[3] + 12 + len(NAME) + 3


def check(file: File, hurt: bytes, *numbers: int) -> None:
    """These records come back, in the file's order or by a proof, and nothing that is none of the file's."""
    found = walked(hurt)
    saved = [*found.payloads, *found.rescued(hurt)]
    assert {file.payloads[number] for number in numbers} <= set(saved)
    assert not set(saved) & set(INNER.payloads)
    assert len(set(saved)) == len(saved)


# Behind a record that does not end where it claims to


@pytest.mark.parametrize("missing", [36, 60, 80])
def test_a_record_whose_header_is_lost_is_found_behind_one_that_was_cut(missing: int) -> None:
    begin = AT[5] + 5 - missing
    check(FILE, drop(DATA, max(begin, AT[4] + 13), AT[5] + 5), *(n for n in range(10) if n != 4))


def test_a_chain_that_dies_at_a_damaged_record_is_the_files_though_the_claim_covers_it() -> None:
    big = File((bytes(range(256)) * 40, *FILE.payloads))
    check(big, drop(drop(big.data, big.at[6] + 30, big.at[6] + 40), 500, 2500), 1, 2, 3, 4, 5, 7, 8, 9, 10)


def test_a_chain_that_dies_behind_a_cut_record_of_records_is_the_files() -> None:
    at = BARE.at
    hurt = drop(drop(BARE.data, at[6] + 20, at[6] + 30), INTO_BARE + INNER.at[3], INTO_BARE + INNER.at[3] + 200)
    check(BARE, hurt, 0, 1, 2, 4, 5, 7, 8, 9, 10)


# In a gap


def test_a_gap_is_taken_apart_also_where_the_records_behind_it_die_at_damage() -> None:
    check(FILE, insert(insert(DATA, AT[8] + 20, TEXT), AT[4] + 4, TEXT), 4, 8)


def test_the_record_right_behind_a_gap_may_be_damaged_itself() -> None:
    check(FILE, insert(insert(DATA, AT[5] + 20, TEXT), AT[4] + 4, TEXT), 4, 5)


@pytest.mark.parametrize("into", [1, 5, 11])
def test_bytes_in_the_header_of_a_record_that_holds_records_do_not_open_it(into: int) -> None:
    last = File((*FILE.payloads[:3], nest(INNER)))
    check(last, insert(last.data, last.at[3] + into, b"\1\2"), 0, 1, 2, 3)


def test_twelve_bytes_missing_before_a_record_that_holds_records_do_not_open_it() -> None:
    """The inner header stands where the outer one did, so the record before seems to end there."""
    check(BARE, drop(BARE.data, BARE.at[2] + 20, BARE.at[2] + 32), 0, 1, *range(3, 11))


# Records put into a record


def test_records_put_into_a_record_that_holds_records_do_not_open_it() -> None:
    check(VALUE, insert(VALUE.data, INTO_VALUE + INNER.at[1] + 20, ten(2).data[30:-30]))


def test_bytes_put_into_two_places_of_a_record_that_holds_records_do_not_open_it() -> None:
    hurt = insert(BARE.data, INTO_BARE + INNER.at[6] + 20, TEXT * 9)
    check(BARE, insert(hurt, INTO_BARE + INNER.at[2] + 20, TEXT * 9))


def test_the_last_record_put_into_another_may_be_cut_and_claim_more_than_its_place() -> None:
    put_in = frame(b"x" * 30) + frame(b"y" * 300)[:40]
    found = walked(insert(insert(DATA, AT[5] + 50, TEXT), AT[4] + 60, put_in))
    assert found.payloads == (*FILE.payloads[:4], b"x" * 30, *FILE.payloads[6:])
    check(FILE, insert(insert(DATA, AT[5] + 50, TEXT), AT[4] + 60, put_in), 4, 5)


def test_a_record_that_lost_its_header_among_those_put_into_another_comes_back() -> None:
    other = ten(2)
    hurt = insert(DATA, AT[4] + 30, other.data[5 : other.at[3]])
    check(FILE, hurt, *range(10))
    found = walked(hurt)
    assert {*found.payloads, *found.rescued(hurt)} == {*FILE.payloads, *other.payloads[:3]}


@pytest.mark.parametrize("before", [1, 6, 60])
def test_bytes_put_in_before_a_value_that_is_announced_twice_do_not_open_it(before: int) -> None:
    """In an Example the list of values announces its size too."""
    holder = raw_example(entry(b"raw", sized(1, sized(1, INNER.data))), entry(b"i", numbers(3, 7)))
    file = File((*FILE.payloads[:3], holder, *FILE.payloads[3:]))
    value = file.at[3] + 12 + holder.index(INNER.data)
    hurt = insert(insert(file.data, value + INNER.at[6] + 20, TEXT), value - 12, b"\x81" * before)
    check(file, hurt, 0, 1, 2, *range(4, 11))
