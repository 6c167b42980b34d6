"""What `schema --emit` makes: exact texts, and the programs that they are for."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from kit.damage import flip
from kit.messages import entry, event, example, ofrecord, raw_example, scalar, sequence, sized, tag
from kit.program import environment, run
from kit.schemas import HOSTILE, PIECES, described, mixed
from pytest import mark

from tfrtool.errors import OpenError, RefusedError, UnsupportedError, WriteError
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.schema.dataset import Schema
from tfrtool.verbs.schema.emit import tfds
from tfrtool.verbs.schema.emit.forms import FORMS, emit, notes
from tfrtool.verbs.schema.findings import findings

JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b080010002001011100")

ONE = ("int64_list", [1])


def sequences() -> list[bytes]:
    steps = [("int64_list", [1, 2])]
    return [
        sequence({"id": ("bytes_list", [b"x"])}, {"pair": steps * (n + 1), "words": [("bytes_list", [b"w"] * n)]})
        for n in range(3)
    ]


def mixed_schema(tmp_path: Path, **how: int) -> Schema:
    return described(tmp_path, mixed(), **how)  # type: ignore[arg-type]


def run_code(code: str) -> dict[str, Any]:
    """The names that a text of Python defines, run without the packages that it imports."""
    scope: dict[str, Any] = {}
    exec("\n".join(line for line in code.splitlines() if not line.startswith("import ")), scope)
    return scope


def in_order(text: str) -> list[str]:
    """Lines without the comments, sorted, since the order of a protobuf map is free."""
    return sorted(line.strip() for line in text.splitlines() if not line.startswith("#"))


# Exact texts


def test_tf_features_are_fixed_where_every_record_had_as_many_values(tmp_path: Path) -> None:
    text = emit(mixed_schema(tmp_path), "tf")
    assert text.startswith("# Features for tf.io, from 6 records of 1 file, by tfrtool schema.\nimport tensorflow")
    assert in_order(text) == sorted(
        [
            "",
            "import tensorflow as tf",
            "FEATURES = {",
            "'id': tf.io.FixedLenFeature([], tf.string),",
            "'label': tf.io.FixedLenFeature([], tf.int64),",
            "'score': tf.io.FixedLenFeature([], tf.float32),",
            "'box': tf.io.FixedLenFeature([4], tf.float32),",
            "'tags': tf.io.VarLenFeature(tf.string),",
            f"{ascii(HOSTILE)}: tf.io.FixedLenFeature([], tf.int64),",
            "'rare': tf.io.VarLenFeature(tf.int64),",
            "# 'nothing' is left out: no record sets its kind",
            "}",
        ]
    )


def test_of_a_sample_nothing_is_required(tmp_path: Path) -> None:
    schema = mixed_schema(tmp_path, n=2)
    assert "FixedLen" not in emit(schema, "tf")
    assert "Only the first records of each file were read" in emit(schema, "tf")
    assert "min_fraction" not in emit(schema, "pbtxt")
    with pytest.raises(UnsupportedError, match="leave out -n"):
        tfds.documents(schema)


def test_sequences_have_two_tf_dictionaries(tmp_path: Path) -> None:
    text = emit(described(tmp_path, sequences()), "tf")
    assert "CONTEXT_FEATURES = {\n    'id': tf.io.FixedLenFeature([], tf.string),\n}" in text
    assert "'pair': tf.io.FixedLenSequenceFeature([2], tf.int64)," in text
    assert "'words': tf.io.VarLenFeature(tf.string)," in text


def test_lists_whose_steps_are_all_empty_have_no_fixed_length_for_tf(tmp_path: Path) -> None:
    empty = sequence({"id": ("int64_list", [1])}, {"boxes": [("int64_list", [])] * 2})
    assert "'boxes': tf.io.VarLenFeature(tf.int64)," in emit(described(tmp_path, [empty]), "tf")


def test_dali_features_have_defaults_and_no_lists_of_strings(tmp_path: Path) -> None:
    text = emit(mixed_schema(tmp_path), "dali")
    assert "import nvidia.dali.tfrecord as tfrec\n" in text
    assert "'id': tfrec.FixedLenFeature((), tfrec.string, \"\")," in text
    assert "'label': tfrec.FixedLenFeature([1], tfrec.int64, 0)," in text
    assert "'box': tfrec.FixedLenFeature([4], tfrec.float32, 0.0)," in text
    assert "    # 'rare': tfrec.VarLenFeature(tfrec.int64, 0),  # missing in 3 of 6 records; DALI stops" in text
    assert "# 'tags' is left out: DALI reads one bytes value" in text


def test_the_description_for_tfrecord_has_what_every_record_sets(tmp_path: Path) -> None:
    scope = run_code(emit(mixed_schema(tmp_path), "tfrecord"))
    kinds = {"id": "byte", "label": "int", "score": "float", "box": "float", "tags": "byte", HOSTILE: "int"}
    assert scope["description"] == kinds
    scope = run_code(emit(described(tmp_path, sequences()), "tfrecord"))
    assert (scope["description"], scope["sequence_description"]) == ({"id": "byte"}, {"pair": "int", "words": "byte"})


def test_pbtxt_blocks_say_type_presence_and_shape(tmp_path: Path) -> None:
    text = emit(mixed_schema(tmp_path), "pbtxt")
    always = "  presence { min_fraction: 1.0 min_count: 1 }\n"
    assert f'feature {{\n  name: "id"\n  type: BYTES\n{always}  shape {{ dim {{ size: 1 }} }}\n}}\n' in text
    assert f'feature {{\n  name: "tags"\n  type: BYTES\n{always}  value_count {{ min: 0 max: 5 }}\n}}\n' in text
    assert 'name: "rare"\n  type: INT\n  presence { min_count: 1 }\n  value_count { min: 1 max: 1 }\n' in text
    assert "  int_domain { min: 0 max: 1 is_categorical: true }\n" in text
    assert "  type: BYTES\n  presence { min_count: 0 }\n}\n" in text.partition('name: "nothing"')[2]


def test_pbtxt_counts_the_steps_of_a_feature_list_then_the_values_of_a_step(tmp_path: Path) -> None:
    text = emit(described(tmp_path, sequences()), "pbtxt")
    levels = "value_counts {{ value_count {{ min: {} max: {} }} value_count {{ min: {} max: {} }} }}\n"
    assert levels.format(1, 3, 2, 2) in text.partition('name: "pair"')[2].partition("feature {")[0]
    assert levels.format(1, 1, 0, 2) in text.partition('name: "words"')[2].partition("feature {")[0]
    empty = sequence({}, {"boxes": [("int64_list", [])] * 2})
    assert "{ value_count { min: 2 max: 2 } value_count { } }" in emit(described(tmp_path, [empty]), "pbtxt")
    assert "value_count" not in emit(described(tmp_path, sequences(), n=1), "pbtxt").partition("SEQUENCE")[2]


def test_names_are_quoted_so_that_they_are_names_alone(tmp_path: Path) -> None:
    schema = mixed_schema(tmp_path)
    for what in ("tf", "dali"):
        tree = ast.parse(emit(schema, what))
        keys = [key.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]  # type: ignore
        assert HOSTILE in keys
        assert {type(node) for node in tree.body} == {ast.Import, ast.Assign}
    assert all(emit(schema, what).isascii() for what in FORMS if what != "tfds")


ODD_NAME, GOOD_NAME = (raw_example(entry(name, sized(3, sized(1, b"\7")))) for name in (b"a\xff\n'#", b"b"))


def test_a_name_that_is_not_utf8_is_left_out_and_said(tmp_path: Path) -> None:
    schema = described(tmp_path, [ODD_NAME + GOOD_NAME])
    assert schema.examples.records == 1
    for what, more in {"tf": "", "tfrecord": ", and the package stops at a record", "pbtxt": ""}.items():
        assert f'# "a\\xff\\n\'#" is left out: its name is not UTF-8{more}' in emit(schema, what)
        assert [note.startswith("a\\xff\n'#: left out: its name is not UTF-8") for note in notes(schema, what)] == [
            True
        ]
    with pytest.raises(UnsupportedError, match="not UTF-8"):
        tfds.documents(schema)


def test_a_name_that_is_not_utf8_is_left_out_beside_an_empty_one(tmp_path: Path) -> None:
    schema = described(tmp_path, [raw_example(entry(b"", sized(3, sized(1, b"\7"))), entry(b"\xff", b""))])
    for what in ("tf", "tfrecord", "pbtxt", "dali"):
        text = emit(schema, what)
        assert "# '\\xff' is left out: its name is not UTF-8" in text and "'' is left out" not in text


def test_that_a_reader_stops_at_payloads_that_do_not_parse_is_said(tmp_path: Path) -> None:
    schema = described(tmp_path, [GOOD_NAME] * 3 + [b"\xff"])
    for what in ("tf", "tfrecord", "pbtxt", "dali"):
        text = emit(schema, what)
        assert "# Left out, and possibly unlike what is described: 1 payload that does not parse.\n" in text
        assert ("stops at a payload that does not parse" in text) == (what in ("tfrecord", "dali"))
    with pytest.raises(UnsupportedError, match="fails on damage, and the inputs have 1 payload that"):
        tfds.documents(schema)


@mark.parametrize("what", ["tf", "tfrecord", "dali"])
def test_a_schema_of_no_payload_that_parses_is_refused(what: str, tmp_path: Path) -> None:
    schema = described(tmp_path, [event() + sized(5, sized(1, sized(1, b"\xff")))])
    with pytest.raises(UnsupportedError, match="nothing of the inputs can be described: they have 1 payload that does"):
        emit(schema, what)


@mark.parametrize("what", ["tf", "tfrecord", "dali"])
def test_a_schema_of_names_alone_that_are_not_utf8_is_refused(what: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="not UTF-8") as refused:
        emit(described(tmp_path, [ODD_NAME]), what)
    assert '"a\\xff\\n\'#" is ' in str(refused.value)


def test_a_feature_of_two_kinds_is_left_out_for_tf_and_said(tmp_path: Path) -> None:
    payloads = [example({"a": ("int64_list" if n else "float_list", [1]), "b": ("int64_list", [1])}) for n in range(3)]
    schema = described(tmp_path, payloads)
    why = "kinds differ: int64 in 2, float in 1 records; parsing stops at others than int64"
    assert f"    # 'a': tf.io.FixedLenFeature([], tf.int64),  # {why}\n" in emit(schema, "tf")
    assert list(notes(schema, "tf")) == [f"a: left out: {why}"]
    for what in ("dali", "tfrecord", "pbtxt"):
        (note,) = notes(schema, what)
        assert "a: " in note and "kinds differ: int64 in 2, float in 1 records; " in note


@mark.tensorflow
@mark.consumer("tensorflow")
def test_tensorflow_parses_records_whose_other_features_are_of_two_kinds_or_in_pieces(tmp_path: Path) -> None:
    import tensorflow as tf

    odd = [example({"k": (kind, [1]), "b": ("int64_list", [1])}) for kind in ("int64_list", "float_list")]
    payloads = [one + PIECES for one in odd]
    scope: dict[str, Any] = {}
    exec(emit(described(tmp_path, payloads), "tf"), scope)
    for payload in payloads:
        assert {name: int(one) for name, one in tf.io.parse_single_example(payload, scope["FEATURES"]).items()} == {
            "b": 1
        }


@mark.parametrize(
    ("payloads", "why"),
    [
        ([example({"a": None})], "'a' is left out: no record sets its kind"),
        (
            [example({"a": ("int64_list" if n else "float_list", [1])}) for n in range(3)],
            "'a' is left out: kinds differ",
        ),
        ([PIECES], "'a' is left out: packed numbers in several pieces; parsing stops there"),
        ([sequence({"a": None}, {"b": []})], "any of the 2 features of all records: 'a' is left out"),
    ],
)
def test_a_schema_without_a_feature_for_tf_is_refused(payloads: list[bytes], why: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=f"tf.io cannot read .*{why}"):
        emit(described(tmp_path, payloads), "tf")


def test_packed_numbers_in_several_pieces_are_told_to_be_refused(tmp_path: Path) -> None:
    payloads = [example({"a": ("int64_list", [1, 2])})] * 2 + [PIECES] * 2
    schema = described(tmp_path, payloads)
    also = described(tmp_path, [one + example({"b": ("int64_list", [1])}) for one in payloads])
    why = "packed numbers in several pieces; parsing stops there"
    assert f"    # 'a': tf.io.FixedLenFeature([2], tf.int64),  # {why}\n" in emit(also, "tf")
    with pytest.raises(UnsupportedError, match="several pieces"):
        tfds.documents(schema)
    assert [(one.what, one.place and one.place.record) for one in findings(schema)] == [("pieces", 2)]
    unpacked = raw_example(entry(b"a", sized(3, tag(1, 0), b"\1", tag(1, 0), b"\2")))
    assert list(findings(described(tmp_path, [unpacked]))) == []


@mark.tensorflow
@mark.consumer("tensorflow")
def test_tensorflow_refuses_packed_numbers_in_several_pieces() -> None:
    import tensorflow as tf

    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_single_example(PIECES, {"a": tf.io.FixedLenFeature([2], tf.int64)})


@mark.parametrize("what", ["tf", "dali", "tfrecord"])
def test_what_is_no_example_is_refused_by_those_who_read_examples(what: str, tmp_path: Path) -> None:
    others = {"ofrecord": ofrecord({"a": ("int32_list", [1])}), "event": event(step=1, summary=scalar("loss", 1))}
    for kind, payload in others.items():
        with pytest.raises(UnsupportedError, match=f"reads Examples, and the inputs hold records of kind {kind}"):
            emit(described(tmp_path, [payload]), what)
    with pytest.raises(UnsupportedError, match="hold no record"):
        emit(described(tmp_path, []), what)


def test_json_is_a_document(tmp_path: Path) -> None:
    document = json.loads(emit(mixed_schema(tmp_path), "json"))
    assert (document["type"], document["v"], document["records"]) == ("schema", 1, 6)
    assert {feature["name"] for feature in document["features"]} >= {"id", HOSTILE}


def test_tfds_documents_name_splits_shards_and_images(tmp_path: Path) -> None:
    folder = tmp_path / "My data"
    folder.mkdir()
    paths = [folder / f"flowers-{split}.tfrecord-{n:05d}-of-00002" for split in ("train", "test") for n in (0, 1)]
    for n, path in enumerate(paths):
        path.write_bytes(frame(example({"image": ("bytes_list", [JPEG]), "label": ("int64_list", [n])})) * (n + 1))
    from tfrtool import schema

    made = tfds.documents(schema(*paths))
    image = made["features.json"]["featuresDict"]["features"]["image"]["image"]
    assert image == {"dtype": "uint8", "encodingFormat": "jpeg", "shape": {"dimensions": ["-1", "-1", "1"]}}
    info = made["dataset_info.json"]
    assert (info["name"], info["fileFormat"]) == ("my_data", "tfrecord")
    assert [(split["name"], split["shardLengths"]) for split in info["splits"]] == [
        ("train", ["1", "2"]),
        ("test", ["3", "4"]),
    ]
    assert info["splits"][0]["filepathTemplate"] == "flowers-train.tfrecord-{SHARD_X_OF_Y}"
    with pytest.raises(UnsupportedError, match="every shard"):
        tfds.documents(schema(paths[0], paths[2]))


def png(bits: int, colour: int, samples: bytes) -> bytes:
    """A picture of one row of two pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))

    palette = chunk(b"PLTE", b"\x09\x08\x07\x06\x05\x04") if colour == 3 else b""
    head = chunk(b"IHDR", pack(">IIBBBBB", 2, 1, bits, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + palette + chunk(b"IDAT", zlib.compress(b"\0" + samples)) + chunk(b"IEND", b"")


GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
DEEP = (1000, 65535, 256, 257, 0, 1, 32768, 511)
PICTURES = {
    "rgb": png(8, RGB, bytes(range(6))),
    "rgba": png(8, RGBA, bytes(range(8))),
    "grey": png(8, GREY, bytes(range(2))),
    "depth": png(16, GREY, pack(">HH", 1000, 65535)),
    "depth with alpha": png(16, GREY_ALPHA, pack(">4H", *DEEP[:4])),
    "deep": png(16, RGB, pack(">6H", *DEEP[:6])),
    "deep with alpha": png(16, RGBA, pack(">8H", *DEEP)),
    "mask": png(8, PALETTE, b"\0\1"),
    "veil": png(8, GREY_ALPHA, bytes(range(4))),
    "bits": png(1, GREY, b"\x40"),
}


def test_tfds_gets_images_with_their_channels_and_bits_or_as_bytes(tmp_path: Path) -> None:
    pictures = {name: ("bytes_list", [picture]) for name, picture in PICTURES.items()}
    lists = [{**pictures, "mixed": ("bytes_list", [PICTURES[name]])} for name in ("rgb", "depth")]
    schema = described(tmp_path, list(map(example, lists)))
    made = tfds.documents(schema)["features.json"]["featuresDict"]["features"]
    told = {
        name: (one["image"]["dtype"], one["image"]["shape"]["dimensions"][-1]) if "image" in one else "bytes"
        for name, one in made.items()
    }
    assert told == {
        "rgb": ("uint8", "3"),
        "rgba": ("uint8", "4"),
        "grey": ("uint8", "1"),
        "depth": ("uint16", "1"),
        "depth with alpha": "bytes",
        "deep": ("uint16", "3"),
        "deep with alpha": ("uint16", "4"),
        "mask": "bytes",
        "veil": "bytes",
        "bits": "bytes",
        "mixed": "bytes",
    }
    assert sorted(note.partition(": told as bytes: ")[::2] for note in tfds.notes(schema)) == [
        ("bits", "tfds does not give the samples of a png as they are that is 1-bit grey"),
        ("depth with alpha", "tfds does not give the samples of a png as they are that is 16-bit grey+alpha"),
        ("mask", "tfds does not give the samples of a png as they are that is palette"),
        ("mixed", "the images differ: 1 rgb, 1 16-bit grey"),
        ("veil", "tfds does not give the samples of a png as they are that is grey+alpha"),
    ]


GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
BMP = b"BM" + pack("<IHHI", 62, 0, 0, 54) + pack("<IiiHHIIiiII", 40, 1, 2, 1, 24, 0, 8, 0, 0, 0, 0) + bytes(8)


def test_tfds_notes_say_why_any_image_is_told_as_bytes(tmp_path: Path) -> None:
    images = {
        "gif": [[GIF], [GIF]],
        "bmp": [[BMP], [BMP]],
        "both": [[JPEG], [PICTURES["grey"]]],
        "gap": [[JPEG], [b""]],
        "other": [[JPEG], [b"\xff\0"]],
        "pair": [[JPEG] * 2, [JPEG] * 2],
        "some": [[JPEG], []],
        "text": [[b"a"], [b"b"]],
        "one": [[JPEG], [JPEG]],
    }
    lists = [{name: ("bytes_list", values[i]) for name, values in images.items()} for i in (0, 1)]
    schema = described(tmp_path, [example(lists[0]), example(lists[1])])
    made = tfds.documents(schema)["features.json"]["featuresDict"]["features"]
    assert [name for name, one in made.items() if "image" in one] == ["one"]
    assert dict(note.partition(": told as bytes: ")[::2] for note in tfds.notes(schema)) == {
        "gif": "tfds reads images that are jpeg or png, and these are gif",
        "bmp": "tfds reads images that are jpeg or png, and these are bmp",
        "both": "its values differ: 1 jpeg, 1 png",
        "gap": "its values differ: 1 jpeg, 1 empty",
        "other": "its values differ: 1 jpeg, 1 raw",
        "pair": "not every record has one image there",
        "some": "not every record has one image there",
    }


def test_tfds_is_not_told_of_features_that_no_record_sets(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ("int64_list", [1]), "nothing": None})])
    assert list(tfds.features(schema)["featuresDict"]["features"]) == ["a"]
    assert list(tfds.notes(schema)) == ["nothing: left out: no record sets its kind"]
    with pytest.raises(UnsupportedError, match="needs a feature"):
        tfds.features(described(tmp_path, [example({"nothing": None})]))


