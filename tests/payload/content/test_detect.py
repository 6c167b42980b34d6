"""What a bytes value holds, by its first bytes; and features in one line, whatever their size."""

import bz2
import gzip
import io
import json
import lzma
import math
import struct
import wave
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    a_feature,
    entry,
    event,
    example,
    law,
    names,
    ofrecord,
    raw_example,
    scalar,
    sequence,
    sized,
    tensor,
)

from tfrtool.payload.content.detect import DetectedContent, content_of, describe_value
from tfrtool.payload.features.preview import preview, preview_list
from tfrtool.payload.features.read import read_features
from tfrtool.payload.text import size_text, sizes_text


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def frame(marker, width, height):
    return segment(marker, struct.pack(">BHH", 8, height, width) + b"\3")


JFIF = b"\xff\xd8" + segment(0xE0, b"JFIF\0") + segment(0xE1, bytes(60_000)) + segment(0xC4, b"huffman")
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)


def riff(kind, *chunks):
    body = kind + b"".join(name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def sound(seconds, channels=1, rate=8000):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(2 * channels * int(rate * seconds)))
    return out.getvalue()


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, b"content")
    return out.getvalue()


def numpy_file(header):
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(8)


VORBIS = b"\1vorbis" + struct.pack("<IBI", 0, 2, 44100)
MP3_FRAME = b"\xff\xfb\x90\xc4" + bytes(413)  # 128 kbit/s at 44100 Hz: 417 bytes
KNOWN = {
    "a jpeg": (JFIF + frame(0xC0, 640, 480), "jpeg", "640x480"),
    "a progressive jpeg with fill bytes": (JFIF + b"\xff\xff" + frame(0xC2, 640, 480), "jpeg", "640x480"),
    "a jpeg that is cut off": (JFIF[:30_000], "jpeg", ""),
    "a jpeg with a marker that stands alone": (JFIF + b"\xff\x01" + frame(0xC1, 640, 480), "jpeg", "640x480"),
    "a png": (PNG, "png", "640x480"),
    "a png that is cut off": (PNG[:20], "png", ""),
    "a gif": (b"GIF89a" + struct.pack("<HH", 640, 480), "gif", "640x480"),
    "a gif with colours": (b"GIF89a" + struct.pack("<HHBBB", 6, 4, 0x81, 0, 0) + b"x" * 12 + b"!\xf9", "gif", "6x4"),
    "a gif without": (b"GIF87a" + struct.pack("<HHBBB", 6, 4, 0, 0, 0) + b",", "gif", "6x4"),
    "a gif cut off in its colours": (b"GIF89a" + struct.pack("<HHBBB", 6, 4, 0x87, 0, 0) + b"x" * 12, "gif", "6x4"),
    "a lossy webp": (riff(b"WEBP", (b"VP8 ", bytes(6) + struct.pack("<HH", 640, 480 | 0x4000))), "webp", "640x480"),
    "a lossless webp": (riff(b"WEBP", (b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14))), "webp", "640x480"),
    "an extended webp": (riff(b"WEBP", (b"VP8X", bytes(4) + b"\x7f\2\0\xdf\1\0")), "webp", "640x480"),
    "a bmp": (b"BM" + struct.pack("<IIIIii", 99, 0, 54, 40, 640, -480), "bmp", "640x480"),
    "an old bmp": (b"BM" + struct.pack("<IIIIHH", 99, 0, 26, 12, 640, 480), "bmp", "640x480"),
    "a tiff": (b"II*\0" + bytes(8), "tiff", ""),
    "a wav": (sound(0.25, 2), "wav", "2 channels, 8000 Hz, 0.25 s"),
    "a wav that is cut off": (sound(0.25)[:40], "wav", "1 channel, 8000 Hz"),
    "a flac": (
        b"fLaC" + bytes(14) + (44100 << 44 | 1 << 41 | 15 << 36 | 88200).to_bytes(8, "big"),
        "flac",
        "2 channels, 44100 Hz, 2 s",
    ),
    "a flac that says nothing": (b"fLaC" + bytes(30), "flac", ""),
    "an ogg of another codec": (b"OggS\0" + bytes(21) + b"\1\x1e" + bytes(30), "ogg", ""),
    "a vorbis": (b"OggS\0" + bytes(21) + b"\1\x1e" + VORBIS, "ogg", "vorbis, 2 channels, 44100 Hz"),
    "an opus": (b"OggS\0" + bytes(21) + b"\1\x13OpusHead", "ogg", "opus"),
    "an mp3 with a tag": (b"ID3\4\0\0\0\0\x10\0" + bytes(20), "mp3", ""),
    "an mp3 of one frame": (MP3_FRAME, "mp3", "1 channel, 44100 Hz"),
    "an mp3 of several": (MP3_FRAME * 2 + b"\xff", "mp3", "1 channel, 44100 Hz"),
    "an mp4": (struct.pack(">I4s4sI4s", 24, b"ftyp", b"isom", 512, b"isom"), "mp4", "isom"),
    "an avif": (struct.pack(">I4s4sI4s", 24, b"ftyp", b"avif", 0, b"mif1"), "avif", ""),
    "gzip": (gzip.compress(b"hello"), "gzip", ""),
    "zlib": (zlib.compress(b"hello"), "zlib", ""),
    "zlib of nothing": (zlib.compress(b""), "zlib", ""),
    "zstd": (b"\x28\xb5\x2f\xfd\x24\x05", "zstd", ""),
    "xz": (lzma.compress(b"hello"), "xz", ""),
    "bzip2": (bz2.compress(b"hello"), "bzip2", ""),
    "zip": (zipped("a.txt"), "zip", ""),
    "an npz": (zipped("arr_0.npy"), "zip", "npz"),
    "an empty zip": (zipped(), "zip", ""),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "pdf", ""),
    "a pdf of text": (b"%PDF-1.1\n1 0 obj << /Type /Catalog >> endobj", "pdf", ""),
    "a jpeg 2000 file": (
        b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 \0\0\0\x2djp2h\0\0\0\x16ihdr"
        + struct.pack(">II", 48, 64),
        "jpeg2000",
        "64x48",
    ),
    "a jpeg 2000 stream": (b"\xffO\xffQ\0\x2f\0\0" + struct.pack(">IIII", 64, 48, 0, 0), "jpeg2000", "64x48"),
    "zlib of much": (zlib.compress(bytes(range(256)) * 4000, 0), "zlib", ""),
    "numpy": (numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"), "numpy", "<f4 (3, 4)"),
    "numpy of a record type": (numpy_file("{'descr': [('a', '<f4')], 'shape': (3,), }"), "numpy", ""),
    "text": ("héllo\twörld\n".encode(), "utf-8", ""),
    "a json object": (b' {"a": [1, 2]}'.strip(), "json", ""),
    "a json array": (b"[1, 2, 3]", "json", ""),
    "a long json array": (b"[" + b"[1], " * 20_000 + b"[1]]", "json", ""),
    "a tensor": (
        tensor(dtype=1, tensor_shape={"dim": [{"size": 2}, {"size": 1}]}, tensor_content=bytes(8)),
        "tensor",
        "float32 [2, 1]",
    ),
    "a tensor of one number": (tensor(dtype=3, tensor_shape={}, int_val=[5]), "tensor", "int32 []"),
    "a tensor of strings": (
        tensor(dtype=7, tensor_shape={"dim": [{"size": 1}]}, string_val=[b"a"]),
        "tensor",
        "string [1]",
    ),
    "an example": (example({"a": ("int64_list", [1])}), "example", ""),
    "a sequence example": (sequence({}, {"a": [("int64_list", [1])]}), "sequence_example", ""),
    "an ofrecord": (ofrecord({"a": ("int32_list", [1])}), "ofrecord", ""),
    "an event": (event(summary=scalar("loss", 1.0)), "event", ""),
    "nothing": (b"", "empty", ""),
}


