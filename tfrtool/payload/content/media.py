"""Recognize images, sound and containers by their first bytes, and read what their headers hold.

A few bytes are read, never all. Each reader gets the whole value (a view, not copied) once its magic bytes match, and
returns a short detail, "" if the header is cut off or has none, or None if the value only looks like that format. Of
JPEG and PNG it returns the form too: which channels, of how many bits. Layouts: ITU-T T.81 (JPEG markers), the PNG,
GIF89a, RIFF/WebP, BMP, FLAC, Ogg, MPEG audio and ISO base media file format descriptions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from tfrtool.payload.wire.reader import Buffer

Reader = Callable[[Buffer], str | tuple[str, str] | None]

IMAGES = ("jpeg", "png", "gif", "webp", "bmp", "tiff", "avif", "heic", "jpeg2000")
"""The formats that are images."""
_MAX_HOPS = 512  # segments or chunks that are jumped over in search of a header


def _size(width: int, height: int) -> str:
    return f"{width}x{height}"


def _form(bits: int, channels: str | None) -> str:
    """`rgb`, `16-bit grey`; "" where the header says what no such image has."""
    if channels is None:
        return ""
    return channels if bits == 8 else f"{bits}-bit {channels}"


_COMPONENTS = {1: "grey", 3: "rgb", 4: "cmyk"}


def _jpeg(value: Buffer) -> str | tuple[str, str]:
    """Jump from segment to segment to the start of a frame (SOF0 to SOF15 but for DHT, JPG and DAC), which has the
    bits of a sample, the size, and how many components there are. Three come out of every decoder as red, green, blue.
    """
    at = 2
    for _ in range(_MAX_HOPS):
        if at + 9 > len(value) or value[at] != 0xFF:
            break
        marker = value[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            bits, height, width = struct.unpack_from(">BHH", value, at + 4)
            channels = value[at + 9] if at + 9 < len(value) else 0
            return _size(width, height), _form(bits, _COMPONENTS.get(channels) if bits in (8, 12, 16) else None)
        else:
            at += 2 + struct.unpack_from(">H", value, at + 2)[0]
    return ""


_COLOURS = {0: "grey", 2: "rgb", 3: "palette", 4: "grey+alpha", 6: "rgba"}


def _png(value: Buffer) -> str | tuple[str, str]:
    """IHDR comes first: width, height, bits of a sample, type of colour."""
    if len(value) < 24 or bytes(value[12:16]) != b"IHDR":
        return ""
    size = _size(*struct.unpack_from(">II", value, 16))
    if len(value) < 26 or value[24] not in (1, 2, 4, 8, 16):
        return size
    return size, _form(value[24], _COLOURS.get(value[25]))


def _gif(value: Buffer) -> str | None:
    """Behind the size, flags and a table of colours if the flags say so, an image, an extension or the end comes."""
    if bytes(value[4:6]) not in (b"7a", b"9a"):
        return None
    if len(value) > 13:
        flags = value[10]
        first = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
        if first < len(value) and value[first] not in b",!;":
            return None
    return _size(*struct.unpack_from("<HH", value, 6)) if len(value) >= 10 else ""


def _bmp(value: Buffer) -> str | None:
    """The header after the file header names its own size; few sizes exist, which tells text that begins with BM."""
    header = struct.unpack_from("<I", value, 14)[0] if len(value) >= 22 else 0
    if header == 12:
        return _size(*struct.unpack_from("<HH", value, 18))
    if header not in (40, 52, 56, 64, 108, 124) or len(value) < 26:
        return None
    width, height = struct.unpack_from("<ii", value, 18)
    return _size(width, abs(height))


def _tiff(value: Buffer) -> str | None:
    return "" if len(value) >= 8 else None


def _webp(value: Buffer) -> str | None:
    """The first chunk is VP8 (lossy), VP8L (lossless, 14 bits a side less one) or VP8X (24 bits a side less one)."""
    chunk = bytes(value[12:16])
    if chunk == b"VP8 " and len(value) >= 30:
        width, height = struct.unpack_from("<HH", value, 26)
        return _size(width & 0x3FFF, height & 0x3FFF)
    if chunk == b"VP8L" and len(value) >= 25:
        bits = struct.unpack_from("<I", value, 21)[0]
        return _size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if chunk == b"VP8X" and len(value) >= 30:
        sides = int.from_bytes(value[24:30], "little")
        return _size((sides & 0xFFFFFF) + 1, (sides >> 24) + 1)
    return ""


def _wav(value: Buffer) -> str | None:
    """`fmt ` has channels, rate and bytes a second; the size of `data` over the last gives the length."""
    at, says, speed = 12, "", 0
    for _ in range(_MAX_HOPS):
        if at + 8 > len(value):
            break
        name, size = bytes(value[at : at + 4]), struct.unpack_from("<I", value, at + 4)[0]
        if name == b"fmt " and at + 24 <= len(value):
            channels, rate, speed = struct.unpack_from("<HII", value, at + 10)
            says = _sound(channels, rate)
        elif name == b"data":
            return f"{says}, {min(size, len(value) - at - 8) / speed:.3g} s" if speed else says
        at += 8 + size + size % 2
    return says


def _sound(channels: int, rate: int) -> str:
    return f"{channels} channel{'' if channels == 1 else 's'}, {rate} Hz"


def _flac(value: Buffer) -> str | None:
    """STREAMINFO comes first: 20 bits of rate, 3 of channels less one, 5 of depth less one, 36 of samples in all."""
    if len(value) < 26:
        return ""
    bits = int.from_bytes(value[18:26], "big")
    rate, channels, samples = bits >> 44, (bits >> 41 & 7) + 1, bits & 0xFFFFFFFFF
    if not rate:
        return ""
    return _sound(channels, rate) + (f", {samples / rate:.3g} s" if samples else "")


def _ogg(value: Buffer) -> str | None:
    """The first packet of the first page names the codec."""
    if len(value) < 27 or value[4] != 0:
        return None
    packet = 27 + value[26]
    if bytes(value[packet + 1 : packet + 7]) == b"vorbis" and packet + 16 <= len(value):
        channels, rate = struct.unpack_from("<BI", value, packet + 11)
        return f"vorbis, {_sound(channels, rate)}"
    return "opus" if bytes(value[packet : packet + 8]) == b"OpusHead" else ""


def _id3(value: Buffer) -> str | None:
    """A version that exists, and a size of four 7-bit bytes."""
    if len(value) < 10 or value[3] > 4 or any(byte > 0x7F for byte in value[6:10]):
        return None
    return ""


_BITRATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)  # kbit/s of MPEG 1 layer III
_BITRATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)  # of MPEG 2 and 2.5
_RATES = (44100, 48000, 32000)


def _mp3(value: Buffer) -> str | None:
    """Eleven set bits are met by chance, so the next frame must stand where the first says, unless the value ends
    there.
    """
    first = _mp3_frame(value, 0)
    if first is None:
        return None
    length, says = first
    if length == len(value) or (length < len(value) and _mp3_frame(value, length)):
        return says
    return None


def _mp3_frame(value: Buffer, at: int) -> tuple[int, str] | None:
    """The length and the sound of the layer III frame at `at`, or None."""
    if at + 4 > len(value) or value[at] != 0xFF or value[at + 1] & 0xE6 != 0xE2:
        return None
    version = value[at + 1] >> 3 & 3  # 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
    bitrate, rate = value[at + 2] >> 4, value[at + 2] >> 2 & 3
    if version == 1 or bitrate in (0, 15) or rate == 3:
        return None
    hertz = _RATES[rate] >> {3: 0, 2: 1, 0: 2}[version]
    speed = (_BITRATES if version == 3 else _BITRATES_2)[bitrate]
    length = (144 if version == 3 else 72) * speed * 1000 // hertz + (value[at + 2] >> 1 & 1)
    return length, _sound(1 if value[at + 3] >> 6 == 3 else 2, hertz)


def _mp4(value: Buffer) -> str | None:
    """A box `ftyp` comes first: its size, its name, the brand of the file."""
    size = int.from_bytes(value[0:4], "big")
    if not 16 <= size <= 4096 or size % 4:
        return None
    brand = bytes(value[8:12])
    return brand.decode().strip() if brand.isascii() and brand.decode().isprintable() else None


def _heif(value: Buffer) -> str | None:
    """Still images in the box format of mp4; their size stands deep inside."""
    return None if _mp4(value) is None else ""


def _jpeg2000(value: Buffer) -> str:
    """The header box of a file, which comes third, or SIZ of a bare stream of code, has the size (ITU-T T.800)."""
    if value[0] == 0xFF and len(value) >= 24:
        right, bottom, left, top = struct.unpack_from(">IIII", value, 8)
        return _size(right - left, bottom - top)
    at = bytes(value[:128]).find(b"ihdr")
    if at < 0 or at + 12 > len(value):
        return ""
    height, width = struct.unpack_from(">II", value, at + 4)
    return _size(width, height)


_MAGIC: tuple[tuple[int, bytes, str, Reader], ...] = (
    (0, b"\xff\xd8\xff", "jpeg", _jpeg),
    (0, b"\x89PNG\r\n\x1a\n", "png", _png),
    (0, b"GIF8", "gif", _gif),
    (8, b"WEBP", "webp", _webp),
    (8, b"WAVE", "wav", _wav),
    (0, b"BM", "bmp", _bmp),
    (0, b"II*\0", "tiff", _tiff),
    (0, b"MM\0*", "tiff", _tiff),
    (0, b"fLaC", "flac", _flac),
    (0, b"OggS", "ogg", _ogg),
    (0, b"ID3", "mp3", _id3),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "jpeg2000", _jpeg2000),
    (0, b"\xffO\xffQ\0", "jpeg2000", _jpeg2000),
    (0, b"\xff", "mp3", _mp3),
    (4, b"ftypavif", "avif", _heif),
    (4, b"ftypheic", "heic", _heif),
    (4, b"ftyp", "mp4", _mp4),
)
_BY_FIRST: dict[bytes, list[tuple[int, bytes, str, Reader]]] = {}
for _row in _MAGIC:
    _BY_FIRST.setdefault({8: b"R", 4: b""}.get(_row[0], _row[1][:1]), []).append(_row)


def media_of(value: Buffer) -> tuple[str, str] | None:
    """The format and what its header says, such as ("jpeg", "640x480"), or None."""
    found = identify_media(value)
    return found and found[:2]


def identify_media(value: Buffer) -> tuple[str, str, str] | None:
    """The same, and the form of an image: `rgb`, `grey`, `16-bit rgba`; "" where it is of no known one, or no image."""
    head = bytes(value[:16])
    for offset, magic, name, read in [*_BY_FIRST.get(head[:1], ()), *(_BY_FIRST[b""] if head[4:8] == b"ftyp" else ())]:
        if head.startswith(magic, offset) and (offset != 8 or head.startswith(b"RIFF")):
            detail = read(value)
            if isinstance(detail, tuple):
                return (name, *detail)
            if detail is not None:
                return name, detail, ""
    return None