def test_tfds_documents_go_where_the_record_files_are(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ("int64_list", [1])})])
    (tmp_path / "other").mkdir()
    with pytest.raises(RefusedError, match=f"belong into '{tmp_path}'"):
        tfds.write(schema, str(tmp_path / "other"))
    assert os.listdir(tmp_path / "other") == []
    schema.files[0].path = "gs://bucket/a"
    with pytest.raises(RefusedError, match="beside the records, in 'gs://bucket'"):
        tfds.write(schema, str(tmp_path))
    schema.files[0].path = str(tmp_path / "caf\udce9")
    with pytest.raises(UnsupportedError, match=r"in UTF-8, and '.*caf.udce9' is not: rename it"):
        tfds.write(schema, str(tmp_path))
    schema.files[0].path = "-"
    with pytest.raises(UnsupportedError, match="not standard input"):
        tfds.write(schema, str(tmp_path))
    schema.files[0].path = str(tmp_path / "shard-0")
    (tmp_path / "link").symlink_to(tmp_path)
    assert len(tfds.write(schema, str(tmp_path / "link"))) == 2


def test_tfds_documents_are_written_both_or_none_and_over_nothing(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ("int64_list", [1])})])
    with pytest.raises(OpenError, match="is not a folder"):
        tfds.write(schema, str(tmp_path / "nowhere"))
    (tmp_path / "features.json").write_text("mine")
    with pytest.raises(WriteError, match="force=True to replace it"):
        tfds.write(schema, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["features.json", "shard-0"]
    tfds.write(schema, str(tmp_path), force=True)
    assert sorted(os.listdir(tmp_path)) == ["dataset_info.json", "features.json", "shard-0"]


@mark.parametrize("name", ["features.json", "dataset_info.json"])
def test_tfds_documents_never_replace_an_input(name: str, tmp_path: Path) -> None:
    from tfrtool import schema

    path = tmp_path / name
    path.write_bytes(data := frame(example({"a": ("int64_list", [1])})))
    with pytest.raises(WriteError, match="is the input"):
        tfds.write(schema(path), str(tmp_path), force=True)
    assert (os.listdir(tmp_path), path.read_bytes()) == ([name], data)


@mark.parametrize("taken", ["features.json", "dataset_info.json"])
@mark.parametrize("stands", [os.mkdir, os.mkfifo])
def test_a_tfds_document_that_cannot_be_written_leaves_the_other_as_it_was(
    taken: str, stands: Callable[[Path], None], tmp_path: Path
) -> None:
    schema = described(tmp_path, [example({"a": ("int64_list", [1])})])
    stands(tmp_path / taken)
    with pytest.raises(WriteError, match="it is a"):
        tfds.write(schema, str(tmp_path), force=True)
    assert sorted(os.listdir(tmp_path)) == sorted(["shard-0", taken])


GOOD = frame(example({"a": ("int64_list", [1])}))
OTHERS = {
    "OFRecords": (ofrecord_frame(ofrecord({"a": ("int32_list", [1])})), "holds records of kind ofrecord"),
    "events": (frame(event(step=1, summary=scalar("loss", 1))), "holds records of kind event"),
    "no known kind": (frame(b"\xff\xff\xff"), "holds records of kind unknown"),
    "a page": (b"<!DOCTYPE html><html></html>" * 9, "have 1 file that could not be read"),
    "damage": (GOOD + flip(GOOD, 20) + GOOD, "have 1 damaged range"),
    "a payload that does not parse": (GOOD * 9 + frame(b"\xff\xff\xff"), "have 1 payload that does not parse"),
}


@mark.parametrize("kind", OTHERS)
def test_tfds_is_told_of_no_file_that_it_cannot_read(kind: str, tmp_path: Path) -> None:
    from tfrtool import schema

    data, said = OTHERS[kind]
    (tmp_path / "train").write_bytes(GOOD)
    (tmp_path / "test").write_bytes(data)
    with pytest.raises(UnsupportedError, match=f"{said}.*leave such files out"):
        tfds.documents(schema(tmp_path / "train", tmp_path / "test"))


def test_tfds_is_told_of_no_ofrecord_file_even_of_empty_records(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({"a": ("int64_list", [1])})], [b""])
    assert tfds.documents(schema)
    schema.files[1].format = "ofrecord"
    with pytest.raises(UnsupportedError, match="holds OFRecords"):
        tfds.documents(schema)