@pytest.mark.parametrize(("value", "kind", "detail"), KNOWN.values(), ids=KNOWN)
def test_what_a_value_holds(value, kind, detail):
    assert content_of(value) == content_of(memoryview(value)) == DetectedContent(kind, detail)


@pytest.mark.parametrize(("value", "kind", "detail"), KNOWN.values(), ids=KNOWN)
def test_every_cut_of_a_value_gives_an_answer(value, kind, detail):
    for size in range(min(len(value), 200)):
        assert content_of(value[:size]).kind
        assert describe_value(value[:size])


FALSE_FRIENDS = {
    "text that begins as a bmp": (b"BMW and other cars, a long list of them", "utf-8"),
    "text that begins as an mp3": (b"ID3 is a tag of music files", "utf-8"),
    "text that begins as zlib": (b"x^2 + y^2 = z^2", "utf-8"),
    "text that begins as a gif": (b"GIF8 is no version", "utf-8"),
    "text about gifs": (b"GIF89a is a format", "utf-8"),
    "text with ftyp in its fifth place": (b"abcdftypisom", "utf-8"),
    "a brace alone": (b"{", "utf-8"),
    "deeply nested brackets": (b"[" * 50_000, "utf-8"),
    "set bits that no second frame follows": (MP3_FRAME + bytes(100), "raw"),
    "set bits of a frame that cannot be": (b"\xff\xfb\xf0\xc4" + bytes(413), "raw"),
    "a tensor whose dimension is none": (sized(2, sized(2, sized(7))) + b"\x08\1\x22\0", "raw"),
    "set bits": (b"\xff" * 100, "raw"),
    "a few floats": (struct.pack("<4f", 1, 2, 3, 4), "raw"),
    "a tensor with a byte too many": (tensor(dtype=1, tensor_shape={}, tensor_content=bytes(5)), "raw"),
    "a tensor without a shape": (tensor(dtype=1, tensor_content=bytes(4)), "raw"),
    "a tensor of a type that does not exist": (tensor(dtype=99, tensor_shape={}, tensor_content=bytes(4)), "raw"),
    "a tensor of two contents": (tensor(dtype=1, tensor_shape={}, tensor_content=bytes(4), float_val=[1]), "raw"),
    "a tensor of unknown size": (tensor(dtype=1, tensor_shape={"dim": [{"size": -1}]}, float_val=[1]), "raw"),
    "a tensor of too many dimensions": (
        tensor(dtype=1, tensor_shape={"dim": [{"size": 1}] * 255}, float_val=[1]),
        "raw",
    ),
    "an empty Example's bytes": (b"\n\0", "raw"),
    "zlib's first bytes alone": (b"\x78\x9c\xff\xff\xff\xff", "raw"),
    "an id that begins as zlib and unpacks to something": (b"\x78\x9c\x33\xe4", "raw"),
    "text that speaks of pdf": (b"%PDX", "utf-8"),
}


