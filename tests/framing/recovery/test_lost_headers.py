"""Several records with lost headers in one gap: what their data checksums still prove."""

from __future__ import annotations

from random import Random

import pytest
from kit.damage import Drip, File, drop, insert, nest, spoil, ten, walked

from tfrtool.framing.encode import footer, header
from tfrtool.framing.recovery import budget

FILE = ten()
DATA, AT = FILE.data, FILE.at


def headless(file: File, first: int, last: int) -> bytes:
    """The file with the headers of these records overwritten."""
    hurt = file.data
    for number in range(first, last + 1):
        hurt = spoil(hurt, file.at[number], file.at[number] + 12)
    return hurt


def saved(hurt: bytes, file: File) -> list[int]:
    """The numbers of the records that the damage brings back."""
    return [file.payloads.index(payload) for payload in walked(hurt).recovered(hurt)]


def unverified(hurt: bytes, file: File) -> list[int]:
    """The numbers of the records that are found by nothing but a checksum."""
    pieces = [d.recovery.pieces[0] for d in walked(hurt).damage if d.recovery and d.recovery.method == "unverified"]
    return [file.payloads.index(hurt[begin:end]) for begin, end in pieces]


@pytest.mark.parametrize(("first", "last"), [(0, 1), (3, 6), (8, 9), (0, 9)])
def test_each_record_is_a_range_of_its_own(first: int, last: int) -> None:
    hurt = headless(FILE, first, last)
    found = walked(hurt)
    numbers = range(first, last + 1)
    assert found.payloads == FILE.without(*numbers)
    assert found.ranges == [FILE.span(number) for number in numbers]
    assert [d.record for d in found.damage] == list(numbers)
    assert saved(hurt, FILE) == list(numbers)
    assert walked(Drip(hurt, 7)) == found


@pytest.mark.parametrize("destroyed", [3, 4, 5, 6])
def test_a_record_that_is_destroyed_costs_itself_alone(destroyed: int) -> None:
    hurt = spoil(headless(FILE, 3, 6), AT[destroyed] + 12, AT[destroyed + 1] - 4)
    found = walked(hurt)
    assert (found.payloads, found.stretches) == (FILE.without(3, 4, 5, 6), [(AT[3], AT[7])])
    # One alone beside the destroyed one was found among many offsets by its checksum, and by nothing else.
    alone = {4: [3], 5: [6]}.get(destroyed, [])
    assert saved(hurt, FILE) == [number for number in (3, 4, 5, 6) if number not in (destroyed, *alone)]
    assert unverified(hurt, FILE) == alone
    assert FILE.span(destroyed) in found.ranges


def test_a_header_that_lost_bytes_or_got_more_does_not_hide_those_around_it() -> None:
    cut_short = drop(headless(FILE, 3, 5), AT[4] + 2, AT[4] + 7)
    assert saved(cut_short, FILE) == [3, 4, 5]
    too_long = insert(headless(FILE, 3, 5), AT[4] + 2, b"INFO: a line of a log\n")
    assert (saved(too_long, FILE), unverified(too_long, FILE)) == ([4, 5], [3])
    for hurt in (cut_short, too_long):
        assert walked(hurt).payloads == FILE.without(3, 4, 5)


@pytest.mark.slow
@pytest.mark.parametrize("total", [1_100_000, 1_500_000, 3_000_000])
@pytest.mark.parametrize("size", [10_000, 65_000])
def test_a_gap_of_more_than_a_megabyte_is_taken_apart_all_the_same(size: int, total: int) -> None:
    file = File(tuple(Random(n).randbytes(size) for n in range(total // size)))
    last = len(file.payloads) - 2
    hurt = headless(file, 1, last)
    found = walked(hurt)
    assert found.payloads == (file.payloads[0], file.payloads[-1])
    assert saved(hurt, file) == list(range(1, last + 1))
    assert walked(Drip(hurt, 1 << 16)) == found


@pytest.mark.parametrize("kept", [0, 1, 3, 12])
def test_among_many_offsets_a_payload_is_believed_with_three_bytes_of_its_header(kept: int) -> None:
    noise = File((b"a", Random(1).randbytes(300_000), Random(2).randbytes(100), b"b"))
    begin, header_begin = noise.at[1], noise.at[2]
    hurt = spoil(spoil(noise.data, begin, header_begin), header_begin, header_begin + 12 - kept)
    found = walked(hurt)
    assert found.stretches[0][0] == begin
    assert (noise.payloads[2] in [*found.payloads, *found.recovered(hurt)]) == (kept >= 3)


def test_a_header_amid_a_gap_is_no_payload_of_eight_bytes() -> None:
    for before in (12, 40):
        for behind in (12, 20, 100):
            what = b"\x11" * before + header(2**40) + b"\x22" * behind
            hurt = insert(DATA, AT[5], what)
            found = walked(hurt)
            assert (found.payloads, found.recovered(hurt)) == (FILE.payloads, [])


def test_records_inside_a_record_that_is_lost_are_not_brought_back() -> None:
    inner = File(ten(5, 10, 30).payloads[:4])
    file = File((b"before", nest(inner, b"[", b"and more]"), b"behind"))
    begin = file.at[1]
    hurt = spoil(spoil(file.data, begin, begin + 12), begin + 13, begin + 25)
    assert walked(hurt).recovered(hurt) == []


@pytest.mark.parametrize("number", [0, 3, 9])
@pytest.mark.parametrize("times", [3, 4, 5])
def test_checksums_of_nothing_prove_no_records(number: int, times: int) -> None:
    hurt = insert(spoil(DATA, AT[number], AT[number] + 1), AT[number], footer(b"") * times)
    assert set(saved(hurt, FILE)) <= {number}


def test_a_file_without_a_sound_header_comes_back_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_SLOW_ALLOWANCE", 9 << 18)
    random = Random(4)
    file = File(tuple(random.randbytes(20_000) for _ in range(180)))
    hurt = headless(file, 0, 179)
    assert walked(hurt).recovered(hurt) == list(file.payloads)
