"""SequenceExamples laid flat, and rebuilt by the schema that was written then."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.messages import example, law, numbers, ordered, sequence, sequences, sized
from pytest import MonkeyPatch, fixture, mark, raises

from tfrtool import RefusedError, convert, records
from tfrtool.framing.encode import frame
from tfrtool.payload.rows.convert import read_row

WORDS = [("bytes_list", [b"a"] * n) for n in (2, 0, 1)]
SEQUENCE = sequence({"id": ("int64_list", [7])}, {"words": WORDS, "none": []})


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("seq").write_bytes(frame(SEQUENCE))
    return tmp_path


def flat(*payloads: bytes) -> str:
    """A file of flat Examples, beside the schema of the sequence."""
    convert("seq", "first", to="tfrecord", sequence="flatten", schema_out="kinds")
    Path("flat").write_bytes(b"".join(map(frame, payloads)))
    return "flat"


@mark.parametrize("to", ["tfrecord", "ofrecord"])
@mark.parametrize("how", [{}, {"rename": {"words": "w"}}, {"no_kind": "drop"}], ids=str)
def test_a_flat_sequence_example_comes_back_byte_for_byte(to: Any, how: dict[str, Any]) -> None:
    convert("seq", "flat", to=to, sequence="flatten", schema_out="kinds", **how)
    convert("flat", "back", to="tfrecord", schema="kinds")
    assert Path("back").read_bytes() == Path("seq").read_bytes()


@mark.parametrize("to", ["tfrecord", "ofrecord"])
def test_flattened_lists_keep_their_order(to: Any) -> None:
    lists = {name: sized(1, sized(1, name.encode()) + sized(2, sized(1, numbers(3, 1)))) for name in "pqr"}
    payloads = [sized(2, b"".join(lists[name] for name in order)) for order in ("pqr", "rqp", "qp", "rp")]
    Path("seq").write_bytes(b"".join(map(frame, payloads)))
    convert("seq", "flat", to=to, sequence="flatten", schema_out="kinds")
    convert("flat", "back", to="tfrecord", schema="kinds")
    assert list(records("back")) == payloads


@mark.slow
@law
@given(st.lists(sequences, min_size=1, max_size=3))
def test_flattening_loses_only_steps_without_values(payloads: list[bytes]) -> None:
    with TemporaryDirectory() as name:
        a, flat, back, kinds = (f"{name}/{part}" for part in ("a", "flat", "back", "kinds"))
        Path(a).write_bytes(b"".join(map(frame, payloads)))
        try:
            done = convert(a, flat, to="tfrecord", sequence="flatten", schema_out=kinds)
        except RefusedError:  # two kinds of one name, which a schema does not hold
            return
        convert(flat, back, to="tfrecord", schema=kinds)
        if not done.lost:
            same: Any = [[read_row(p, "sequence_example") for p in records(file)] for file in (a, back)]
            assert repr(same[0]) == repr(same[1])  # NaN equals nothing


@mark.parametrize(
    ("lengths", "said"),
    [
        (("int64_list", [2]), "feature 'words': it has 3 values, and its lengths say otherwise"),
        (("int64_list", [4, -1]), "its lengths say otherwise"),
        (("float_list", [3.0]), "its lengths say otherwise"),
    ],
)
def test_mismatched_lengths_are_refused_with_the_record(lengths: Any, said: str) -> None:
    features = {"words": ("bytes_list", [b"a"] * 3)} | {"words/lengths": lengths}
    good = ordered({"words": ("bytes_list", [b"a"]), "words/lengths": ("int64_list", [1])})
    with raises(RefusedError, match=f"'flat' record 1 at byte [0-9]+: .*{said}"):
        convert(flat(good, example(features)), "back", to="tfrecord", schema="kinds")


def test_schema_with_lists_for_ofrecord_is_invalid() -> None:
    name = flat(SEQUENCE)
    kinds = json.loads(Path("kinds").read_text()) | {"from": "ofrecord", "to": "example"}
    Path("kinds").write_text(json.dumps(kinds))
    with raises(Exception, match="an ofrecord has no feature lists"):
        convert(name, "back", to="ofrecord", schema="kinds")