@pytest.mark.parametrize(("value", "kind"), FALSE_FRIENDS.values(), ids=FALSE_FRIENDS)
def test_what_only_looks_like_something_is_not_it(value, kind):
    assert content_of(value).kind == kind


@law
@given(st.binary(max_size=64))
def test_any_bytes_have_a_content_and_a_description(value):
    assert content_of(value).kind
    describe_value(value).encode()


def test_a_text_cut_inside_a_character_is_text_where_the_look_ends_there():
    assert content_of("é".encode() * 4096) == DetectedContent("utf-8")
    assert content_of(b"x" + "é".encode() * 4096) == DetectedContent("utf-8")
    assert content_of("é".encode()[:1]).kind == "raw"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"cat", '"cat"'),
        (b"", '""'),
        (b"\x00\xff\x10", "0x00ff10 (3 bytes)"),
        (b"\x00", "0x00 (1 byte)"),
        (bytes(2048), "0x0000000000000000… 2.0 KiB"),
        (JFIF + frame(0xC0, 640, 480), "jpeg 640x480, 58.6 KiB"),
        (gzip.compress(b"", mtime=0), "gzip, 20 bytes"),
        (b"hello world " * 100, 'text "hello world hello world hello world hello wo…" 1.2 KiB'),
        (json.dumps({"a": 1}).encode(), '"{"a": 1}"'),
        (numpy_file(f"{{'descr': '<f4', 'shape': ({'1, ' * 100})}}"), f"numpy <f4 ({'1, ' * 18}1…, 347 bytes"),
    ],
)
def test_a_value_is_described_in_a_few_words(value, text):
    assert describe_value(value) == text


@pytest.mark.parametrize(
    "value",
    [
        numpy_file(f"{{'descr': '<f4', 'shape': ({'1, ' * 1200}), }}"),
        tensor(dtype=1, tensor_shape={"dim": [{"size": 2**40}] * 100 + [{"size": 0}]}),
    ],
)
def test_a_detail_is_short_however_much_a_header_says(value):
    detail = content_of(value).detail
    assert len(detail) == 64 and detail.endswith("…")
    assert detail[:9] in describe_value(value, 9000)


@pytest.mark.parametrize("width", [10, 40, 60, 9000])
def test_a_text_has_about_the_width_asked_for(width):
    for value in (b"hello", b"hello world " * 100, "é".encode() * 3000 + b"\xff", b"a" * 4500 + b"\xff" * 40_000):
        assert len(describe_value(value, width)) <= max(width, 40)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.0 KiB"),
        (1048575, "1.0 MiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_a_size_is_written_for_people(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1, 1, "1 byte"),
        (1, 3, "1 to 3 bytes"),
        (0, 1, "0 bytes to 1 byte"),
        (900, 1200, "900 bytes to 1.2 KiB"),
        (2048, 4096, "2.0 to 4.0 KiB"),
    ],
)
def test_the_unit_of_two_sizes_is_said_once(low, high, text):
    assert sizes_text(low, high) == text


