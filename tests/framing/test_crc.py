"""The checksum and the frame, held against published values."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader, PathFinder

import crc32c as package
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrtool.framing import crc
from tfrtool.framing.crc import Masked, crc32c, header_is_sound, masked, masked_crc, rotated, unmasked
from tfrtool.framing.encode import footer, frame, header, ofrecord_frame

SCSI_READ = bytes.fromhex(
    "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000"
)

RFC_3720 = [
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
    (SCSI_READ, 0xD9963A56),
    (b"123456789", 0xE3069283),
    (b"", 0),
]


@pytest.mark.parametrize(("data", "expected"), RFC_3720)
def test_the_crc_is_that_of_rfc_3720(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected


def test_the_masked_crc_of_a_length_of_zero_is_known() -> None:
    assert masked_crc(bytes(8)) == 0x07980329
    assert masked_crc(b"") == MASK_OF_NOTHING


MASK_OF_NOTHING = 0xA282EAD8


def test_an_empty_record_is_these_sixteen_bytes() -> None:
    assert frame(b"") == bytes.fromhex("0000000000000000 29039807 d8ea82a2")


@given(st.integers(0, 2**32 - 1))
def test_unmasking_undoes_masking(value: int) -> None:
    assert unmasked(masked(value)) == value
    assert masked(unmasked(value)) == value
    assert rotated(value) == masked(value)
    assert 0 <= masked(value) < 2**32


@given(st.binary(max_size=80), st.integers(0, 80))
def test_a_crc_goes_on_where_another_ended(data: bytes, at: int) -> None:
    assert crc32c(data[at:], crc32c(data[:at])) == crc32c(data)
    assert masked_crc(data[at:], crc32c(data[:at])) == masked_crc(data)


def test_a_masked_crc_shows_itself_as_in_a_dump() -> None:
    assert str(Masked(0x298)) == repr(Masked(0x298)) == "0x00000298"


@given(st.integers(0, 2**64 - 1), st.integers(0, 95))
def test_a_header_is_sound_until_a_bit_flips(length: int, bit: int) -> None:
    good = header(length)
    assert header_is_sound(good)
    assert header_is_sound(good + b"more")
    assert not header_is_sound((int.from_bytes(good, "little") ^ 1 << bit).to_bytes(12, "little"))
    assert not any(header_is_sound(good[:size]) for size in range(12))


@given(st.binary(max_size=100))
def test_a_frame_is_header_payload_footer(payload: bytes) -> None:
    whole = frame(payload)
    assert whole == header(len(payload)) + payload + footer(payload)
    assert int.from_bytes(whole[:8], "little") == len(payload)
    assert int.from_bytes(whole[-4:], "little") == masked_crc(payload)
    assert frame(memoryview(payload)) == frame(bytearray(payload)) == whole
    assert ofrecord_frame(payload) == len(payload).to_bytes(8, "little") + payload


# Loading the compiled function


def nowhere(*_: object) -> None:
    return None


def broken(*_: object) -> None:
    raise ImportError("no such thing")


class Liar:
    def crc32c(self, data: bytes) -> int:
        return 0


@pytest.mark.parametrize(
    ("owner", "name", "stand_in"),
    [
        (PathFinder, "find_spec", nowhere),
        (ExtensionFileLoader, "create_module", broken),
        (ExtensionFileLoader, "exec_module", broken),
        (ExtensionFileLoader, "create_module", lambda *_: object()),
    ],
)
def test_wherever_the_shortcut_fails_the_package_itself_is_used(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, stand_in: object
) -> None:
    monkeypatch.setattr(owner, name, stand_in)
    assert crc._find_crc32c() is package.crc32c


def test_a_function_that_computes_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExtensionFileLoader, "create_module", lambda *_: Liar())
    monkeypatch.setattr(ExtensionFileLoader, "exec_module", nowhere)
    assert crc._find_crc32c() is package.crc32c
