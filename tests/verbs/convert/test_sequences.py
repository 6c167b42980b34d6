"""SequenceExamples that stay what they are: features of the context and feature lists are chosen and renamed alike."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kit.messages import law, sequence, sequences, sized, tag
from pytest import MonkeyPatch, fixture, mark, param, raises

from tfrtool import RefusedError, convert, records
from tfrtool.framing.encode import frame
from tfrtool.payload.mapping.mapper import Mapper
from tfrtool.payload.mapping.rules import Rules
from tfrtool.payload.rows.convert import read_row
from tfrtool.payload.wire import messages

CONTEXT: dict[str, Any] = {"id": ("int64_list", [7]), "key": ("bytes_list", [b"k"]), "none": None}
LISTS: dict[str, Any] = {
    "words": [("bytes_list", [b"a", b"b"]), None, ("bytes_list", [])],
    "id": [("int64_list", [1])],
    "bare": [],
}
parquet = param("parquet", marks=[mark.parquet, mark.skipif(find_spec("pyarrow") is None, reason="no pyarrow")])


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seq").write_bytes(frame(sequence(CONTEXT, LISTS)))


def parsed(payload: bytes) -> Any:
    return messages.message_class("tensorflow", "SequenceExample").FromString(payload)


@mark.parametrize(
    ("how", "context", "lists"),
    [
        ({"select": ["id"]}, {"id": "id"}, {"id": "id"}),
        ({"select": ["words", "key"]}, {"key": "key"}, {"words": "words"}),
        ({"select": ["none", "bare"]}, {"none": "none"}, {"bare": "bare"}),
        ({"drop": ["id", "b*"]}, {"key": "key", "none": "none"}, {"words": "words"}),
        ({"rename": {"id": "n"}, "drop": ["none"]}, {"n": "id", "key": "key"}, {**dict.fromkeys(LISTS), "n": "id"}),
        ({"strip_prefix": "wo"}, dict.fromkeys(CONTEXT), {"id": "id", "bare": "bare", "rds": "words"}),
    ],
    ids=str,
)
def test_selection_applies_to_context_and_lists(how: Any, context: Any, lists: Any) -> None:
    convert("seq", "out", **how)
    expected = sequence(
        {new: CONTEXT[old or new] for new, old in context.items()},
        {new: LISTS[old or new] for new, old in lists.items() if new != "id" or old},
    )
    assert [parsed(payload) for payload in records("out")] == [parsed(expected)]


@law
@given(sequences, st.sampled_from(["refuse", "keep", "drop"]))
def test_unnamed_features_stay_identical(payload: bytes, unknown: Any) -> None:
    mapper = Mapper("example", "example", Rules(drop=("no feature has this name",), unknown=unknown))
    assert b"".join(mapper.convert(payload, 0) or ()) == payload
    assert (mapper.losses.all(), mapper.made("sequence_example")) == ([], "sequence_example")


@mark.parametrize("rows", ["jsonl", parquet])
def test_rows_have_only_selected_features(rows: str) -> None:
    convert("seq", f"out.{rows}", select=["words", "key"], rename={"key": "k"})
    convert(f"out.{rows}", "back", to="tfrecord")
    (row,) = (read_row(payload, "sequence_example") for payload in records("back"))
    assert (list(row.features), list(row.feature_lists)) == (["k"], ["words"])


def test_selection_from_sequence_example_rows() -> None:
    convert("seq", "out.jsonl")
    convert("out.jsonl", "less", to="tfrecord", drop=["id", "none"])
    convert("out.jsonl", "less.jsonl", drop=["id", "none"])
    assert parsed(next(records("less"))) == parsed(
        sequence({"key": CONTEXT["key"]}, {k: LISTS[k] for k in LISTS if k != "id"})
    )
    assert {part: sorted(of) for part, of in json.loads(Path("less.jsonl").read_text()).items()} == {
        "context": ["key"],
        "feature_lists": ["bare", "words"],
    }


@mark.parametrize(
    ("how", "why"),
    [
        ({"rename": {"key": "id"}}, "two features would be named 'id', as one of them is; rename that too"),
        ({"rename": {"bare": "words"}}, "two features would be named 'words', as one of them is"),
        (
            {"no_kind": "drop"},
            "'words': a step .* has to keep its place; no_kind=.keep. lets it through",
        ),
        ({"no_kind": "refuse"}, "no kind"),
        ({"to": "ofrecord", "select": ["id"]}, "a SequenceExample, which has no counterpart; sequence=.flatten."),
    ],
)
def test_impossible_requests_are_refused(how: Any, why: str) -> None:
    with raises(RefusedError, match=why):
        convert("seq", "out", **how)


STRANGE = tag(9, 0) + b"\5"


@mark.parametrize(("unknown", "left"), [("keep", STRANGE), ("drop", b"")])
def test_unknown_top_level_fields_are_kept_or_dropped(unknown: Any, left: bytes) -> None:
    one = sequence({}, {"a": [("int64_list", [1])]})
    Path("odd").write_bytes(frame(one + STRANGE))
    done = convert("odd", "out", drop=["b"], unknown=unknown)
    assert (list(records("out")), done.lost) == ([one + left], unknown == "drop")


def test_unknown_fields_inside_context_are_refused() -> None:
    Path("odd").write_bytes(frame(sequence({}, {"a": [("int64_list", [1])]}) + sized(2, STRANGE)))
    with raises(RefusedError, match="in one of the two halves of a SequenceExample.*unknown=.drop. leaves them out"):
        convert("odd", "out", drop=["b"], unknown="keep")