# Features in one line.


def one(*parts, kind="example"):
    (view,) = read_features(raw_example(entry(b"a", *parts)), kind).features
    return view


def line(kind, values, width=60):
    (view,) = read_features(example({"a": (kind, values)}), "example").features
    return preview(view, width)


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("int64_list", [7], "7"),
        ("float_list", [0.1], "0.1"),
        ("float_list", [math.nan], "nan"),
        ("bytes_list", [b"cat"], '"cat"'),
        ("int64_list", [], "[]"),
        ("int64_list", [1, -2], "[1, -2]"),
        ("bytes_list", [b"a", b"\xff"], '["a", 0xff (1 byte)]'),
        ("bytes_list", [b"hello world " * 9] * 4, '[text "hello world hello worl…" 108 bytes, … 3 more]'),
        ("int64_list", list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 88 more] (0 to 99)"),
        ("float_list", [math.nan] * 100, "[nan, nan, nan, nan, nan, nan, nan, … 93 more] (100 NaN)"),
        ("float_list", [0.5, math.nan, -math.inf] * 40, "[0.5, nan, -inf, 0.5, nan, … 115 more] (-inf to 0.5, 40 NaN)"),
        ("int64_list", [5] * 5000, "[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, … 4985 more]"),
    ],
)
def test_a_feature_in_one_line(kind, values, text):
    assert line(kind, values) == text


def test_a_feature_of_no_kind_is_unset():
    assert preview(one()) == "unset"


def test_a_narrow_line_still_shows_one_value():
    assert line("int64_list", [123456789] * 3, width=1) == "[123456789, … 2 more] (123456789 to 123456789)"


def test_a_feature_list_in_one_line():
    steps = [("int64_list", [1, 2]), ("int64_list", [3]), None] + [("int64_list", [4])] * 50
    views = {
        view.text: view for view in read_features(sequence({}, {"a": steps, "b": []}), "sequence_example").feature_lists
    }
    assert preview_list(views["a"], 40) == "[[1, 2], [3], unset, [4], … 49 more]"
    assert preview_list(views["b"]) == "[]"


@law
@given(st.dictionaries(names, a_feature, max_size=3), st.integers(0, 80))
def test_every_feature_has_a_line(lists, width):
    for view in read_features(example(lists), "example").features:
        preview(view, width).encode()


class Counted:
    """A feature that says how many of its values were read."""

    name, kind, repeated, note = b"a", "int64", False, ""

    def __init__(self, count):
        self.count = count
        self.read = 0

    def values(self, limit=None):
        self.read += self.count if limit is None else limit
        return [1] * (self.count if limit is None else limit)


def test_a_line_of_millions_of_values_reads_the_first_few_only():
    feature = Counted(10_000_000)
    assert preview(feature).endswith("more]")
    assert feature.read < 100


class Touched:
    """A value of 2 GiB that says how much of it was looked at."""

    def __init__(self, head):
        self.head = head
        self.most = 0

    def __len__(self):
        return 2**31

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.head[key] if -len(self.head) <= key < len(self.head) else 0
        begin, end, _ = key.indices(len(self))
        self.most = max(self.most, end - begin)
        return self.head[begin:end].ljust(end - begin, b"\1")


@pytest.mark.parametrize("head", [b"plain text", b"\x00\x01", b"\x1f\x8b\x08", b"\x78\x9c" + bytes(50), b'{"a": 1'])
def test_a_value_of_gigabytes_is_judged_by_its_beginning(head):
    value = Touched(head)
    assert content_of(value).kind
    assert value.most <= 4096


@pytest.mark.tensorflow
def test_what_the_real_tensorflow_serializes_is_known():
    tf = pytest.importorskip("tensorflow")
    assert content_of(tf.io.serialize_tensor(tf.zeros([2, 3])).numpy()) == DetectedContent("tensor", "float32 [2, 3]")
    assert content_of(tf.io.serialize_tensor(tf.constant(["a", "b"])).numpy()) == DetectedContent(
        "tensor", "string [2]"
    )
    assert content_of(tf.io.serialize_tensor(tf.constant(True)).numpy()) == DetectedContent("tensor", "bool []")
    picture = tf.zeros([48, 64, 3], tf.uint8)
    assert content_of(tf.io.encode_jpeg(picture).numpy()) == DetectedContent("jpeg", "64x48")
    assert content_of(tf.io.encode_png(picture).numpy()) == DetectedContent("png", "64x48")
    assert content_of(tf.audio.encode_wav(tf.zeros([800, 2]), 8000).numpy()).detail == "2 channels, 8000 Hz, 0.1 s"
