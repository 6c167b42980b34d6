"""A file as one line of cells: no damage is overlooked, however long the file."""

from hypothesis import given
from hypothesis import strategies as st

from tfrtool.cli.terminal.coverage_bar import LOST, RESTORABLE, SOUND, CoverageBar

ranges = st.lists(st.tuples(st.integers(0, 2**40), st.integers(1, 2**36)), max_size=20)


def strip(*damaged: tuple[int, int, bool]) -> CoverageBar:
    made = CoverageBar()
    for begin, end, restorable in damaged:
        made.add(begin, end, restorable)
    return made


def test_a_file_without_damage_is_sound_from_end_to_end() -> None:
    assert strip().cells(1000, 10) == bytes([SOUND] * 10)


def test_a_cell_is_damaged_where_a_byte_of_it_is() -> None:
    assert strip((299, 300, False)).cells(1000, 10) == bytes([0, 0, LOST, 0, 0, 0, 0, 0, 0, 0])


def test_what_can_be_brought_back_looks_different_and_what_is_lost_hides_it() -> None:
    cells = strip((0, 100, False), (50, 300, True)).cells(400, 4)
    assert cells == bytes([LOST, RESTORABLE, RESTORABLE, SOUND])


def test_a_file_shorter_than_the_strip_fills_it() -> None:
    assert strip((1, 2, False)).cells(2, 6) == bytes([SOUND] * 3 + [LOST] * 3)


def test_an_empty_range_at_the_very_end_is_seen() -> None:
    assert strip((1000, 1000, False)).cells(1000, 10)[-1] == LOST


@given(ranges, st.integers(1, 300))
def test_no_damage_is_overlooked_however_long_the_file(damaged: list[tuple[int, int]], width: int) -> None:
    total = max((begin + length for begin, length in damaged), default=1)
    cells = strip(*((begin, begin + length, False) for begin, length in damaged)).cells(total, width)
    assert len(cells) == width
    for begin, length in damaged:
        first, last = begin * width // total, (begin + length - 1) * width // total
        assert cells[first : last + 1] == bytes([LOST] * (last + 1 - first))


@given(ranges)
def test_the_order_of_the_ranges_does_not_matter(damaged: list[tuple[int, int]]) -> None:
    marked = [(begin, begin + length, bool(begin % 2)) for begin, length in damaged]
    assert strip(*marked).cells(2**41, 80) == strip(*reversed(marked)).cells(2**41, 80)
