"""gzip and zlib: everything that can be unpacked is, and every fault has a sentence and a place."""

import sys
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.sources import flipped, gz, unpack, unpacked_prefix, words

from tfrtool.framing.stream import MemoryStream
from tfrtool.sources import source as opening
from tfrtool.sources.codecs.container import Gzip, Zlib, gzip_header, zlib_header
from tfrtool.sources.codecs.decoder import Decoder
from tfrtool.sources.codecs.faults import CodecFault
from tfrtool.sources.codecs.inflate import STEP, Deflate
from tfrtool.sources.spool import read_all

A, B = words(120, 1), words(90, 2)
GA, GB = gz(A), gz(B)
ZA = zlib.compress(A)


def test_all_members_are_read() -> None:
    assert unpack(GA + GB + gz(b"") + GA) == (A + B + A, [])


def test_zero_bytes_between_and_behind_members_are_padding() -> None:
    assert unpack(GA + bytes(700_000) + GB + bytes(3)) == (A + B, [])


def test_every_optional_part_of_a_gzip_header_is_skipped() -> None:
    parts = b"\x03\x00abc" + b"name\0" + b"comment\0" + b"\x12\x34"
    packed = b"\x1f\x8b\x08\x1e" + GA[4:10] + parts + GA[10:]
    assert unpack(packed) == (A, [])


def test_a_gzip_header_that_never_ends_is_no_header() -> None:
    endless = b"\x1f\x8b\x08\x08" + GA[4:10] + b"n" * 400_000
    assert gzip_header(endless).state == "foreign"
    out, faults = unpack(GA + endless + GB)
    assert (out, len(faults)) == (A + B, 1)


@pytest.mark.parametrize("cut", range(1, len(GA + GB)))
def test_a_truncated_gzip_gives_its_longest_prefix(cut: int) -> None:
    out, faults = unpack((GA + GB)[:cut])
    if cut < len(GA):
        assert out == unpacked_prefix(GA[:cut])
    else:
        assert out == A + unpacked_prefix(GB[: cut - len(GA)])
    assert len(faults) == (cut != len(GA))
    assert all("cut short" in fault.message and fault.offset_decoded == len(out) for fault in faults)


@pytest.mark.parametrize("cut", range(1, len(ZA)))
def test_a_truncated_zlib_gives_its_longest_prefix(cut: int) -> None:
    out, faults = unpack(ZA[:cut], Zlib)
    assert out == unpacked_prefix(ZA[:cut], 15)
    assert ["cut short" in fault.message for fault in faults] == [True]


@pytest.mark.parametrize("at", range(len(GA)))
def test_damage_to_one_member_leaves_the_next_intact(at: int) -> None:
    out, faults = unpack(flipped(GA, at) + GB)
    assert out.endswith(B)
    assert faults or at in (4, 5, 6, 7, 8, 9)  # time, XFL and OS mean nothing for the data


@pytest.mark.parametrize("at", range(len(ZA)))
def test_damage_to_a_zlib_stream_is_a_fault(at: int) -> None:
    _, faults = unpack(flipped(ZA, at), Zlib)
    assert faults


@pytest.mark.parametrize("at", range(10, len(GA) - 8, 3))
def test_what_was_unpacked_before_a_break_is_kept_to_the_byte(at: int) -> None:
    broken = flipped(GA, at)
    out, _ = unpack(broken)
    assert out.startswith(unpacked_prefix(GA[:at])) or out.startswith(A)


