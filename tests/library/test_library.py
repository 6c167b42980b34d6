"""tfrtool as a library: what a program may rely on."""

from __future__ import annotations

import array
import gc
import gzip
import json
import os
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from kit.damage import File, cut, flip, insert, written_by
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, OFRECORDS

import tfrtool
from tfrtool.cli.commands.schema import run_schema
from tfrtool.cli.options import Common
from tfrtool.framing.layout import LAYOUTS
from tfrtool.verbs.schema.emit.forms import Form


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


# The names


def test_the_public_names_are_these() -> None:
    assert tfrtool.__all__ == [
        "Damage",
        "DamageError",
        "DataSet",
        "FileReport",
        "Frame",
        "OpenError",
        "Outcome",
        "ReadError",
        "Record",
        "RecordWriter",
        "RefusedError",
        "RepairReport",
        "StatReport",
        "TfrtoolError",
        "UnsupportedError",
        "WriteError",
        "convert",
        "count",
        "emit",
        "head",
        "records",
        "repair",
        "schema",
        "stat",
        "stat_all",
        "verify",
        "walk",
    ]


def test_public_names_are_listed() -> None:
    for name in tfrtool.__all__:
        assert getattr(tfrtool, name).__name__ == name
        assert name in dir(tfrtool)
    with pytest.raises(AttributeError, match="has no attribute 'recrods'"):
        tfrtool.recrods  # noqa: B018


def test_public_names_have_docstrings() -> None:
    assert all(getattr(tfrtool, name).__doc__ for name in tfrtool.__all__)


def test_every_error_has_a_kind() -> None:
    errors = [getattr(tfrtool, name) for name in tfrtool.__all__ if name.endswith("Error")]
    assert all(issubclass(error, tfrtool.TfrtoolError) for error in errors)
    assert len({error.kind for error in errors}) == len(errors)


# records


def test_records_gives_each_payload(path: Path) -> None:
    for content in (DATA, gzip.compress(DATA), zlib.compress(DATA)):
        assert list(tfrtool.records(put(path, content))) == list(EXAMPLES.payloads)
    assert list(tfrtool.records(put(path, OF_DATA))) == OFRECORDS
    assert list(tfrtool.records(put(path, b""))) == []


def test_path_is_str_bytes_or_pathlike(path: Path) -> None:
    put(path, DATA)
    for name in (path, str(path), os.fsencode(path)):
        assert len(list(tfrtool.records(name))) == len(list(tfrtool.walk(name))) == 6
    assert tfrtool.count(path).records == tfrtool.verify(str(path)).records == 6


def test_records_raises_damage_after_what_is_before(path: Path) -> None:
    reading = tfrtool.records(put(path, flip(DATA, AT[2] + 20)))
    assert [next(reading), next(reading)] == list(EXAMPLES.payloads[:2])
    with pytest.raises(tfrtool.DamageError) as caught:
        next(reading)
    error = caught.value
    assert (error.path, error.kind) == (str(path), "damage")
    assert error.damage is not None
    assert (error.damage.begin, error.damage.end, error.damage.fault) == (AT[2], AT[3], "data-crc")
    assert str(error).startswith(f"{path}: data-crc at [{AT[2]}, {AT[3]}): the payload of ")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (cut(DATA, len(DATA) - 1), "torn"),
        (insert(DATA, AT[1], b"text"), "stray"),
        (gzip.compress(DATA) + b"more", "codec"),
        (written_by(LAYOUTS["unmasked"], EXAMPLES.payloads), "length-crc"),
        (OF_DATA[:-1], "torn"),
    ],
)
def test_records_raises_every_kind_of_damage(path: Path, content: bytes, fault: str) -> None:
    with pytest.raises(tfrtool.DamageError, match=f"{fault} at "):
        list(tfrtool.records(put(path, content)))


def test_codec_breaks_are_in_order(path: Path) -> None:
    edges = [0, AT[1] + 20, AT[3], AT[4] + 5, len(DATA)]
    members = [gzip.compress(DATA[begin:end]) for begin, end in pairwise(edges)]
    hurt = b"".join(flip(member, len(member) - 6) for member in members[:-1]) + members[-1]
    events = list(tfrtool.walk(put(path, hurt)))
    begins = [event.begin if isinstance(event, tfrtool.Damage) else event.offset for event in events]
    assert begins == sorted(begins)
    assert [event.begin for event in events if isinstance(event, tfrtool.Damage)] == edges[1:-1]
    assert [event.index for event in events if isinstance(event, tfrtool.Frame)] == list(range(6))


def test_records_of_a_foreign_file_name_it(path: Path) -> None:
    lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"
    with pytest.raises(tfrtool.DamageError, match="a Git LFS pointer"):
        list(tfrtool.records(put(path, lfs)))


