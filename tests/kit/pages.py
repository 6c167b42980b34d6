"""Reads pages strictly, and makes the data that a page must not be led astray by."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

from kit.make_samples import example, frame

VOID = {"br", "img", "link", "meta"}
HOSTILE = [
    "<script>window.hurt=1</script>",
    "\"><img src=x onerror='window.hurt=1'>",
    "' onmouseover='window.hurt=1",
    "</td></table></main><h1>hurt",
    "</style></script></title><!--",
    "&lt;b&gt; &amp; \\ {} %s",
    "a\u202eb\u2066c\u200d\x1b[31m\x00\x07\r\n\t",
    "https://example.com/x.png url(https://example.com)",
]


class PageReader(HTMLParser):
    """A page whose elements all end where they must; every attribute with a value that is asked for is in `given`."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.given: list[tuple[str, str, str]] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        self.given += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.words += data
            if {"td", "th"} & set(self._open):
                self.rows[-1][-1] += data

    def attributes(self, *names: str) -> set[str]:
        """All values of some attributes."""
        return {value for _, name, value in self.given if name in names}


def read_page(path: Path) -> PageReader:
    """A page in a file."""
    return PageReader(path.read_text(encoding="utf-8"))


def png(width: int, height: int, filler: bytes = b"") -> bytes:
    """A grey image; `filler` is a chunk that a reader passes over."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(bytes([0, *[40 * y % 256] * width]) for y in range(height)))
    parts = chunk(b"IHDR", head) + (chunk(b"tEXt", filler) if filler else b"") + chunk(b"IDAT", rows)
    return b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IEND", b"")


def hostile_files(folder: Path) -> list[str]:
    """Files whose names, features, values and contents are written to do harm, some of them damaged."""
    payload = example(*((text.encode(), [text.encode(), b"\xff" + text.encode()]) for text in HOSTILE))
    content = frame(payload) * 3
    names = [text.replace("/", "\u2215").replace("\x00", "") for text in HOSTILE]
    for number, name in enumerate(names):
        damaged = content[:30] + b"!" + content[31:]
        (folder / name).write_bytes((content, damaged, b"<html>" + name.encode())[number % 3])
    (folder / "\udcff\udcfe").write_bytes(content[:-3])
    return [*names, "\udcff\udcfe", "no<such>file"]