def some_unset() -> list[bytes]:
    """Records in which a list is empty, and one in which it is not even of a kind."""
    return [example({"a": ("int64_list", []), "b": ("int64_list", [])})] * 2 + [
        example({"a": None, "b": ("int64_list", [])})
    ]


def test_a_feature_that_is_empty_or_of_no_kind_is_of_no_fixed_length(tmp_path: Path) -> None:
    schema = described(tmp_path, some_unset())
    assert "'a': tf.io.VarLenFeature(tf.int64)," in emit(schema, "tf")
    assert "'b': tf.io.FixedLenFeature([0], tf.int64)," in emit(schema, "tf")
    assert "'a': tfrec.VarLenFeature(tfrec.int64, 0)," in emit(schema, "dali")


# The programs


@mark.tensorflow
@mark.consumer("tensorflow")
def test_tensorflow_parses_what_is_empty_or_of_no_kind(tmp_path: Path) -> None:
    import tensorflow as tf

    scope: dict[str, Any] = {}
    exec(emit(described(tmp_path, some_unset()), "tf"), scope)
    for payload in some_unset():
        assert tf.io.parse_single_example(payload, scope["FEATURES"])["b"].shape == (0,)
    assert tf.io.parse_example(some_unset(), scope["FEATURES"])["a"].dense_shape.numpy().tolist() == [3, 0]


