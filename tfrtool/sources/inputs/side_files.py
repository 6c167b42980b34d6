"""Names of files that stand in a directory of record files and hold no records."""

from __future__ import annotations

SIDE_SUFFIXES = (".crc", ".idx", ".index", ".tfindex", ".json", ".txt", ".pbtxt")
"""Suffixes of files about record files, in lower case."""

ABOUT = ("readme", "license", "notice", "readme.md", "license.md", "readme.rst")
"""Names of files that describe a data set, in lower case."""

ROWS = (".jsonl", ".ndjson", ".parquet", ".pq")
"""Suffixes of files of rows, which `convert` reads too."""

FOREIGN_SUFFIXES = (
    *(".csv", ".tsv", ".log", ".md", ".rst", ".html", ".htm", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg"),
    *(".py", ".pyc", ".ipynb", ".sh", ".proto", ".pdf", ".md5", ".sha256"),
    *(".arrow", ".avro", ".npy", ".npz", ".pkl", ".pickle", ".h5", ".hdf5", ".pt", ".pth", ".pb", ".onnx", ".sqlite"),
    *(".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".mp3", ".mp4", ".wav"),
    *(".tar", ".tgz", ".zip", ".7z", ".rar", ".bz2", ".xz", ".zst"),
)
"""Suffixes of files of other kinds, in lower case; each may be followed by `.gz`."""


def is_record_name(name: str, *, rows: bool = False) -> bool:
    """Return whether a file of this name, found in a directory, is a record file or, with `rows`, one of rows.

    Only the name counts. Files that an argument names are read whatever their names.
    """
    small = name.lower()
    if small.startswith(("_", ".")) or small.endswith(SIDE_SUFFIXES) or small in ABOUT:
        return False
    small = small.removesuffix(".gz")
    return not small.endswith(FOREIGN_SUFFIXES) and (rows or not small.endswith(ROWS))