def test_codes_in_the_failing_byte_itself_are_unpacked() -> None:
    # A fixed block: seven literals of 8 bits, then a length whose distance reaches before the beginning.
    bits = "110" + "".join(f"{0x30 + b:08b}" for b in b"\x01\x02\x03") + "0000001" + "11101" + "0" * 13
    data = sum(int(bit) << i for i, bit in enumerate(bits)).to_bytes(len(bits) // 8 + 1, "little")
    stream = Deflate(MemoryStream(data), 0)
    assert b"".join(stream.chunks()) == b"\x01\x02\x03"
    assert (stream.ended, stream.why) == ("broken", "invalid distance too far back")


def test_a_wrong_checksum_and_a_wrong_length_are_told_apart() -> None:
    for at, what in ((-8, "CRC-32"), (-4, "length")):
        out, faults = unpack(flipped(GA, len(GA) + at) + GB)
        assert out == A + B
        assert [what in f.message for f in faults] == [True]
    out, faults = unpack(flipped(ZA, len(ZA) - 1), Zlib)
    assert out == A
    assert ["Adler-32" in f.message for f in faults] == [True]


def test_garbage_behind_the_data_is_one_fault_with_its_size() -> None:
    for packed, container in ((GA, Gzip), (ZA, Zlib)):
        out, faults = unpack(packed + b"not packed", container)
        assert out == A
        (fault,) = faults
        assert (fault.offset_decoded, fault.offset_encoded) == (len(A), len(packed))
        assert "10 compressed bytes" in fault.message


def test_garbage_between_members_is_passed_over() -> None:
    out, faults = unpack(GA + b"log line\n" + GB)
    assert out == A + B
    assert ["9 compressed bytes were passed over" in f.message for f in faults] == [True]


@pytest.mark.parametrize("cut", range(1, len(GA)))
def test_a_member_appended_behind_a_cut_one_is_read_whole(cut: int) -> None:
    out, faults = unpack(GA[:cut] + GB)
    assert out.endswith(B)
    assert out.startswith(unpacked_prefix(GA[: cut - 12] if cut > 12 else b""))
    assert faults


@pytest.mark.parametrize("lacking", range(1, 9))
def test_members_with_short_trailers_are_all_read(lacking: int) -> None:
    members = [gz(b"%d" % n * 30) for n in range(40)]
    data, faults = unpack(b"".join(member[:-lacking] for member in members))
    assert data == b"".join(b"%d" % n * 30 for n in range(40))
    assert len(faults) == 40
    assert f"is cut short at compressed byte {len(members[0]) - lacking}, inside the checksum" in faults[0].message


def test_a_member_with_a_short_trailer_is_found_after_a_break() -> None:
    noise = Random(3).randbytes(3000)
    assert unpack(GA + noise + gz(b"one")[:-3] + gz(b"two"))[0] == A + b"onetwo"


def test_after_a_break_the_next_member_is_found_far_ahead() -> None:
    noise = words(150_000, 3)
    out, faults = unpack(flipped(GA, 30) + noise + GB)
    assert out.endswith(B)
    assert f"the gzip member at compressed byte {len(GA) + len(noise)}" in faults[-1].message


def test_magic_numbers_without_a_member_are_passed_over() -> None:
    fake = b"\x1f\x8b\x08\0\0\0\0\0\0\3" * 5000
    out, faults = unpack(GA + b"x" + fake + GB)
    assert (out, len(faults)) == (A + B, 1)


class Counting(MemoryStream):
    """Counts the bytes that were asked for."""

    total = 0

    def read_into(self, offset: int, view: memoryview) -> int:
        got = super().read_into(offset, view)
        self.total += got
        return got


def test_members_made_to_be_read_twice_cost_linear_work() -> None:
    member = b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\0\xff\xff\0\0"  # a stored block that holds those behind it
    for count in (50_000, 100_000):
        raw = Counting(member * count)
        unpacked = sum(map(len, Decoder(raw, Gzip, []).chunks()))
        assert raw.total + unpacked < 16 * len(member) * count


def test_a_second_zlib_stream_and_padding_are_read() -> None:
    assert unpack(ZA + zlib.compress(B) + bytes(5), Zlib) == (A + B, [])


def test_text_that_looks_like_a_second_zlib_header_is_garbage() -> None:
    out, faults = unpack(ZA + b"x^ is no header", Zlib)
    assert (out, len(faults)) == (A, 1)


def test_a_preset_dictionary_is_foreign() -> None:
    packer = zlib.compressobj(zdict=b"words")
    assert zlib_header(packer.compress(A) + packer.flush()).state == "foreign"


def test_a_bomb_streams_in_little_memory() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(128)) + packer.flush()
    tracemalloc.start()
    sizes = [len(chunk) for chunk in Decoder(MemoryStream(packed), Gzip, []).chunks()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(sizes) == 128 << 20
    assert max(sizes) <= STEP
    assert peak < 8 << 20


def test_faults_come_in_order_before_later_bytes() -> None:
    faults: list[CodecFault] = []
    seen = 0
    for chunk in Decoder(MemoryStream(flipped(GA, len(GA) - 6) + b"junk" + GB + b"tail"), Gzip, faults).chunks():
        seen += len(chunk)
        assert all(f.offset_decoded < seen for f in faults)
    assert [f.offset_decoded for f in faults] == [len(A), len(A), len(A + B)]
    assert all(a.offset_encoded < b.offset_encoded for a, b in pairwise(faults))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.sampled_from([0, 3, 40, 200, 260]), st.booleans())
