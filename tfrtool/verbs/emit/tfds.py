"""`features.json` and `dataset_info.json`, with which `tfds.builder_from_directory` reads the files where they lie.

Both are proto3 messages as JSON, as tensorflow_datasets itself writes them: int64 values are strings. A data set has
splits, a split has shards, and the number of records of each stands in `shardLengths`, so all records must have been
read. The names of the shards are told as a template.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfrtool.errors import OpenError, UnsupportedError, WriteError
from tfrtool.payload.schema.schema import File, Schema
from tfrtool.report import FORCE
from tfrtool.sources.sink import atomic_output
from tfrtool.verbs.emit.common import Told, examples, told

_CLASS = "tensorflow_datasets.core.features"
_TYPES = {"bytes": "string", "float": "float32", "int64": "int64"}
_IMAGES = ("jpeg", "png")
_SHARD = re.compile(r"(?s)(?P<before>.*)-(?P<number>\d{5})-of-(?P<all>\d{5})(?P<after>.*)")
_SPLITS = ("train", "validation", "valid", "val", "test", "eval")


def documents(schema: Schema) -> dict[str, dict[str, Any]]:
    """Name of a file -> its document. Raises `UnsupportedError` where tfds could not read the data."""
    examples(schema, "tfds")
    if schema.limited:
        raise UnsupportedError("tfds needs the number of records of each shard: leave out -n")
    packed = [file.path for file in schema.files if file.compression != "none" and file.records]
    if packed:
        raise UnsupportedError(f"tfds reads plain files alone, and {packed[0]!r} is compressed: convert them first")
    return {"features.json": features(schema), "dataset_info.json": dataset_info(schema)}


def features(schema: Schema) -> dict[str, Any]:
    """The FeaturesDict: images as images where all values are, the rest as tensors of one fixed or one open length."""
    each = [told(feature, schema) for feature in schema.examples.features.values()]
    left_out = [one for one in each if one.left_out or one.doubt]
    if left_out:
        one = left_out[0]
        reason = one.left_out or one.doubt
        raise UnsupportedError(f"tfds cannot read the feature {one.feature.name!r}: {reason}")
    inner = {one.name: _feature(one) for one in each}
    return {"featuresDict": {"features": inner}, "pythonClassName": f"{_CLASS}.features_dict.FeaturesDict"}


def _feature(one: Told) -> dict[str, Any]:
    contents = list(one.feature.contents)
    if one.size == 1 and contents in ([_IMAGES[0]], [_IMAGES[1]]):
        image = {"dtype": "uint8", "encodingFormat": contents[0], "shape": {"dimensions": ["-1", "-1", "3"]}}
        return {"image": image, "pythonClassName": f"{_CLASS}.image_feature.Image"}
    shape: dict[str, Any] = {} if one.size == 1 else {"dimensions": [str(one.size or -1)]}
    tensor = {"dtype": _TYPES[one.kind], "encoding": "none", "shape": shape}
    return {"pythonClassName": f"{_CLASS}.tensor_feature.Tensor", "tensor": tensor}


def dataset_info(schema: Schema) -> dict[str, Any]:
    """Name, version and splits; the data set is named as the folder of its files, as far as that is an identifier."""
    folders = {os.path.dirname(os.path.abspath(file.path)) for file in schema.files}
    if len(folders) > 1:
        raise UnsupportedError(f"tfds reads the files of one folder, and these lie in {len(folders)}")
    name = re.sub(r"\W+", "_", os.path.basename(folders.pop()).lower(), flags=re.ASCII).strip("_")
    name = name if name[:1].isalpha() else f"records_{name}".rstrip("_")
    return {
        "fileFormat": "tfrecord",
        "moduleName": "tfrtool",
        "name": name,
        "releaseNotes": {},
        "splits": _splits(schema.files),
        "version": "1.0.0",
    }


def _splits(files: Sequence[File]) -> list[dict[str, Any]]:
    groups: dict[str, list[tuple[int, int, File]]] = {}
    for file in files:
        base = os.path.basename(file.path)
        found = _SHARD.fullmatch(base)
        number, count = (int(found["number"]), int(found["all"])) if found else (0, 1)
        template = (
            f"{_literal(found['before'])}-{{SHARD_X_OF_Y}}{_literal(found['after'])}" if found else _literal(base)
        )
        groups.setdefault(template, []).append((number, count, file))
    splits: list[dict[str, Any]] = []
    names: set[str] = set()
    for template, shards in groups.items():
        shards.sort(key=lambda shard: shard[0])
        if [shard[0] for shard in shards] != list(range(shards[0][1])):
            raise UnsupportedError(f"tfds needs every shard of a set, and of {template!r} some were not read")
        name = next((split for split in _SPLITS if re.search(rf"(?<![a-z]){split}(?![a-z])", template)), "train")
        if name in names:
            name = f"{name}_{len(names)}"
        names.add(name)
        splits.append(
            {
                "filepathTemplate": template,
                "name": name,
                "numBytes": str(sum(file.bytes for _, _, file in shards)),
                "shardLengths": [str(file.records) for _, _, file in shards],
            }
        )
    return splits


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise UnsupportedError(f"tfds takes braces in the name of a file for its own: {text!r}")
    return text


def write(schema: Schema, folder: str, force: bool = False) -> list[str]:
    """Write both documents into a folder that is there, and give their paths.

    Raises `OpenError` where the folder is not there, `WriteError` where a document is there already and `force` is not
    given; then nothing is written.
    """
    import json

    made = documents(schema)
    if not Path(folder).is_dir():
        raise OpenError(f"{folder!r} is no folder; it should be the one in which the record files lie")
    paths = {os.path.join(folder, name): document for name, document in made.items()}
    for path in paths:
        if not force and os.path.lexists(path):
            raise WriteError(f"{path!r} exists already", FORCE)
    for path, document in paths.items():
        with atomic_output(path, force=force) as out:
            out.write((json.dumps(document, indent=4, sort_keys=True) + "\n").encode())
    return list(paths)
