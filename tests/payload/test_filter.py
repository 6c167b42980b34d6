"""Conditions on values: what they mean, what is none, and what is told where they find nothing."""

from __future__ import annotations

import math
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import example, ofrecord

from tfrtool import RefusedError, convert
from tfrtool.cli.printers.convert import sentence
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.payload.features.read import read_features
from tfrtool.payload.filter import Condition, Where
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import convert_options

RECORD: dict[str, Any] = {
    "tenth": ("float_list", [0.1, 2]),
    "nan": ("float_list", [math.nan]),
    "inf": ("float_list", [math.inf]),
    "big": ("float_list", [16777216]),
    "label": ("int64_list", [3, 2**53 + 1]),
    "a==b": ("int64_list", [1]),
    "it's": ("bytes_list", [b"a < b"]),
    "none": ("int64_list", []),
    "quotes": ("bytes_list", [b'"it\'s"']),
}


def holds(text: str, record: bytes | None = None) -> bool:
    return Where([Condition.parse(text)]).fulfils(record or example(RECORD), "example")


@pytest.mark.parametrize(
    "text",
    [
        "tenth == 0.1",
        "tenth<=0.1",
        "tenth >= 2",
        "tenth != 0.10000001",
        "big == 16777217",
        "big < 1e300",
        "inf == inf",
        "inf >= Infinity",
        "inf > 1e300",
        "nan == nan",
        "nan != 1",
        "tenth != NaN",
        "label == 3.0",
        "label == 9007199254740993",
        "label != 9007199254740992",
        "'a==b' == 1",
        '"a==b">0',
        "it's == 'a < b'",
        "\"it's\" == 'a < b'",
        "'it''s' == 'a < b'",
        "quotes == '\"it''s\"'",
        'quotes == """it\'s"""',
    ],
)
def test_a_condition_holds(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "tenth < 0.1",
        "tenth != 0.1",
        "inf == 1e300",
        "nan != nan",
        "nan == 0",
        "inf < inf",
        "none != 3",
        "none == 3",
        "nothing != 3",
        "label != 3",
        "a == 1",
        "it's == nan",
    ],
)
def test_a_condition_does_not_hold(text: str) -> None:
    assert not holds(text)


LARGE = [2**53, 2**53 + 1, 2**62 + 16, 2**62 + 17, -(2**63)]


@pytest.mark.parametrize(
    ("how", "fulfil"),
    [
        ("== 9007199254740993.0", [2**53 + 1]),
        ("== 9.007199254740993e15", [2**53 + 1]),
        ("< 9007199254740992.5", [2**53, -(2**63)]),
        ("!= 9007199254740992.5", LARGE),
        ("> 4611686018427387920.5", [2**62 + 17]),
        ("<= -9223372036854775807.5", [-(2**63)]),
        (">= 1e308", []),
        ("> 1e-999999999", LARGE[:4]),
        ("> 0e999999999", LARGE[:4]),
        ("> 1e-99999999999999999999999", LARGE[:4]),
    ],
)
def test_large_integers_compare_with_the_number_as_it_is_written(how: str, fulfil: list[int]) -> None:
    assert [n for n in LARGE if holds(f"n {how}", example({"n": ("int64_list", [n])}))] == fulfil


@pytest.mark.parametrize("text", ["0.1", "100000000000000000000000", "1e23"])
def test_a_double_compares_with_the_number_rounded_to_a_double(text: str) -> None:
    payload = ofrecord({"d": ("double_list", [float(text)])})
    assert Where([Condition.parse(f"d == {text}")]).fulfils(payload, "ofrecord")


@given(st.integers(-(2**63), 2**63 - 1), st.decimals(-(2**65), 2**65, places=3))
def test_integers_and_decimals_compare_as_numbers_do(mine: int, wanted: Decimal) -> None:
    payload = example({"n": ("int64_list", [mine])})
    assert holds(f"n < {wanted}", payload) == (Fraction(mine) < Fraction(wanted))
    assert holds(f"n == {wanted}", payload) == (Fraction(mine) == Fraction(wanted))


@pytest.mark.parametrize("text", ["f < nan", "f == 1e400", "f == +-inf", "f == --1", "== 1", "f ==", "'f' 3", "f", ""])
def test_what_is_no_condition_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"no condition|no number|beyond the largest"):
        Condition.parse(text)


@pytest.mark.parametrize(
    "text", ["b == 'xyz' and a == '1'", "b == 'it's'", 'b == "a" or "b"', "b == 'a'b", "b == 'a", "b == '", "b == '''"]
)
def test_a_text_ends_at_its_quote(text: str) -> None:
    with pytest.raises(ValueError, match=r"more than one text: .* double a quote|has no quote at its end"):
        Condition.parse(text)


@given(st.text(min_size=1))
def test_any_text_stands_in_quotes_once_its_own_are_doubled(text: str) -> None:
    for quote in "'\"":
        quoted = quote + text.replace(quote, quote * 2) + quote
        assert Condition.parse(f"{quoted} != {quoted}") == Condition(text.encode(), "!=", text.encode())