def test_any_chunking_gives_the_same_bytes_and_faults(sizes: list[int], at: int, cut: bool) -> None:
    packed = GA + flipped(GB, min(at, len(GB) - 1)) + b"junk" + GA
    packed = packed[:-5] if cut else packed
    assert unpack(packed, sizes=sizes) == unpack(packed)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(0, len(ZA) - 1))
def test_any_chunking_of_zlib_gives_the_same_bytes_and_faults(sizes: list[int], at: int) -> None:
    packed = flipped(ZA, at)
    assert unpack(packed, Zlib, sizes) == unpack(packed, Zlib)


@given(st.binary(max_size=400))
def test_any_bytes_are_accepted(data: bytes) -> None:
    for container, head in ((Gzip, GA[:10]), (Zlib, ZA[:2])):
        unpack(head + data, container)
        unpack(data, container)


class Hasty:
    """A stand-in for a faster zlib: same interface, no copies, other errors, and it gives up at any oddity."""

    crc32, adler32 = staticmethod(zlib.crc32), staticmethod(zlib.adler32)

    class error(Exception):
        pass

    class decompressobj:
        def __init__(self, wbits: int) -> None:
            self._real = zlib.decompressobj(wbits)

        def decompress(self, data: bytes, most: int) -> bytes:
            try:
                return self._real.decompress(data, most)
            except zlib.error:
                raise Hasty.error from None

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)


@given(st.integers(0, len(GA + GB) - 1), st.integers(1, len(GA + GB)))
def test_a_faster_zlib_gives_the_same_bytes_and_faults(at: int, cut: int) -> None:
    for packed in (flipped(GA + GB, at), (GA + GB)[:cut]):
        assert unpack(packed, quick=Hasty) == unpack(packed)


def test_isal_unpacks_the_same() -> None:
    isal_zlib = pytest.importorskip("isal.isal_zlib")
    for packed in (GA + GB, (GA + GB)[:-20], GA + b"junk" + GB, flipped(GA, len(GA) - 1) + GB):
        assert unpack(packed, quick=isal_zlib) == unpack(packed)
    assert unpack(ZA, Zlib, quick=isal_zlib) == (A, [])


class Swallows:
    """isal before version 1.9: what stands behind a stream is gone where it is short."""

    def __init__(self, wbits: int) -> None:
        self._zlib = zlib.decompressobj(wbits)

    def decompress(self, data: bytes) -> bytes:
        return self._zlib.decompress(data)

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data[7:]


@pytest.mark.parametrize(("unpacker", "used"), [(zlib.decompressobj, True), (Swallows, False)])
def test_an_isal_that_loses_trailing_bytes_is_not_used(
    unpacker: object, used: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = SimpleNamespace(decompressobj=unpacker, crc32=zlib.crc32, adler32=zlib.adler32, error=zlib.error)
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", module)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "isal", SimpleNamespace(isal_zlib=module))  # type: ignore[arg-type]
    assert opening._quick_zlib() is (module if used else None)
    (tmp_path / "a").write_bytes(ZA)
    with opening.open_source(str(tmp_path / "a")) as source:
        assert b"".join(bytes(view) for view in read_all(source.data)) == A
        assert source.faults == []