@mark.tensorflow
@mark.consumer("tensorflow")
def test_tensorflow_parses_every_record_by_the_features(tmp_path: Path) -> None:
    import tensorflow as tf

    scope: dict[str, Any] = {}
    exec(emit(mixed_schema(tmp_path), "tf"), scope)
    parsed = [tf.io.parse_single_example(payload, scope["FEATURES"]) for payload in mixed()]
    assert [int(one["label"]) for one in parsed] == [0, 1, 0, 1, 0, 1]
    assert [int(one[HOSTILE]) for one in parsed] == [1 << 40] * 6
    assert parsed[3]["box"].numpy().tolist() == [0, 1, 2, 3]
    assert [len(one["tags"].values) for one in parsed] == list(range(6))
    exec(emit(described(tmp_path, sequences()), "tf"), scope)
    for n, payload in enumerate(sequences()):
        _, lists = tf.io.parse_single_sequence_example(payload, scope["CONTEXT_FEATURES"], scope["SEQUENCE_FEATURES"])
        assert lists["pair"].shape == (n + 1, 2)


@mark.consumer("tfrecord")
def test_the_package_tfrecord_loads_by_the_description(tmp_path: Path) -> None:
    schema = mixed_schema(tmp_path)
    code = emit(schema, "tfrecord") + (
        "import sys\nfrom tfrecord.reader import tfrecord_loader\n"
        "print([int(one['label'][0]) for one in tfrecord_loader(sys.argv[1], None, description)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, tmp_path / "shard-0"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[0, 1, 0, 1, 0, 1]\n"


LEFT_OUT: dict[str, tuple[list[bytes], bool]] = {
    "missing": ([example({"a": ("int64_list", [1])}), example({"b": ("int64_list", [1])})], True),
    "of two kinds": ([example({"a": (f"{kind}_list", [1])}) for kind in ("int64", "float")], True),
    "unset": ([example({"a": ("int64_list", [1])}), example({"a": None})], False),
    "never set": ([example({"a": None})], False),
    "not UTF-8": ([ODD_NAME], False),
    "no context": ([sequence({}, {"a": [ONE]})], True),
    "no steps": ([sequence({"a": ONE}, {"b": []})], True),
    "steps of two kinds": ([sequence({"a": ONE}, {"b": [(kind, [1])]}) for kind in ("int64_list", "float_list")], True),
    "an unset step": ([sequence({"a": ONE}, {"b": [ONE, None]})], False),
    "an unset context": ([sequence({"a": None}, {"b": [ONE]})], False),
    "an unset context beside others": ([sequence({"a": None, "c": ONE}, {"b": [ONE]})], True),
}
"""Records of which the package is told of no feature of one sort, and whether it reads them all the same."""


@mark.parametrize("records", LEFT_OUT)
def test_tfrecord_is_told_of_no_feature_only_where_it_can_read_all(records: str, tmp_path: Path) -> None:
    payloads, readable = LEFT_OUT[records]
    schema = described(tmp_path, payloads)
    if readable:
        empty = [name for name, kinds in run_code(emit(schema, "tfrecord")).items() if kinds == {}]
        assert emit(schema, "tfrecord").count("# Told of none, the package reads all") == len(empty)
    else:
        with pytest.raises(UnsupportedError, match="tfrecord cannot be told of any of the feature"):
            emit(schema, "tfrecord")


LOAD = (
    "import json, sys\nfrom tfrecord.reader import tfrecord_loader\n"
    "for name, code in json.load(sys.stdin).items():\n"
    "    scope = {}\n    exec(code, scope)\n"
    "    try: print(name, len([*tfrecord_loader(name, None, scope['description'],"
    " sequence_description=scope.get('sequence_description'))]))\n"
    "    except Exception as error: print(name, type(error).__name__)\n"
)


@mark.consumer("tfrecord")
def test_the_package_tfrecord_reads_or_stops_as_is_told(tmp_path: Path) -> None:
    jobs, told = {}, []
    for name, (payloads, readable) in LEFT_OUT.items():
        (folder := tmp_path / name).mkdir()
        schema = described(folder, payloads)
        nothing = "description = {}\n" + "sequence_description = {}\n" * bool(schema.examples.sequences)
        jobs[str(folder / "shard-0")] = emit(schema, "tfrecord") if readable else nothing
        told.append((name, str(len(payloads)) if readable else "DecodeError" if name == "not UTF-8" else "IndexError"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD],
        input=json.dumps(jobs),
        env=environment(),
        capture_output=True,
        text=True,
    )
    said = [line.rpartition("/")[0].rpartition("/")[2] for line in done.stdout.splitlines()]
    assert [*zip(said, (line.split()[-1] for line in done.stdout.splitlines()), strict=True)] == told, done.stderr


@mark.consumer("tensorflow_metadata")
def test_tensorflow_metadata_parses_the_schema(tmp_path: Path) -> None:
    from google.protobuf import text_format
    from tensorflow_metadata.proto.v0 import schema_pb2

    parsed = text_format.Parse(emit(mixed_schema(tmp_path), "pbtxt"), schema_pb2.Schema())
    by_name = {feature.name: feature for feature in parsed.feature}
    assert by_name.keys() == {"id", "label", "score", "box", "tags", "rare", "nothing", HOSTILE}
    assert by_name["box"].shape.dim[0].size == 4
    assert by_name["rare"].presence.min_fraction == 0
    assert by_name["label"].int_domain.is_categorical
    parsed = text_format.Parse(emit(described(tmp_path, sequences()), "pbtxt"), schema_pb2.Schema())
    lists = next(feature for feature in parsed.feature if feature.name == "##SEQUENCE##").struct_domain.feature
    assert {feature.name for feature in lists} == {"pair", "words"}


@mark.filterwarnings("ignore")  # those of its own dependencies
@mark.consumer("tensorflow_data_validation")
def test_tensorflow_data_validation_infers_the_same_and_finds_nothing_wrong_by_it(tmp_path: Path) -> None:
    import tensorflow_data_validation as tfdv
    from google.protobuf import text_format
    from tensorflow_data_validation.statistics import stats_impl, stats_options
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx_bsl.coders import example_coder

    batch = example_coder.ExamplesToRecordBatchDecoder().DecodeBatch(mixed())
    seen = stats_impl.generate_statistics_in_memory(batch, stats_options.StatsOptions())
    ours = text_format.Parse(emit(mixed_schema(tmp_path), "pbtxt"), schema_pb2.Schema())
    assert not tfdv.validate_statistics(seen, ours).anomaly_info
    theirs = {feature.name: feature for feature in tfdv.infer_schema(seen).feature}
    assert theirs.keys() == {feature.name for feature in ours.feature}
    for feature in ours.feature:
        other = theirs[feature.name]
        assert (feature.type, feature.presence) == (other.type, other.presence)


LISTS = {
    "steps and values of any number": sequences(),
    "a list that some records are without": [sequence({}, {name: [ONE] * 2}) for name in "aab"],
    "a list that is empty in some records": [sequence({}, {"a": [ONE] * n}) for n in range(3)],
    "steps without values": [sequence({}, {"a": [("int64_list", [])] * 2})] * 2,
    "a step without values beside others": [sequence({}, {"a": [("int64_list", []), ONE]})] * 2,
    "a step of no kind beside others": [sequence({}, {"a": [None, ONE]})] * 2,
    "records with steps of no kind alone": [sequence({}, {"a": [None] * 2}), sequence({}, {"a": [ONE]})],
    "no step of any kind": [sequence({}, {"a": [None] * 2})] * 2,
    "no step at all": [sequence({}, {"a": [], "b": [ONE]})] * 2,
    "images": [sequence({}, {"a": [("bytes_list", [JPEG])] * 2})] * 2,
}


@mark.filterwarnings("ignore")  # those of its own dependencies
@mark.consumer("tensorflow_data_validation")
@mark.parametrize("lists", LISTS)
def test_tensorflow_data_validation_finds_nothing_wrong_with_feature_lists(lists: str, tmp_path: Path) -> None:
    import tensorflow_data_validation as tfdv
    from google.protobuf import text_format
    from tensorflow_data_validation.statistics import stats_impl, stats_options
    from tensorflow_metadata.proto.v0 import schema_pb2
    from tfx_bsl.coders import sequence_example_coder

    batch = sequence_example_coder.SequenceExamplesToRecordBatchDecoder("##SEQUENCE##").DecodeBatch(LISTS[lists])
    seen = stats_impl.generate_statistics_in_memory(batch, stats_options.StatsOptions())
    ours = text_format.Parse(emit(described(tmp_path, LISTS[lists]), "pbtxt"), schema_pb2.Schema())
    assert {name: one.description for name, one in tfdv.validate_statistics(seen, ours).anomaly_info.items()} == {}


@mark.tensorflow
@mark.consumer("tensorflow_datasets")
def test_tfds_reads_the_files_where_they_lie(tmp_path: Path) -> None:
    payloads = [example({"label": ("int64_list", [n]), "tags": ("bytes_list", [b"t"] * n)}) for n in range(5)]
    names = [f"toy-train.tfrecord-{n:05d}-of-00002" for n in range(2)]
    (tmp_path / names[0]).write_bytes(b"".join(map(frame, payloads[:2])))
    (tmp_path / names[1]).write_bytes(b"".join(map(frame, payloads[2:])))
    assert run("schema", "--emit", "tfds", "-o", tmp_path, *(tmp_path / name for name in names)).returncode == 0
    code = (
        "import sys, tensorflow_datasets as tfds\n"
        "builder = tfds.builder_from_directory(sys.argv[1])\n"
        "read = sorted((int(one['label']), len(one['tags'])) for one in builder.as_dataset(split='train'))\n"
        "print(builder.info.splits['train'].num_examples, read)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, tmp_path], env=environment(), capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1:] == [f"5 {[(n, n) for n in range(5)]}"], done.stderr[-2000:]


@mark.tensorflow
@mark.consumer("tensorflow_datasets")
def test_tfds_gives_the_samples_of_images_as_they_are(tmp_path: Path) -> None:
    schema = described(tmp_path, [example({name: ("bytes_list", [one]) for name, one in PICTURES.items()})])
    tfds.write(schema, str(tmp_path))
    code = (
        "import sys, json, tensorflow_datasets as tfds\n"
        "(one,) = tfds.builder_from_directory(sys.argv[1]).as_dataset(split='train')\n"
        "print(json.dumps({name: one[name].numpy().ravel().tolist() for name in sys.argv[2:]}))\n"
        "print(one['mask'].numpy()[:4])"
    )
    samples = {
        "rgb": [*range(6)],
        "rgba": [*range(8)],
        "grey": [*range(2)],
        "depth": [1000, 65535],
        "deep": [*DEEP[:6]],
        "deep with alpha": [*DEEP],
    }
    command = [sys.executable, "-W", "ignore", "-c", code, tmp_path, *samples]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == [json.dumps(samples), "b'\\x89PNG'"], done.stderr[-2000:]
