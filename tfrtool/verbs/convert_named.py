"""What the name of an output promises; one that promises what is not written is refused, since it misleads readers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from tfrtool.errors import OptionError
from tfrtool.sources.sink_set import is_direct

if TYPE_CHECKING:
    from tfrtool.report import Compression
    from tfrtool.verbs.formats_base import Target

PACKINGS = {".gz": "gzip", ".zlib": "zlib", ".zz": "zlib"}
"""How an output is packed whose name ends so."""
_ENDS = {"none": "", "gzip": ".gz", "zlib": ".zlib"}
"""What is put behind a name that is to tell a packing."""
FORMATS = {
    ".tfrecord": "tfrecord",
    ".tfrecords": "tfrecord",
    ".ofrecord": "ofrecord",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""The format of an output whose name ends so, before a packing."""
_OTHER_PACKINGS = {".7z", ".br", ".bz2", ".lz4", ".lzma", ".sz", ".tar", ".tgz", ".xz", ".z", ".zip", ".zst"}
_LIKELY = {".json": "jsonl", ".of": "ofrecord", ".of_record": "ofrecord", ".tfr": "tfrecord"}
_OTHER_FORMATS = {".arrow", ".avro", ".csv", ".feather", ".h5", ".hdf5", ".npy", ".npz", ".orc", ".tsv", ".txt", ".xml"}


def told_by_name(output: str) -> Target | None:
    """The format that the name of an output tells, in capitals or not, if it does."""
    return cast("Target | None", FORMATS.get(os.path.splitext(_parted(output)[0])[1]))


def packing_told(output: str) -> Compression | None:
    """How an output of that name is packed, if the name tells."""
    return cast("Compression | None", PACKINGS.get(_parted(output)[1]))


def refuse_name(output: str, to: Target | None, compress: str) -> None:
    """Raise ValueError for the name of an output that promises what is not written.

    `to` and `compress` are what was asked for: a format that is asked for outright may have any name, but for the end
    that tells another packing.
    """
    if not output or output.endswith("/") or os.path.isdir(output) or is_direct(output):
        return
    stem, packed = _parted(output)
    end = os.path.splitext(stem)[1]
    if not packed and end in _OTHER_PACKINGS:
        raise ValueError(f"'{output}' ends in {end}, and no output is packed so: leave that off, or end it in .gz")
    if packed and (to or told_by_name(output)) == "parquet" and compress in ("auto", "none"):
        raise ValueError(f"'{output}': a Parquet file packs its columns itself: leave {packed} off its name")
    if packed and compress not in ("auto", PACKINGS[packed]):
        better = f"end it in {_ENDS[compress]}" if _ENDS[compress] else "leave that off"
        words = f"'%s' ends in {packed}, which {{compress={compress}}} contradicts: {better}, or leave {{compress}} out"
        raise OptionError(words, output)
    if to is None and (end in _LIKELY or end in _OTHER_FORMATS):
        say = f"{{to={_LIKELY[end]}}}" if end in _LIKELY else "{to}"
        raise OptionError(
            f"'%s': %s tells no format that is written: say {say}, or end the name in .tfrecord, .ofrecord, "
            ".jsonl or .parquet",
            output,
            end,
        )


def named_after(source: str, target: Target, suffix: str, packing: str, *, same: bool, untold: bool = False) -> str:
    """What an output is called that is named after an input: `suffix` is the usual end of its format.

    A name of the `same` format stays, but for the end that tells the packing. Names that do not end in a format, as
    those of shards, are looked for as they are, and get no such end, nor do outputs where the names of inputs that are
    packed alike leave it `untold`.
    """
    base = os.path.basename(source)
    told, packed = told_by_name(base), _parted(base)[1]
    stem = base.removesuffix(base[-len(packed) :]) if packed else base
    if same and told in (None, target):
        stays = PACKINGS[packed] == packing if packed else untold or told is None
        return base if stays else stem + _ENDS[packing]
    return (os.path.splitext(stem)[0] if told else stem) + suffix + _ENDS[packing]


def packed_untold(packing: str, target: Target | None, *, asked: bool) -> str:
    """A remark on outputs of which their names do not say how they are packed: as was `asked`, or as their inputs."""
    told = f"readers have to be told, as TensorFlow by compression_type='{packing.upper()}'"
    told = told if target == "tfrecord" else "readers have to be told"
    why = "and not all names say so" if asked else "as the first input is"
    return f"the output is packed with {packing}, {why}: {told}"


def _parted(output: str) -> tuple[str, str]:
    """The name without the end that tells a packing, and that end, both in small letters."""
    stem, end = os.path.splitext(output.lower())
    return (stem, end) if end in PACKINGS else (output.lower(), "")