@given(st.floats(width=32))
def test_a_float_is_found_by_the_number_that_is_shown(value: float) -> None:
    payload = example({"f": ("float_list", [value])})
    shown = read_features(payload, "example").features[0].json_values()[0]
    assert holds(f"f == {shown}", payload) and not holds(f"f != {shown}", payload)


def narrow(bits: int) -> float:
    """The float32 of these bits."""
    value: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    return value


@given(st.integers(0, 0x7F7FFFFE), st.sampled_from(["0", "1e-60", "-1e-60", "1e-9", "-1e-9"]), st.booleans())
def test_a_float_is_found_by_every_number_that_lies_nearest_to_it(bits: int, aside: str, negative: bool) -> None:
    low, high = narrow(bits), narrow(bits + 1)
    middle = (Fraction(low) + Fraction(high)) / 2
    wanted = middle + Fraction(aside) * Fraction(high)
    near = low if (wanted < middle or (wanted == middle and bits % 2 == 0)) else high
    sign = "-" if negative else ""
    with localcontext(prec=400):
        text = f"f == {sign}{Decimal(wanted.numerator) / Decimal(wanted.denominator):.300g}"
    for value in (low, high):
        payload = example({"f": ("float_list", [-value if negative else value])})
        assert holds(text, payload) == (value == near)


# In a conversion


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"f": ("float_list", [n / 10]), "label": ("int64_list", [n])} for n in range(3)]
    Path("tf").write_bytes(b"".join(frame(example(row)) for row in rows))
    Path("of").write_bytes(b"".join(ofrecord_frame(ofrecord(row)) for row in rows))
    convert("tf", "in.jsonl", schema_out="schema")
    convert("tf", "in.parquet")


HERE = pytest.mark.usefixtures("here")
FILES = pytest.mark.parametrize("name", ["tf", "of", "in.jsonl", "in.parquet"])


@HERE
@FILES
def test_what_was_named_and_never_met_is_told(name: str) -> None:
    how: dict[str, Any] = {
        "to": "tfrecord",
        "where": ["f >= 0", "lab* < 9"],
        "types": {"labell": "int64", "label": "int64"},
    }
    (report,) = convert(name, "out", **how).reports
    assert (report.written, [loss.feature for loss in report.losses]) == (0, [b"lab*"])
    (report,) = convert(name, "more", **{**how, "where": ["label < 9"]}, strip_prefix="image/").reports
    assert (report.written, report.finding) == (3, False)
    assert [(loss.feature, loss.what) for loss in report.losses if "stored as" not in loss.what] == [
        (b"labell", "given a kind, and in no record"),
        (b"image/", "a prefix to strip, which no name has"),
    ]


@HERE
@FILES
def test_that_no_record_fulfils_the_conditions_is_said(name: str) -> None:
    how = convert_options(to="tfrecord", where=["label == 0", "label == 1"])
    with Conversion([name], "out", how) as conversion:
        for _ in conversion.read(name):
            pass
        conversion.publish()
        assert sentence(conversion.reports[0], conversion) == "0 records written, no record matches --where"


@HERE
@FILES
def test_a_condition_that_compares_a_feature_with_what_it_is_not_is_told(name: str) -> None:
    (report,) = convert(name, "out", to="tfrecord", where=["label == '2'", "label < 9"]).reports
    assert [(loss.feature, loss.what) for loss in report.losses if "compared" in loss.what] == [
        (b"label", "compared with a text, and it holds numbers")
    ]
    Path("text").write_bytes(frame(example({"caption": ("bytes_list", [b"2"])})))
    (report,) = convert("text", "more", where=["caption == 2"]).reports
    assert [loss.what for loss in report.losses] == [
        "compared with a number, and it holds texts, which stand in quotes"
    ]


def test_several_conditions_in_one_are_told_apart() -> None:
    with pytest.raises(ValueError, match="'5 and i < 8' is no number; .*; give several conditions one by one"):
        Condition.parse("i > 5 and i < 8")


@HERE
def test_what_all_records_have_is_not_told() -> None:
    """A type for a kind that the output lacks, a prefix of one name, a kind learnt and not asked for."""
    how: dict[str, Any] = {"to": "ofrecord", "int": "auto", "n": 1, "strip_prefix": "la", "types": {"bel": "int32"}}
    assert not convert("tf", "a", **how).reports[0].losses
    (report,) = convert("in.jsonl", "b", to="tfrecord", types={"label": "int32"}).reports
    assert [loss.what for loss in report.losses] == ["int32 stored as int64"]


@HERE
def test_parts_of_no_records_are_refused_with_the_name_that_nothing_has() -> None:
    with pytest.raises(RefusedError, match="no record fulfils the conditions, and none has a feature 'lable'; OneFlow"):
        convert("of", "out", where=["lable == 1"])
    with pytest.raises(RefusedError, match="conditions; feature 'label' is compared with a text, .* numbers; OneFlow"):
        convert("of", "out", where=["label == '7'"])
    with pytest.raises(RefusedError, match="no record fulfils the conditions; OneFlow stops at a part without"):
        convert("of", "out", where=["label == 7"])
