"""Emit `features.json` and `dataset_info.json`, with which `tfds.builder_from_directory` reads the files in place.

Both are proto3 messages as JSON, as tensorflow_datasets writes them: int64 values are strings. A data set has splits, a
split has shards, and `shardLengths` has the number of records of each, so all records must have been read. The names of
the shards are given as a template.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tfrtool.errors import OpenError, RefusedError, UnsupportedError, WriteError
from tfrtool.payload.content.media import IMAGES
from tfrtool.payload.schema.dataset import File, Schema
from tfrtool.payload.text import text_of
from tfrtool.sources.sinks.output_set import OutputSet, is_direct
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.schema.emit.common import Told, examples, told, unknown

_CLASS = "tensorflow_datasets.core.features"
_TYPES = {"bytes": "string", "float": "float32", "int64": "int64"}
_TAKEN_IMAGES = ("jpeg", "png")
_TAKEN = {
    ("jpeg", "grey"): ("uint8", 1),
    ("jpeg", "rgb"): ("uint8", 3),
    ("png", "grey"): ("uint8", 1),
    ("png", "rgb"): ("uint8", 3),
    ("png", "rgba"): ("uint8", 4),
    ("png", "16-bit grey"): ("uint16", 1),
    ("png", "16-bit rgb"): ("uint16", 3),
    ("png", "16-bit rgba"): ("uint16", 4),
}
"""Images that `tf.image.decode_image` returns with the samples that they hold. It replaces a palette by colours,
expands samples of fewer bits to 8, converts CMYK to RGB, and cannot decode two channels."""
_SHARD = re.compile(r"(?s)(?P<before>.*)-(?P<number>\d{5})-of-(?P<all>\d{5})(?P<after>.*)")
_SPLITS = ("train", "validation", "valid", "val", "test", "eval")


def emit(schema: Schema) -> str:
    """Return both documents as one, by file name. Raises `UnsupportedError` as `documents` does."""
    return _text(documents(schema))


def _text(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, indent=4, sort_keys=True) + "\n"


def documents(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return the documents by file name. Raises `UnsupportedError` if tfds could not read the data."""
    examples(schema, "tfds")
    if schema.limited:
        raise UnsupportedError("tfds needs the number of records of each shard: leave out -n")
    if any(file.path == "-" for file in schema.files):
        raise UnsupportedError("tfds needs files on disk, not standard input")
    odd = [file.path for file in schema.files if not isinstance(json_text(file.path), str)]
    if odd:
        raise UnsupportedError(f"tfds needs file names in UTF-8, and {odd[0]!r} is not: rename it")
    packed = [file.path for file in schema.files if file.compression != "none" and file.records]
    if packed:
        raise UnsupportedError(f"tfds cannot read compressed files: convert {packed[0]!r} first")
    others = [file for file in schema.files if file.kind not in (None, "example") or file.format == "ofrecord"]
    if others:
        held = f"records of kind {others[0].kind}" if others[0].kind else "OFRecords"
        raise UnsupportedError(f"tfds reads Examples, and {others[0].path!r} holds {held}: leave such files out")
    if lost := unknown(schema):
        advice = "verify and repair them, or leave such files out"
        raise UnsupportedError(f"tfds fails on damage, and the inputs have {', '.join(lost)}: {advice}")
    return {"features.json": features(schema), "dataset_info.json": dataset_info(schema)}


def features(schema: Schema) -> dict[str, Any]:
    """Return the FeaturesDict: images if all values are images, otherwise tensors with one fixed or open dimension.

    Features that no record sets are left out.
    """
    each = [told(feature, schema) for feature in schema.examples.features.values()]
    for one in each:
        if reason := one.left_out if one.no_text else one.refused:
            raise UnsupportedError(f"tfds cannot read the feature '{text_of(one.feature.name)}': {reason}")
    inner = {one.name: _feature(one) for one in each if not one.left_out}
    if not inner:
        raise UnsupportedError("tfds needs a feature, and no record sets one")
    return {"featuresDict": {"features": inner}, "pythonClassName": f"{_CLASS}.features_dict.FeaturesDict"}


