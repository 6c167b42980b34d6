"""Files that stand in a directory of records and hold none: told by well-known names, and never against their bytes."""

from __future__ import annotations

import zlib

from tfrtool.sources.wrapper import GZIP_MAGIC

ROWS = (".jsonl", ".ndjson", ".parquet", ".pq")
"""What `convert` reads too."""

STRANGERS = (
    *(".csv", ".tsv", ".log", ".md", ".rst", ".html", ".htm", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg"),
    *(".py", ".pyc", ".ipynb", ".sh", ".proto", ".pdf", ".md5", ".sha256"),
    *(".arrow", ".avro", ".npy", ".npz", ".pkl", ".pickle", ".h5", ".hdf5", ".pt", ".pth", ".pb", ".onnx", ".sqlite"),
    *(".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".mp3", ".mp4", ".wav"),
    *(".tar", ".tgz", ".zip", ".7z", ".rar", ".bz2", ".xz", ".zst"),
)
"""The ends of names of other kinds of files, in small letters; each with `.gz` behind it too."""

_LOOK = 512
"""Bytes that hold a gzip header of any usual size, and the 12 bytes of a record's header behind it."""


def is_stranger(name: str, path: str, *, rows: bool = False) -> bool:
    """Whether the file at `path`, called `name`, is of another kind by the end of its name, and does not deny it.

    It does where the checksum of a record's length holds at its beginning, packed by gzip or not. `rows`: files of rows
    are wanted, too. A file that cannot be read is what its name says.
    """
    small = name.lower().removesuffix(".gz")
    if not small.endswith(STRANGERS) and (rows or not small.endswith(ROWS)):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(_LOOK)
    except OSError:
        return True
    if head.startswith(GZIP_MAGIC):
        try:
            head = zlib.decompressobj(31).decompress(head, 12)
        except zlib.error:
            return True
    from tfrtool.framing.crc import header_is_sound

    return not header_is_sound(head)