def test_error_of_a_foreign_file_has_no_range(path: Path) -> None:
    with pytest.raises(tfrtool.DamageError) as caught:
        list(tfrtool.records(put(path, b"PAR1" + bytes(500))))
    assert caught.value.damage is None


def test_records_closes_its_file_when_left_early(path: Path) -> None:
    put(path, DATA)
    before = os.listdir("/proc/self/fd")
    reading = tfrtool.records(path)
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("job", [tfrtool.records, tfrtool.walk])
def test_open_error_is_raised_on_reading(tmp_path: Path, job: object) -> None:
    reading = job(tmp_path / "nothing")  # type: ignore[operator]
    with pytest.raises(tfrtool.OpenError, match="no such file"):
        next(reading)
    with pytest.raises(tfrtool.UnsupportedError):
        next(job("s3://bucket/train"))  # type: ignore[operator]


# head


def test_head_gives_the_first_records_with_their_features(path: Path) -> None:
    found = list(tfrtool.head(put(path, DATA), n=2, skip=3))
    assert [(record.index, record.offset, record.payload) for record in found] == [
        (n, AT[n], EXAMPLES.payloads[n]) for n in (3, 4)
    ]
    assert [len(list(tfrtool.head(path, n=n))) for n in (0, 5, 99)] == [0, 5, 6]
    features = found[0].features()
    assert features and [(one.text, one.kind, one.count) for one in features.features]


def test_head_skips_damage_and_finds_a_record(path: Path) -> None:
    put(path, flip(DATA, AT[2] + 20))
    assert [record.offset for record in tfrtool.head(path, n=3)] == [AT[0], AT[1], AT[3]]
    (found,) = tfrtool.head(path, record=3)
    assert found.offset == AT[3]
    with pytest.raises(tfrtool.DamageError, match=f"record 2 is damaged: data-crc at .{AT[2]}, {AT[3]}") as caught:
        list(tfrtool.head(path, record=2))
    assert caught.value.damage is not None and caught.value.damage.record == 2
    with pytest.raises(tfrtool.TfrtoolError, match="has no record 6"):
        list(tfrtool.head(path, record=6))


def test_large_payload_outlives_head(path: Path) -> None:
    large = File((b"a" * 700_000, b"b" * 700_000))
    assert [record.payload for record in tfrtool.head(put(path, large.data))] == list(large.payloads)


def test_head_of_a_foreign_file_names_it(path: Path) -> None:
    for how in ({}, {"record": 0}):
        with pytest.raises(tfrtool.DamageError, match="Parquet"):
            list(tfrtool.head(put(path, b"PAR1" + bytes(500)), **how))  # type: ignore[arg-type]


# verify, stat, emit


def test_quick_verify_skips_payloads(path: Path) -> None:
    put(path, flip(DATA, AT[2] + 20))
    assert (tfrtool.verify(path, quick=True).status, tfrtool.verify(path).status) == ("clean", "damaged")
    assert tfrtool.verify(put(path, flip(DATA, AT[2])), quick=True).status == "damaged"
    with pytest.raises(ValueError, match="choose one"):
        tfrtool.verify(path, quick=True, payload=True)


def test_some_files_are_described_together(path: Path, tmp_path: Path) -> None:
    other, packed = tmp_path / "other", tmp_path / "packed"
    put(path, DATA), put(other, DATA * 3), put(packed, gzip.compress(DATA))
    data = tfrtool.stat_all(path, str(other), os.fsencode(packed), duplicates=True)
    one = tfrtool.stat(other, duplicates=True)
    assert (data.files.count, data.payloads.count, data.sizes.max) == (3, 30, one.sizes.max)
    found = data.repeats()
    assert found is not None and found.count == 24 and one.duplicates == 12
    assert data.evenness and data.ratio and isinstance(data.advice, list)
    assert tfrtool.stat_all() == tfrtool.DataSet() and tfrtool.stat_all(path).repeats() is None
    with pytest.raises(tfrtool.OpenError, match="no such file"):
        tfrtool.stat_all(path, tmp_path / "nowhere")
    assert tfrtool.stat_all(path, put(packed, b"PAR1" + bytes(500))).files.count == 1


@pytest.mark.parametrize("form", ["json", "tf", "pbtxt", "dali", "tfrecord", "tfds"])
def test_schema_is_emitted_as_text(path: Path, form: Form, capsys: pytest.CaptureFixture[str]) -> None:
    text = tfrtool.emit(tfrtool.schema(put(path, DATA)), form)
    if form == "tfds":
        assert json.loads(text).keys() == {"features.json", "dataset_info.json"}
    else:
        assert run_schema(Common((str(path),)), emit=form) == 0
        assert capsys.readouterr().out == text


