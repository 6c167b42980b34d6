"""What a file is, by its content alone: whatever it is called, and whatever happened to its first bytes."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
import zlib
from pathlib import Path

import pytest
from kit.damage import File, flip, insert, spoil, ten, written_by
from kit.messages import varint
from kit.sources import tarred
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, OFRECORDS, counted, ranges, verified

from tfrtool.cli.suggestions import advice
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.framing.layout import LAYOUTS
from tfrtool.verbs.reading import diagnose


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("train.tfrecord", data)
    return out.getvalue()


def windows(data: bytes) -> bytes:
    """Bytes read as the Western code page of Windows, those that it lacks as control characters, written as UTF-8."""
    text = ""
    for byte in data:
        try:
            text += bytes([byte]).decode("cp1252")
        except UnicodeDecodeError:
            text += chr(byte)
    return text.encode()


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>"
XML = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>It is not there.</Message></Error>'
CSV = b"name,size,label\nrose,12,3\n" * 20
JSON = b'{"name": "train", "shards": 4}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


# Record files


@pytest.mark.parametrize(
    ("content", "format", "compression", "records", "kind"),
    [
        (DATA, "tfrecord", "none", 6, "example"),
        (gz(DATA), "tfrecord", "gzip", 6, "example"),
        (gz(DATA[: AT[3]]) + gz(DATA[AT[3] :]), "tfrecord", "gzip", 6, "example"),
        (zlib.compress(DATA), "tfrecord", "zlib", 6, "example"),
        (OF_DATA, "ofrecord", "none", 6, "ofrecord"),
        (gz(OF_DATA), "ofrecord", "gzip", 6, "ofrecord"),
        (File((bytes(376), b"abc")).data, "tfrecord", "none", 2, "unknown"),
        (File((bytes(35_615), b"abc")).data, "tfrecord", "none", 2, "unknown"),
        (File((bytes(0x5A4D),)).data, "tfrecord", "none", 1, "unknown"),
        (File((b"",) * 3).data, "tfrecord", "none", 3, "unknown"),
        (ten().data, "tfrecord", "none", 10, "unknown"),
    ],
)
@pytest.mark.parametrize("name", ["train.tfrecord", "part-00000", "image.png", "train.tfrecord.gz", "x.tar"])
def test_intact_file_is_identified_under_any_name(
    tmp_path: Path, name: str, content: bytes, format: str, compression: str, records: int, kind: str
) -> None:
    damage, report = verified(tmp_path / name, content)
    assert (report.status, report.format, report.compression) == ("clean", format, compression)
    assert (report.records, report.kind, damage) == (records, kind, [])
    assert (report.diagnosis, report.message, report.hint, report.error) == (None, None, None, None)
    assert (report.size, report.damaged_bytes) == (len(content), 0)
    count = counted(tmp_path / name)
    assert (count.status, count.format, count.records) == ("clean", format, records)


@pytest.mark.parametrize(
    ("content", "damaged", "records", "restorable"),
    [
        (flip(DATA, 0), (0, AT[1], "length-crc"), 5, 1),
        (spoil(DATA, 0, 12), (0, AT[1], "length-crc"), 5, 1),
        (spoil(DATA, 0, AT[1]), (0, AT[1], "stray"), 5, 0),
        (b"INFO:root:hello\n" + DATA, (0, 16, "stray"), 6, 0),
        (b"<html>" + DATA, (0, 6, "stray"), 6, 0),
        (bytes(100) + DATA, (0, 100, "zeros"), 6, 0),
        (DATA[4:], (0, AT[1] - 4, "length-crc"), 5, 1),
        (flip(File((bytes(376), b"abc")).data, 3), (0, 392, "length-crc"), 1, 1),
        (flip(File((bytes(35_615), b"abc")).data, 9), (0, 35_631, "length-crc"), 1, 1),
    ],
)
def test_damaged_beginning_does_not_hide_format(
    path: Path, content: bytes, damaged: tuple[int, int, str], records: int, restorable: int
) -> None:
    damage, report = verified(path, content)
    assert (report.status, report.format, report.compression) == ("damaged", "tfrecord", "none")
    assert (ranges(damage), report.records, report.restorable) == ([damaged], records, restorable)
    assert report.diagnosis is None
    count = counted(path)
    assert (count.status, count.records) == ("damaged", records)


@pytest.mark.parametrize("before", [b"INFO:hi\n", b"\xff" * 30, bytes(24)])
def test_bytes_before_ofrecords_do_not_hide_them(path: Path, before: bytes) -> None:
    damage, report = verified(path, before + OF_DATA)
    assert (report.status, report.format, report.records) == ("damaged", "ofrecord", 6)
    assert [(one.begin, one.end) for one in damage] == [(0, len(before))]


# Foreign files


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "in gzip"])
@pytest.mark.parametrize(
    ("content", "diagnosis", "message", "hint"),
    [
        (LFS, "git-lfs-pointer", "12345 bytes", "git lfs pull"),
        (HTML, "html", "'Sign in'", "fetch it again"),
        (XML, "xml", "NoSuchKey", "fetch it again"),
        (CSV, "text", "name,size,label", "give a TFRecord"),
        (JSON, "json", "JSON", "record files themselves"),
        (tarred(DATA), "tar", "'train.tfrecord'", "mkdir DIR && tar -xf {} -C DIR && tfrtool verify DIR"),
        (zipped(DATA), "zip", "'train.tfrecord'", "unzip {} -d DIR && tfrtool verify DIR"),
        (b"\x28\xb5\x2f\xfd" + bytes(50), "zstd", "Zstandard", "run: zstd -dc {} | tfrtool verify -"),
        (b"PAR1" + bytes(50), "parquet", "Parquet", "run: tfrtool convert {} -o OUT --to tfrecord"),
    ],
)
def test_foreign_file_is_named_with_a_hint(
    path: Path, content: bytes, diagnosis: str, message: str, hint: str, packed: bool
) -> None:
    damage, report = verified(path, gz(content) if packed else content)
    assert (report.status, report.format, report.diagnosis) == ("foreign", None, diagnosis)
    assert message in str(report.message)
    assert hint.format(path) in str(advice(report))
    assert (report.records, report.kind, report.restorable) == (0, None, 0)
    assert (damage[0].begin, damage[-1].end) == (0, len(content))
    count = counted(path)
    assert (count.status, count.diagnosis, count.records) == ("foreign", diagnosis, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gz(gz(DATA)), "gzip data inside gzip data"),
        (zlib.compress(gz(DATA)), "gzip data inside zlib data"),
        (gz(zlib.compress(DATA)), "zlib data inside gzip data"),
    ],
)
def test_data_compressed_twice_is_reported(path: Path, content: bytes, message: str) -> None:
    _, report = verified(path, content)
    assert (report.status, report.diagnosis) == ("foreign", "gzip")
    assert message in str(report.message)
    assert str(advice(report)).endswith("| tfrtool verify -")


def test_unknown_first_bytes_are_shown(path: Path) -> None:
    _, report = verified(path, ten().payloads[0] * 30)
    assert (report.status, report.diagnosis) == ("foreign", None)
    assert "begins with 4a 58 b7 91 df" in str(report.message)
    assert "tfrtool reads TFRecord and OFRecord" in str(report.hint)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"RIFF\x24\x7d\0\0WAVEfmt ", "WAV"),
        (bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b08001000200101110000"), "JPEG"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x07\0\0\0\x05\x08\0", "PNG"),
    ],
)
def test_media_file_is_named(path: Path, content: bytes, kind: str) -> None:
    _, report = verified(path, content + ten().payloads[0] * 30)
    assert (report.status, report.diagnosis) == ("foreign", None)
    assert str(report.message).endswith(f", as {kind} files do")


# Neither sound nor foreign


def large_head(size: int) -> bytes:
    """The beginning of the frame of an OFRecord that holds one value, of `size` bytes, and the tags before it."""
    head = b"\n" + varint(size)
    for before in (b"\n", b"\n\1b\x12", b"\n"):
        size_inside = size + len(head)
        head = before + varint(size_inside) + head
    return (size + len(head)).to_bytes(8, "little") + head


@pytest.mark.parametrize("sizes", [[70 << 20], [70 << 20, 70 << 20], [40 << 20, 40 << 20, 40 << 20]])
@pytest.mark.parametrize("small", ["first", "last"])
def test_large_first_ofrecords_are_identified(path: Path, sizes: list[int], small: str) -> None:
    """Larger than is read to tell, each or together; their values are holes, which spare the disk."""
    with path.open("wb") as file:
        file.write(ofrecord_frame(OFRECORDS[0]) if small == "first" else b"")
        for size in sizes:
            file.write(large_head(size))
            file.seek(size, os.SEEK_CUR)
        file.write(ofrecord_frame(OFRECORDS[0]) if small == "last" else b"")
        file.truncate(file.tell())
    assert (counted(path).format, counted(path).records) == ("ofrecord", len(sizes) + 1)


def test_cut_single_ofrecord_suggests_format_option(path: Path) -> None:
    report = counted(path, OF_DATA[:20])
    assert report.status == "foreign" and "use --format ofrecord" in (advice(report) or "")
    assert "OFRecord file, since" not in (advice(counted(path, b"\x07 is no length\n" * 9)) or "")


def test_empty_file_is_clean(path: Path) -> None:
    for content, compression in ((b"", "none"), (gz(b""), "gzip")):
        damage, report = verified(path, content)
        assert (report.status, report.format, report.diagnosis) == ("clean", None, "empty")
        assert (report.compression, report.records, report.bytes, damage) == (compression, 0, 0, [])


def test_zeros_alone_are_damage_without_format(path: Path) -> None:
    damage, report = verified(path, bytes(5000))
    assert (report.status, report.format, report.diagnosis) == ("damaged", None, "zeros")
    assert ranges(damage) == [(0, 5000, "zeros")]
    assert "5000 bytes are zero" in str(report.message)


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS.values() if layout.name != "tfrecord"])
def test_wrong_writer_is_named(path: Path, layout: object) -> None:
    damage, report = verified(path, written_by(layout, EXAMPLES.payloads))  # type: ignore[arg-type]
    name = layout.name  # type: ignore[attr-defined]
    assert (report.status, report.format, report.records) == ("damaged", "tfrecord", 0)
    assert report.diagnosis == ("big-endian" if name == "big-endian" else "wrong-checksum")
    assert report.restorable == (0 if name == "zero-checksums" else 6)
    assert "fix the writer" in str(report.hint)
    assert ranges(damage) == [(0, len(DATA), "length-crc")]
    assert counted(path).diagnosis == report.diagnosis


@pytest.mark.parametrize(
    ("content", "diagnosis", "message"),
    [
        (DATA.replace(b"\n", b"\r\n"), "crlf", "line feed became CR LF"),
        (DATA.decode("latin-1").encode(), "utf8-mangled", "Latin-1"),
        (windows(DATA), "utf8-mangled", "Latin-1"),
        (DATA.decode("utf-8", "replace").encode(), "utf8-mangled", "became U+FFFD"),
        (gz(DATA).decode("utf-8", "replace").encode(), "utf8-mangled", "became U+FFFD"),
        (gz(DATA * 9).replace(b"\n", b"\r\n"), "crlf", "line feed became CR LF"),
        (gz(DATA).decode("latin-1").encode(), "utf8-mangled", "Latin-1"),
    ],
)
def test_text_conversion_is_one_diagnosis(path: Path, content: bytes, diagnosis: str, message: str) -> None:
    _, report = verified(path, content)
    assert (report.status, report.diagnosis) == ("damaged", diagnosis)
    assert message in str(report.message)
    assert "fetch the file again as binary" in str(report.hint)
    assert counted(path).diagnosis == diagnosis


def test_conversion_is_found_beyond_first_bytes(path: Path) -> None:
    file = File((bytes(3), bytes(1 << 17), *(b"line %d\nand another\n" % n for n in range(20))))
    for converted, diagnosis in (
        (file.data.replace(b"\n", b"\r\n"), "crlf"),
        (b"".join(map(frame, file.payloads[1:])).decode("latin-1").encode(), "utf8-mangled"),
    ):
        assert verified(path, converted)[1].diagnosis == diagnosis


def test_conversion_is_not_searched_without_a_sign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnose, "text_conversion", None)
    noise = random.Random(3).randbytes(1 << 16)
    for payloads in ((noise, noise), (b"a\nb\n", b"c\n"), (bytes(1 << 17),)):
        assert verified(path, flip(File(payloads).data, 30))[1].status == "damaged"


def test_line_feeds_in_data_are_not_a_conversion(path: Path) -> None:
    file = File((b"a\r\nb", b"c\nd", b"\r\n" * 20))
    assert verified(path, file.data)[1].status == "clean"
    assert verified(path, flip(file.data, 14))[1].diagnosis is None


# What was asked for


@pytest.mark.parametrize(
    ("content", "asked", "diagnosis"), [(OF_DATA, "tfrecord", "ofrecord"), (DATA, "ofrecord", "tfrecord")]
)
def test_other_format_than_asked_for_is_foreign(path: Path, content: bytes, asked: str, diagnosis: str) -> None:
    _, report = verified(path, content, format=asked)
    assert (report.status, report.format, report.diagnosis) == ("foreign", None, diagnosis)
    assert advice(report) == f"use --format {diagnosis} to read it as what it is"


def test_format_asked_for_is_read(path: Path) -> None:
    assert verified(path, DATA, format="tfrecord")[1].records == 6
    assert verified(path, OF_DATA, format="ofrecord")[1].records == 6
    assert verified(path, flip(DATA, 0), format="ofrecord")[1].diagnosis == "tfrecord"


def test_compression_asked_for_is_undone(path: Path) -> None:
    assert verified(path, gz(DATA), compression="gzip")[1].records == 6
    _, report = verified(path, gz(DATA), compression="none")
    assert (report.status, report.diagnosis) == ("foreign", "gzip")
    assert str(advice(report)).endswith("use --compression gzip to have it unpacked")
    damage, report = verified(path, DATA, compression="gzip")
    assert ranges(damage) == [(0, len(DATA), "stray")]
    assert (report.status, report.diagnosis, report.compression) == ("foreign", "tfrecord", "none")
    assert "TFRecord data that is not compressed" in str(report.message)
    assert advice(report) == "omit --compression to have it told apart"


def test_signature_stops_search_for_far_records(path: Path) -> None:
    assert verified(path, tarred(DATA))[1].records == 0
    for text in (CSV, XML, HTML * 1200, JSON * 2500):
        assert verified(path, insert(DATA, 0, text))[1].records == 6


# What TensorFlow makes of it


def tensorflow_says(damage: list[Damage]) -> list[str]:
    return [one.message.rpartition("(TensorFlow ")[2] for one in damage if "TensorFlow" in one.message]


def test_broken_stream_stops_tensorflow_before_a_record(path: Path) -> None:
    packed = bytearray(gz(DATA))
    packed[len(packed) // 2] ^= 0xFF
    damage, _ = verified(path, bytes(packed))
    assert {one.fault for one in damage} > {"codec"}
    assert tensorflow_says(damage) == ["stops here or earlier with 'inflate() failed')"]


def test_tensorflow_reads_after_gzip_but_not_after_zlib(path: Path) -> None:
    assert tensorflow_says(verified(path, zlib.compress(DATA) + b"more" * 9)[0]) == []
    assert tensorflow_says(verified(path, gz(DATA) + b"more" * 9)[0]) == [
        "stops here or earlier with 'inflate() failed')"
    ]


def test_tensorflow_reads_a_truncated_stream(path: Path) -> None:
    damage, _ = verified(path, gz(DATA)[:-300])
    (said,) = tensorflow_says(damage)
    assert said.startswith("stops here with 'truncated record at ")
