"""Features whose names are not UTF-8: damage, unless what protobuf does not know is dropped, and so to every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kit.messages import entry, example, numbers, ofrecord, raw_example, sized
from kit.program import run

from tfrtool import DamageError, convert, records
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.mapping.record import NOT_TEXT

OK = entry(b"ok", numbers(3, 2))
MIXED = raw_example(entry(b"\xff", numbers(3, 1)), OK)
ALONE = raw_example(entry(b"\xff", numbers(3, 1)))
LISTED = sized(1, OK) + sized(2, sized(1, sized(1, b"\xff") + sized(2, sized(1, numbers(3, 1)))))
PLAIN = raw_example(OK)
HOWS = pytest.mark.parametrize(
    "how",
    [
        {"to": "jsonl"},
        {"to": "jsonl", "select": ["ok"]},
        {"to": "jsonl", "drop": ["nothing"]},
        {"to": "jsonl", "rename": {"ok": "k"}},
        {"to": "parquet"},
        {"to": "ofrecord"},
        {"to": "tfrecord", "select": ["ok"]},
        {"to": "tfrecord", "drop": ["nothing"]},
    ],
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tf").write_bytes(frame(PLAIN) + frame(MIXED) + frame(PLAIN))


@HOWS
def test_bad_names_are_dropped_with_unknown_fields(how: dict[str, Any]) -> None:
    if how["to"] == "parquet":
        pytest.importorskip("pyarrow")
    done = convert("tf", "out", **how, unknown="drop")
    (loss,) = [loss for loss in done.reports[0].losses if loss.lost]
    assert (done.written, loss.what, loss.records) == (3, NOT_TEXT.words, 1)
    convert("out", "back", to="tfrecord")
    name = "k" if "rename" in how else "ok"
    assert list(records("back")) == [example({name: ("int64_list", [2])})] * 3


@HOWS
def test_record_with_bad_names_is_damage_and_can_be_skipped(how: dict[str, Any]) -> None:
    if how["to"] == "parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(DamageError, match="no Example: a name is not UTF-8"):
        convert("tf", "out", **how)
    done = convert("tf", "out", **how, skip_damaged=True)
    assert (done.written, done.reports[0].skipped) == (2, 1)


@pytest.mark.parametrize("to", ["jsonl", "ofrecord"])
def test_both_options_for_bad_names_are_suggested(to: str) -> None:
    result = run("convert", "tf", "-o", "out", "--to", to)
    assert result.returncode == 1
    said = "use --skip-damaged to skip these records, or --unknown drop to leave out features whose names are not"
    assert said in result.stdout


def test_record_with_only_bad_names_is_empty() -> None:
    Path("one").write_bytes(frame(PLAIN) + frame(ALONE))
    assert convert("one", "out.jsonl", unknown="drop").written == 2
    assert Path("out.jsonl").read_text().splitlines()[1] == "{}"


def test_bad_names_in_ofrecords_and_feature_lists() -> None:
    sound = ofrecord_frame(ofrecord({"ok": ("int64_list", [2])}))
    Path("of").write_bytes(sound + ofrecord_frame(entry(b"\xff", numbers(5, 1)) + entry(b"ok", numbers(5, 2))) + sound)
    convert("of", "out", to="tfrecord", unknown="drop")
    assert list(records("out")) == [PLAIN] * 3
    Path("lists").write_bytes(frame(LISTED) * 2)
    for how in ({"select": ["ok"]}, {"sequence": "flatten"}):
        done = convert("lists", "flat", to="tfrecord", unknown="drop", force=True, **how)
        assert [loss.what for loss in done.reports[0].losses if loss.lost] == [NOT_TEXT.words]
        assert [payload.removesuffix(sized(2)) for payload in records("flat")] == [PLAIN] * 2