def test_unknown_form_of_a_schema_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="form is json, tf, pbtxt, tfds, dali or tfrecord, not 'xml'"):
        tfrtool.emit(tfrtool.schema(put(path, DATA)), "xml")  # type: ignore[arg-type]


# walk


def test_walk_covers_the_whole_file(path: Path) -> None:
    hurt = flip(insert(DATA, AT[4], b"text"), AT[2] + 20)
    reached, frames = 0, []
    for item in tfrtool.walk(put(path, hurt)):
        if isinstance(item, tfrtool.Frame):
            assert item.offset == reached
            reached += 16 + len(item.payload)
            frames.append(item)
        else:
            assert isinstance(item, tfrtool.Damage)
            assert item.begin == reached
            reached = item.end
    assert reached == len(hurt)
    assert [(f.index, f.payload) for f in frames] == [(n, EXAMPLES.payloads[n]) for n in (0, 1, 3, 4, 5)]


def test_walk_of_ofrecords_gives_offsets_of_their_frames(path: Path) -> None:
    offsets = [item.offset for item in tfrtool.walk(put(path, OF_DATA)) if isinstance(item, tfrtool.Frame)]
    assert offsets == [sum(8 + len(p) for p in OFRECORDS[:n]) for n in range(6)]


def test_walk_of_a_foreign_file_is_one_damaged_range(path: Path) -> None:
    (item,) = tfrtool.walk(put(path, b"PAR1" + bytes(500)))
    assert isinstance(item, tfrtool.Damage)
    assert (item.begin, item.end, "Parquet" in item.message) == (0, 504, True)


def test_payload_outlives_the_walk(path: Path) -> None:
    frames = list(tfrtool.walk(put(path, DATA * 200)))
    assert [f.payload for f in frames] == list(EXAMPLES.payloads) * 200  # type: ignore[union-attr]


def test_the_format_and_the_compression_can_be_said(path: Path) -> None:
    assert len(list(tfrtool.walk(put(path, DATA), format="tfrecord", compression="none"))) == 6
    with pytest.raises(tfrtool.DamageError, match="this is TFRecord framing"):
        list(tfrtool.records(path, format="ofrecord"))
    with pytest.raises(ValueError, match="compression is auto, none, gzip or zlib"):
        list(tfrtool.records(path, compression="zip"))  # type: ignore[arg-type]


# count and verify


def test_verify_gives_the_report_with_all_damage(path: Path) -> None:
    report = tfrtool.verify(put(path, flip(flip(DATA, AT[4] + 20), AT[2])))
    assert isinstance(report, tfrtool.FileReport)
    assert [(d.begin, d.fault) for d in report.damage] == [(AT[2], "length-crc"), (AT[4], "data-crc")]
    assert (report.status, report.records, report.restorable, report.kind) == ("damaged", 4, 1, "example")


def test_verify_parses_payloads_only_on_request(path: Path) -> None:
    put(path, File((*EXAMPLES.payloads, b"odd")).data)
    assert tfrtool.verify(path).status == "clean"
    assert [d.fault for d in tfrtool.verify(path, payload=True).damage] == ["payload"]


def test_count_and_verify_report_what_cannot_be_read(tmp_path: Path) -> None:
    for report in (tfrtool.count(tmp_path / "nothing"), tfrtool.verify(tmp_path / "nothing")):
        assert (report.status, report.error and report.error[0]) == ("error", "open")


# RecordWriter

packed = pytest.mark.parametrize(
    ("compression", "begins"),
    [(None, b""), ("gzip", b"\x1f\x8b"), ("zlib", b"\x78"), ("GZIP", b"\x1f\x8b"), ("ZLIB", b"\x78"), ("", b"")],
)


@packed
def test_written_records_are_read_again(path: Path, compression: str | None, begins: bytes) -> None:
    with tfrtool.RecordWriter(path, compression=compression) as writer:  # type: ignore[arg-type]
        for payload in EXAMPLES.payloads:
            writer.write(payload)
        writer.write(bytearray(b"more"))
        writer.write(memoryview(b"and more"))
        writer.write(b"")
        assert writer.records == 9
    assert list(tfrtool.records(path)) == [*EXAMPLES.payloads, b"more", b"and more", b""]
    assert path.read_bytes().startswith(begins)
    assert tfrtool.verify(path).compression == ((compression or "none").lower())


def test_plain_file_is_frames_only(path: Path) -> None:
    with tfrtool.RecordWriter(str(path)) as writer:
        for payload in EXAMPLES.payloads:
            writer.write(payload)
    assert path.read_bytes() == DATA


