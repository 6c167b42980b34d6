"""Text conversions of binary data are undone byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrtool.sources.codecs import text_mode
from tfrtool.sources.codecs.text_mode import undone

EVERY_BYTE = bytes(range(256)) * 3


def test_line_ends_are_taken_back() -> None:
    assert undone(EVERY_BYTE.replace(b"\n", b"\r\n"), "crlf") == EVERY_BYTE


@pytest.mark.parametrize("data", [b"", b"\r", b"\n", b"\r\r\n", b"\r\n\r\n", b"a\r", b"\rb"])
def test_a_carriage_return_of_the_file_itself_stays(data: bytes) -> None:
    assert undone(data.replace(b"\n", b"\r\n"), "crlf") == data


@pytest.mark.parametrize("before", [(1 << 20) - 1, (1 << 20), (1 << 20) - 2])
def test_a_line_end_between_two_reads_is_one(before: int) -> None:
    data = b"x" * before + b"\nrest\n"
    assert undone(data.replace(b"\n", b"\r\n"), "crlf") == data


def test_bytes_written_as_two_are_taken_back() -> None:
    assert undone(EVERY_BYTE.decode("latin-1").encode(), "utf8-mangled") == EVERY_BYTE


def test_bytes_of_windows_1252_are_taken_back_too() -> None:
    data = bytes(byte for byte in range(256) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
    assert undone(data.decode("cp1252").encode(), "utf8-mangled") == data


@pytest.mark.parametrize("before", range(4))
def test_a_character_between_two_reads_is_one(before: int) -> None:
    data = b"x" * ((1 << 20) - before) + b"\x80\xfe" * 4
    assert undone(data.decode("latin-1").encode(), "utf8-mangled") == data


def test_a_byte_that_became_another_character_is_a_question_mark() -> None:
    assert undone("a\ufffdb\u4e2d".encode(), "utf8-mangled") == b"a?b?"


@pytest.mark.parametrize("odd", [b"\xff", b"\xc3", b"\xc3(", b"\xe2\x82"])
def test_what_is_no_text_stays_as_it_is_and_ends_nothing(odd: bytes) -> None:
    for more in (b"", "é".encode(), b"more"):
        assert undone("né".encode() + odd + more, "utf8-mangled") == b"n\xe9" + odd + (
            b"\xe9" if more == "é".encode() else more
        )


@pytest.mark.parametrize("diagnosis", ["crlf", "utf8-mangled"])
@given(data=st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", "é€\ufffd".encode(), b"\xc3", b"\xff"])))
def test_any_chunking_is_decoded_to_the_same(diagnosis: str, data: list[bytes]) -> None:
    whole = b"".join(data)
    expected = undone(whole, diagnosis)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_mode, "_STEP", 7)
        assert undone(whole, diagnosis) == expected