def _feature(one: Told) -> dict[str, Any]:
    found = _image(one)
    if isinstance(found, tuple):
        format, dtype, channels = found
        image = {"dtype": dtype, "encodingFormat": format, "shape": {"dimensions": ["-1", "-1", str(channels)]}}
        return {"image": image, "pythonClassName": f"{_CLASS}.image_feature.Image"}
    shape: dict[str, Any] = {} if one.size == 1 else {"dimensions": [str(one.size or -1)]}
    tensor = {"dtype": _TYPES[one.kind], "encoding": "none", "shape": shape}
    return {"pythonClassName": f"{_CLASS}.tensor_feature.Tensor", "tensor": tensor}


def _image(one: Told) -> tuple[str, str, int] | str | None:
    """Return encoding, sample type and channels if tfds decodes the images losslessly, otherwise the reason; None if
    there is no image."""
    contents = one.feature.contents
    if contents.keys().isdisjoint(IMAGES):
        return None
    if len(contents) > 1:
        counts = sorted(contents.items(), key=lambda item: -item[1].values)
        return f"its values differ: {', '.join(f'{held.values:,} {content}' for content, held in counts)}"
    ((content, held),) = contents.items()
    if content not in _TAKEN_IMAGES:
        return f"tfds reads images that are {' or '.join(_TAKEN_IMAGES)}, and these are {content}"
    if one.size != 1:
        return "not every record has one image there"
    if sum(held.forms.values()) < held.values:
        return "the header of an image does not tell its channels"
    if len(held.forms) > 1:
        return f"the images differ: {', '.join(f'{count:,} {form}' for form, count in held.forms.items())}"
    (form,) = held.forms
    taken = _TAKEN.get((content, form))
    if taken is None:
        return f"tfds does not give the samples of a {content} as they are that is {form}"
    return content, *taken


def notes(schema: Schema) -> Iterator[str]:
    """Yield a sentence for each feature that tfds reads differently than expected; not escaped."""
    for feature in schema.examples.features.values():
        one = told(feature, schema)
        name = text_of(feature.name)
        if one.left_out:
            yield f"{name}: left out: {one.left_out}"
        elif isinstance(why := _image(one), str):
            yield f"{name}: told as bytes: {why}"


def dataset_info(schema: Schema) -> dict[str, Any]:
    """Return name, version and splits; the data set is named after the folder of its files, as far as that is an
    identifier."""
    folders = {os.path.dirname(os.path.abspath(file.path)) for file in schema.files}
    if len(folders) > 1:
        raise UnsupportedError(f"tfds reads the files of one folder, and these are in {len(folders)} folders")
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
        raise UnsupportedError(f"tfds does not accept braces in a file name: {text!r}")
    return text


def check_target(inputs: Sequence[str], folder: str, force: bool = False) -> None:
    """Raise what `write` raises about the names of the inputs and the folder, before anything is read."""
    with _outputs(inputs, folder, force):
        pass


def paths_in(folder: str) -> list[str]:
    """Return the paths of both documents."""
    return [os.path.join(folder, name) for name in ("features.json", "dataset_info.json")]


def write(schema: Schema, folder: str, force: bool = False) -> list[str]:
    """Write both documents into an existing folder and return their paths.

    Raises `OpenError` if the folder does not exist, `RefusedError` if the record files are in another folder,
    `WriteError` if a document exists and `force` is not given, is an input, or cannot be written; then neither is
    written.
    """
    made = documents(schema)
    with _outputs([file.path for file in schema.files], folder, force) as outputs:
        paths = paths_in(folder)
        for path in paths:
            outputs.open(path).write(_text(made[os.path.basename(path)]).encode())
        outputs.publish(paths)
    return paths


def _outputs(inputs: Sequence[str], folder: str, force: bool) -> OutputSet:
    """Return the output set of both documents."""
    if not Path(folder).is_dir():
        raise OpenError(f"'{folder}' is not a folder; use the folder of the record files")
    for lies in {os.path.dirname(path) or "." for path in inputs if path != "-"}:
        if "://" in lies:
            raise RefusedError(f"tfds looks for its two files beside the records, in '{lies}', and this writes to disk")
        if not Path(lies).is_dir() or not os.path.samefile(lies, folder):
            raise RefusedError(
                f"tfds looks for the record files beside the two that this writes: they belong into '{lies}'"
            )
    paths = paths_in(folder)
    for path in filter(is_direct, paths):
        raise WriteError(f"cannot write '{path}': it is a pipe or a device")
    outputs = OutputSet(paths[0], force=force, same_as=inputs)
    outputs.check_target(paths)
    return outputs
