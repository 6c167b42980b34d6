"""What a foreign file is, from its first bytes: the right name for each, and no name for record files."""

import io
import json
import os
import pickle
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kit.sources import flipped, frame, gz, records, words

from tfrtool.sources.detect.match import shown
from tfrtool.sources.detect.signatures import (
    ARRAY_RECORD_POSTSCRIPT,
    RIEGELI_MAGIC,
    FormatMatch,
    compression_of,
    sniff_magic,
)
from tfrtool.sources.source import open_source

LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 144000000\n".encode()


def tar(format: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        archive.addfile(tarfile.TarInfo("train/x.tfrecord"))
    return out.getvalue()


def old_tar() -> bytes:
    """Without the magic that came in 1988."""
    block = bytearray(tar(tarfile.USTAR_FORMAT)[:512])
    block[257:265] = bytes(8)
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block)


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"x")
    return out.getvalue()


FOREIGN = {
    "git-lfs-pointer": [LFS, LFS.replace(b"\n", b"\r\n")],
    "html": [b"<!DOCTYPE html><html>", b"\n  <HTML><head><title>Sign in</title>", b"<!-- page --><html>"],
    "xml": [b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', b"<Error><Code>AccessDenied</Code></Error>"],
    "json": [
        b'{"error": {"code": 404}}',
        b'[{"a": 1}]',
        b'{"a": 1}\n{"a": 2}\n',
        b'\xef\xbb\xbf{"a": [1, 2, "cut',
        b"{}",
    ],
    "text": [b"a,b,c\n1,2,3\n", b"INFO: step 3\n", "grüße, 世界".encode(), "words".encode("utf-16"), b"[draft] notes"],
    "tar": [tar(tarfile.USTAR_FORMAT), tar(tarfile.GNU_FORMAT), tar(tarfile.PAX_FORMAT), old_tar()],
    "zip": [zipped("x.tfrecord"), zipped("a.npy"), zipped("m/data.pkl"), b"PK\5\6" + bytes(18)],
    "gzip": [gz(b"x")],
    "zstd": [b"\x28\xb5\x2f\xfd\x04\x00", b"\x50\x2a\x4d\x18\x04\0\0\0"],
    "bzip2": [b"BZh91AY&SY\x12", b"BZh9\x17rE8P\x90\0\0\0\0"],
    "xz": [b"\xfd7zXZ\x00\x00\x04"],
    "snappy": [b"\xff\x06\x00\x00sNaPpY\x00"],
    "lz4": [b"\x04\x22\x4d\x18\x64\x40", b"\x02\x21\x4c\x18\x00"],
    "parquet": [b"PAR1\x15\x04", b"PARE\x15\x04"],
    "avro": [b"Obj\x01\x04\x14avro.codec"],
    "hdf5": [b"\x89HDF\r\n\x1a\n\0"],
    "numpy": [b"\x93NUMPY\x01\0"],
    "pickle": [pickle.dumps({"a": [1]}, protocol) for protocol in range(6)] + [pickle.dumps([1], 0)],
    "riegeli": [RIEGELI_MAGIC + bytes(40)],
    "mxnet-recordio": [b"\x0a\x23\xd7\xce" + bytes(20)],
    "lmdb": [bytes(16) + b"\xde\xc0\xef\xbe" + bytes(20)],
    "zeros": [bytes(1), bytes(5000)],
    "empty": [b""],
}


@pytest.mark.parametrize(
    ("diagnosis", "head"),
    [(diagnosis, head) for diagnosis, heads in FOREIGN.items() for head in heads],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_format_is_named(diagnosis: str, head: bytes) -> None:
    sniffed = sniff_magic(head, len(head))
    assert sniffed is not None
    assert sniffed.diagnosis == diagnosis
    assert sniffed.message.isprintable()
    assert sniffed.hint.isprintable()
    assert sniffed.hint


def says(head: bytes, size: int | None = None) -> str:
    sniffed = sniff_magic(head, size)
    assert sniffed is not None
    return sniffed.message


def test_a_pointer_tells_the_size_of_what_it_points_to() -> None:
    assert "144000000 bytes" in says(LFS)
    sniffed = sniff_magic(LFS, len(LFS))
    assert sniffed is not None
    assert "git lfs pull" in sniffed.hint
    assert says(b"version https://git-lfs.github.com/spec/v1\nsize \xff\n")


def test_error_pages_tell_what_they_say() -> None:
    assert "'AccessDenied': 'No.'" in says(b"<Error><Code>AccessDenied</Code><Message>No.</Message></Error>")
    assert "'Virus scan warning'" in says(b"<html><title>Virus scan warning</title>")
    assert "not found" in says(json.dumps({"error": {"message": "not found"}}).encode())


def test_archives_tell_their_first_member() -> None:
    assert "'train/x.tfrecord'" in says(tar(tarfile.GNU_FORMAT))
    assert "'x.tfrecord'" in says(zipped("x.tfrecord"))


def test_what_a_file_says_of_itself_is_shown_safely() -> None:
    evil = "\x1b[31m\u202eabc\u2028"
    for head in (f"<title>{evil}</title>".encode(), zipped(evil), f"{'words ' * 20}{evil}".encode()):
        assert says(head).isprintable()
    assert shown(b"\xff\n\\") == "'\\xff\\n\\'"
    assert shown("x" * 100, 5) == "'xxxxx…'"


def test_only_the_last_bytes_tell_array_record_from_riegeli() -> None:
    riegeli = RIEGELI_MAGIC + bytes(40)
    found = sniff_magic(riegeli, None, tail=bytes(24) + ARRAY_RECORD_POSTSCRIPT)
    assert found is not None
    assert found.diagnosis == "array-record"
    assert "ArrayRecord" in says(riegeli)


def test_an_array_record_file_is_told_by_its_end(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "x")
    end = b"\x0e" * 70 + ARRAY_RECORD_POSTSCRIPT
    with open(path, "wb") as file:
        file.write(RIEGELI_MAGIC + bytes((64 << 10) - len(RIEGELI_MAGIC)) + end + bytes((64 << 10) - len(end)))
    with open_source(path) as source:
        sniffed = source.sniff()
    assert sniffed is not None
    assert sniffed.diagnosis == "array-record"


def test_zeros_are_all_or_only_the_first() -> None:
    assert says(bytes(100), 100) == "all 100 bytes are zero"
    assert says(bytes(100), 5000) == "the first 100 bytes are all zero"
    assert says(bytes(100), None) == "the first 100 bytes are all zero"


def test_what_was_packed_twice_is_said_to_be() -> None:
    for inner in (gz(words(50)), zlib.compress(words(50))):
        sniffed = sniff_magic(inner, None, outer="gzip")
        assert sniffed is not None
        assert (sniffed.diagnosis, "twice" in sniffed.message) == ("gzip", True)
    assert "twice" not in says(gz(words(50)))


@pytest.mark.parametrize("size", [0, 1, 376, 35_615, 40_056, 100_000])
def test_record_files_have_no_magic_number(size: int) -> None:
    assert sniff_magic(frame(b"\x0a" * size), None) is None


@given(st.binary(min_size=1, max_size=300))
@example(b"\x80\x04")
@example(b"{" * 300)
@example(b"[" * 300)
def test_any_bytes_are_accepted(head: bytes) -> None:
    for given_head in (head, head * 40):
        found = sniff_magic(given_head, None)
        assert found is None or isinstance(found, FormatMatch)
    compression_of(head, is_record_header=False)


def test_deep_json_does_not_overflow() -> None:
    assert "JSON" in says(b'[["' + b"[" * 60_000)


# Compression


PACKED = {"gzip": gz(words(400)), "zlib": zlib.compress(words(400))}


@pytest.mark.parametrize("kind", ["gzip", "zlib"])
def test_packed_data_is_told_however_it_was_made(kind: str) -> None:
    wbits = 31 if kind == "gzip" else 15
    for level in range(10):
        for data in (b"", b"x", words(400), os.urandom(300)):
            packer = zlib.compressobj(level, zlib.DEFLATED, wbits)
            packed = packer.compress(data) + packer.flush()
            assert compression_of(packed, is_record_header=False) == kind
            assert compression_of(packed + b"tail", is_record_header=False) == kind


@pytest.mark.parametrize("kind", ["gzip", "zlib"])
def test_packed_data_is_told_though_it_is_cut(kind: str) -> None:
    packed = PACKED[kind]
    for cut in range(2, len(packed)):
        assert compression_of(packed[:cut], is_record_header=False) == kind


@pytest.mark.parametrize("kind", ["gzip", "zlib"])
def test_packed_data_is_told_though_it_is_damaged_further_on(kind: str) -> None:
    packed = PACKED[kind]
    for at in range(len(packed) // 2, len(packed)):
        assert compression_of(flipped(packed, at), is_record_header=False) == kind


def test_a_record_header_settles_that_nothing_is_packed() -> None:
    for packed in PACKED.values():
        assert compression_of(packed, is_record_header=True) == "none"


@pytest.mark.parametrize(
    "head",
    [
        b"x^2 + y^2 = z^2, as everybody knows, and so on and on\n" * 9,
        b"X\tY\tZ\n1\t2\t3\n" * 9,
        b"H\rL",
        (376).to_bytes(8, "little") + bytes(4) + records(3),
        (40_056).to_bytes(8, "little") + b"\x0a" * 500,
        (236_664).to_bytes(8, "little") + b"\x0a" * 500,
        (0x82_8B_1F).to_bytes(8, "little") + b"\x0a" * 500,
        b"\x1f\x8b\x08\xff" + bytes(400),
        b"\x78\xbb" + bytes(4) + zlib.compress(b"a")[2:],
        b"x",
        b"",
    ],
)
def test_what_only_looks_packed_is_not(head: bytes) -> None:
    assert compression_of(head, is_record_header=False) == "none"


@given(st.binary(max_size=60))
def test_text_is_hardly_ever_taken_for_packed(data: bytes) -> None:
    printable = bytes(32 + byte % 95 for byte in data)
    assert compression_of(b"X\t" + printable, is_record_header=False) == "none"