@packed
def test_equal_records_give_equal_files(tmp_path: Path, compression: str | None, begins: bytes) -> None:
    for name in "ab":
        with tfrtool.RecordWriter(tmp_path / name, compression=compression) as writer:  # type: ignore[arg-type]
            writer.write(b"one")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_gzip_is_one_member(path: Path) -> None:
    with tfrtool.RecordWriter(path, compression="gzip") as writer:
        for _ in range(1000):
            writer.write(bytes(5000))
    unpacking = zlib.decompressobj(31)
    unpacking.decompress(path.read_bytes())
    assert (unpacking.eof, unpacking.unused_data) == (True, b"")


def test_writer_of_no_records_makes_a_file(path: Path) -> None:
    tfrtool.RecordWriter(path).close()
    assert path.read_bytes() == b""


def test_no_file_before_it_is_whole(path: Path) -> None:
    writer = tfrtool.RecordWriter(path)
    writer.write(bytes(1 << 20))
    assert not path.exists()
    writer.close()
    assert tfrtool.count(path).records == 1


def test_exception_in_the_block_leaves_no_trace(path: Path) -> None:
    with pytest.raises(KeyError, match="mine"), tfrtool.RecordWriter(path, compression="gzip") as writer:
        writer.write(b"one")
        raise KeyError("mine")
    assert os.listdir(path.parent) == []


def test_dropped_writer_leaves_no_trace(path: Path) -> None:
    writer = tfrtool.RecordWriter(path)
    writer.write(b"one")
    del writer
    gc.collect()
    assert os.listdir(path.parent) == []


def test_discard_keeps_the_old_file(path: Path) -> None:
    put(path, b"before")
    writer = tfrtool.RecordWriter(path, force=True)
    writer.write(b"one")
    writer.discard()
    writer.discard()
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"before", [path.name])


def test_existing_file_is_refused(path: Path) -> None:
    put(path, b"before")
    with pytest.raises(tfrtool.WriteError, match="exists already"):
        tfrtool.RecordWriter(path)
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"before", [path.name])


def test_existing_file_is_replaced_at_the_end(path: Path) -> None:
    put(path, b"before")
    with tfrtool.RecordWriter(path, force=True) as writer:
        writer.write(b"one")
        assert path.read_bytes() == b"before"
    assert list(tfrtool.records(path)) == [b"one"]


def test_file_that_appears_meanwhile_stays(path: Path) -> None:
    writer = tfrtool.RecordWriter(path)
    writer.write(b"mine")
    put(path, b"theirs")
    with pytest.raises(tfrtool.WriteError, match="somebody else meanwhile"):
        writer.close()
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"theirs", [path.name])


def test_closed_writer_refuses_records(path: Path) -> None:
    writer = tfrtool.RecordWriter(path)
    writer.close()
    writer.close()
    writer.discard()
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"late")
    assert path.exists()


def test_writer_refuses_unknown_compression(path: Path) -> None:
    with pytest.raises(ValueError, match="compression is gzip, zlib or None, not 'zstd'"):
        tfrtool.RecordWriter(path, compression="zstd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level is a whole number"):
        tfrtool.RecordWriter(path, compression="gzip", level=99)
    gc.collect()
    assert os.listdir(path.parent) == []


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(tfrtool.WriteError):
        tfrtool.RecordWriter(tmp_path / "nowhere" / "train.tfrecord")


def test_writer_refuses_what_is_not_bytes(path: Path) -> None:
    with tfrtool.RecordWriter(path) as writer:
        writer.write(b"one")
        with pytest.raises(TypeError):
            writer.write("text")  # type: ignore[arg-type]
        writer.write(b"two")
        assert writer.records == 2
    assert list(tfrtool.records(path)) == [b"one", b"two"]


def test_view_of_numbers_is_written_as_bytes(path: Path) -> None:
    numbers = array.array("I", [1, 2, 3])
    with tfrtool.RecordWriter(path) as writer:
        writer.write(memoryview(numbers))
    assert tfrtool.verify(path).status == "clean"
    assert list(tfrtool.records(path)) == [numbers.tobytes()]


def test_failed_writer_publishes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = tfrtool.RecordWriter(path)
    writer.write(b"one")

    def full(data: bytes) -> int:
        raise tfrtool.WriteError("no space is left")

    with monkeypatch.context() as patch:
        patch.setattr(writer._out, "write", full)
        with pytest.raises(tfrtool.WriteError):
            writer.write(b"two")
    with pytest.raises(ValueError, match="closed"):
        writer.write(b"three")
    writer.close()
    assert not path.exists()
