"""Names of features in options of convert: any name can be given, in quotes where it must be, and none in two ways."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.forked import forked
from kit.messages import example, sequence

from tfrtool import convert
from tfrtool.framing.encode import frame
from tfrtool.payload.filter import Condition, Where, split_outside_quotes


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = {name: ("int64_list", [n]) for n, name in enumerate(["lr=0.1", "x,y", "x", "it's", "'q'"])}
    Path("tf").write_bytes(frame(example(row)))
    lists = sequence({"n": ("int64_list", [1])}, {"s": [("bytes_list", [b"1"])]})
    Path("lists").write_bytes(frame(lists) * 2)


HERE = pytest.mark.usefixtures("here")


@HERE
@pytest.mark.parametrize(
    ("how", "names"),
    [
        ("--rename \"'lr=0.1'=rate\" --select lr=0.1,x", {"rate": 0, "x": 2}),
        ("--rename \"x='a=b'\" --select x", {"a=b": 2}),
        ("--rename '\"lr=0.1\"=a' --select \"lr*,'x,y'\"", {"a": 0, "x,y": 1}),
        ("--drop \"'x,y'\" --drop lr=0.1,it\\'s,\"'''q'''\"", {"x": 2}),
        ("--select it\\'s", {"it's": 3}),
        ("--type lr=0.1=int64 --select lr=0.1", {"lr=0.1": 0}),
        ("--type \"'x,y'=int64\" --select \"'x,y'\"", {"x,y": 1}),
        ("--rename x=p --rename x=p --select x", {"p": 2}),
    ],
)
def test_any_name_can_be_given(how: str, names: dict[str, int]) -> None:
    assert forked("convert", "tf", "-o", "out.jsonl", *shlex.split(how)).code == 0
    assert json.loads(Path("out.jsonl").read_text()) == names


@HERE
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("--rename lr=0.1=rate", "has more than one =: quote a name that contains one"),
        ("--rename x", "has no =, as in OLD=NEW"),
        ("--type x", "has no =, as in NAME=KIND"),
        ("--rename x=p --rename x=q", "'x' cannot be both 'p' and 'q'"),
        ("--type x=int32 --type x=int64", "'x' cannot be both 'int32' and 'int64'"),
        ("--select ,", "no feature is named"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_wrong_usage(how: str, said: str) -> None:
    ended = forked("convert", "tf", "-o", "out", "--to", "ofrecord", *how.split())
    assert ended.code == 2 and said in ended.said
    assert not Path("out").exists()


@given(st.lists(st.text(), min_size=1))
def test_names_in_quotes_come_out_of_a_list_as_they_went_in(names: list[str]) -> None:
    for quote in "'\"":
        assert (
            split_outside_quotes(",".join(quote + name.replace(quote, quote * 2) + quote for name in names), ",")
            == names
        )


@given(st.lists(st.text(st.characters(exclude_characters=",'\"")), min_size=1))
def test_names_without_commas_and_quotes_need_none(names: list[str]) -> None:
    assert split_outside_quotes(",".join(names), ",") == names


@HERE
def test_that_conditions_do_not_look_at_feature_lists_is_told() -> None:
    (report,) = convert("lists", "out", where=["s == '1'"]).reports
    (loss,) = report.losses
    assert (report.written, loss.feature) == (0, b"s")
    assert loss.what == "named in a condition, and a feature list: conditions look at features of the context alone"
    (report,) = convert("lists", "more", where=["t == '1'"]).reports
    assert report.losses[0].what == "named in a condition, and in no record"


def test_an_empty_list_has_no_value_that_differs_and_help_says_so() -> None:
    empty = example({"l": ("int64_list", [])})
    assert not Where([Condition.parse("l != 3")]).fulfils(empty, "example")
    assert "!= requires values, and that none is equal" in " ".join(forked("convert", "--help").said.split())
