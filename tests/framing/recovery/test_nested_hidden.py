"""Damage that hides records from what would prove them, and records that hold record files: nothing of those comes out.

What decides is what the bytes around say: where a chain of headers died, what a payload announces, and what a checksum
farther on proves.
"""

from __future__ import annotations

import pytest
from kit.damage import File, drop, insert, nest, ten, walked
from kit.messages import sized

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
    saved = [*found.payloads, *found.recovered(hurt)]
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


# In a gap


def test_a_gap_is_taken_apart_also_where_the_records_behind_it_die_at_damage() -> None:
    check(FILE, insert(insert(DATA, AT[8] + 20, TEXT), AT[4] + 4, TEXT), 4, 8)


# Records put into a record


def test_records_put_into_a_record_that_holds_records_do_not_open_it() -> None:
    check(VALUE, insert(VALUE.data, INTO_VALUE + INNER.at[1] + 20, ten(2).data[30:-30]))


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
    assert {*found.payloads, *found.recovered(hurt)} == {*FILE.payloads, *other.payloads[:3]}
