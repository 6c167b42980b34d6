"""OFRecord and Example, mapped on the wire: what comes back, what is told, and what is refused."""

import re
import struct
from itertools import accumulate
from typing import Any

from hypothesis import example as instance
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    BYTES,
    DOUBLES,
    FLOATS,
    INT64S,
    LEN,
    OF_INT32S,
    OF_INT64S,
    a_list,
    binaries,
    entry,
    event,
    example,
    examples,
    floats,
    int32s,
    int64s,
    law,
    names,
    numbers,
    odd_wire,
    ofrecord,
    ofrecords,
    raw_example,
    sequence,
    sequences,
    sized,
    tag,
    varint,
)
from pytest import MonkeyPatch, mark, raises

from tfrtool.payload.kinds import fits, kind_of
from tfrtool.payload.mapping import fast as mapping_templates
from tfrtool.payload.mapping.mapper import Mapper
from tfrtool.payload.mapping.rules import Pattern, Refused, Rules
from tfrtool.payload.wire import messages
from tfrtool.payload.wire.reader import WireError

pytestmark = mark.slow

LIST_OF = {"bytes_list": "bytes", "float_list": "float", "int64_list": "int64"}
OF_NUMBERS = {1: BYTES, 2: FLOATS, 3: OF_INT64S}


def mapper(there: str, **rules: Any) -> Mapper:
    source, target = {
        "of": ("example", "ofrecord"),
        "tf": ("ofrecord", "example"),
        "tf-tf": ("example", "example"),
        "of-of": ("ofrecord", "ofrecord"),
    }[there]
    return Mapper(source, target, Rules(**rules))  # type: ignore[arg-type]


def mapped(there: str, payload: bytes, **rules: Any) -> bytes:
    pieces = mapper(there, **rules).convert(payload, 0)
    assert pieces is not None
    return b"".join(pieces)


def told(there: str, payload: bytes, **rules: Any) -> list[tuple[bytes | None, str, bool]]:
    """What a mapping says that it changed."""
    one = mapper(there, **rules)
    one.convert(payload, 7)
    assert all((loss.records, loss.first) == (1, 7) for loss in one.losses.all())
    return [(loss.feature, loss.what, loss.lost) for loss in one.losses.all()]


def values(feature: Any) -> Any:
    """The kind and the values of a feature as protobuf reads it; floats as bits."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    found = list(getattr(feature, kind).value)
    code = {"float_list": "f", "double_list": "d"}.get(kind)
    return kind, struct.pack(f"<{len(found)}{code}", *found) if code else found


def read(side: str, payload: bytes) -> dict[str, Any]:
    """A message as protobuf reads it."""
    if side == "tf":
        message = messages.message_class("tensorflow", "Example").FromString(payload).features
    else:
        message = messages.message_class("oneflow", "OFRecord").FromString(payload)
    return {name: values(message.feature[name]) for name in sorted(message.feature)}


a_common_feature = binaries | floats | a_list("int64_list", int64s)
common = st.dictionaries(names, st.none() | a_common_feature, min_size=1, max_size=5)
int32_lists = a_list("int32_list", int32s)
float_doubles = st.tuples(st.just("double_list"), st.lists(st.floats(width=32, allow_nan=False), max_size=5))


# What comes back


@law
@given(common.map(example))
def test_an_example_comes_back_from_an_ofrecord_byte_for_byte(payload: bytes) -> None:
    there = mapped("of", payload)
    assert read("of", there) == read("tf", payload)
    assert mapped("tf", there) == payload


@law
@given(common.map(ofrecord))
def test_an_ofrecord_of_the_common_kinds_comes_back_from_an_example_byte_for_byte(payload: bytes) -> None:
    there = mapped("tf", payload)
    assert read("tf", there) == read("of", payload)
    assert mapped("of", there) == payload


@law
@given(st.dictionaries(names, int32_lists | float_doubles | st.none(), min_size=1, max_size=5))
def test_int32_and_exact_doubles_come_back_where_their_kinds_are_known(lists: dict[str, Any]) -> None:
    payload = ofrecord(lists)
    types = {name.encode(): kind[0].removesuffix("_list") for name, kind in lists.items() if kind}
    assert mapped("of", mapped("tf", payload), types=types) == payload


@law
@given(st.lists(st.floats(), max_size=6))
def test_doubles_kept_as_bytes_come_back_whatever_they_are(doubles: list[float]) -> None:
    payload = ofrecord({"d": ("double_list", doubles)})
    assert mapped("of", mapped("tf", payload, double="bytes"), types={b"d": "double"}) == payload


@law
@given(st.lists(st.integers(0, 2**32 - 1), max_size=8))
def test_every_bit_of_a_float_lives_through_doubles_and_back(bits: list[int]) -> None:
    payload = entry(b"f", sized(FLOATS, sized(1, struct.pack(f"<{len(bits)}I", *bits)) if bits else b""))
    wide = mapped("of", raw_example(payload), types={b"f": "double"})
    assert mapped("tf", wide) == raw_example(payload)


def test_signalling_nans_and_signed_zeros_are_copied_as_bits() -> None:
    data = bytes.fromhex("010080 7f 0000c0ff 00000080 ffffff7f".replace(" ", ""))
    there = mapped("of", raw_example(entry(b"f", sized(FLOATS, sized(1, data)))))
    assert there == entry(b"f", sized(FLOATS, sized(1, data)))


# Wire bytes as no common writer makes them


@st.composite
def a_run(draw: st.DrawFn, kind: str) -> bytes:
    """The content of a list: values packed, single, or in several runs."""
    out = b""
    for _ in range(draw(st.integers(0, 3))):
        if kind == "bytes":
            out += sized(1, draw(st.binary(max_size=5)))
            continue
        if kind in ("float", "double"):
            width, wire = (4, 5) if kind == "float" else (8, 1)
            data = [draw(st.binary(min_size=width, max_size=width)) for _ in range(draw(st.integers(0, 3)))]
        else:
            wire = 0
            wide = st.integers(0, 2**64 - 1) | st.integers(0, 2**33)
            data = [varint(draw(wide), draw(st.integers(0, 10))) for _ in range(draw(st.integers(0, 3)))]
        if draw(st.booleans()):
            out += sized(1, *data)
        else:
            out += b"".join(tag(1, wire) + one for one in data)
    return out


def long_sized(number: int, content: bytes, more: int) -> bytes:
    """A LEN field whose tag and size are drawn out by so many bytes."""
    return varint(number << 3 | LEN, 1 + more % 4) + varint(len(content), 1 + more // 4) + content


@st.composite
def odd_entries(draw: st.DrawFn, kinds: dict[int, str], unknown: bool = False) -> bytes:
    out = b""
    for _ in range(draw(st.integers(1, 4))):
        more = st.integers(0, 15)
        feature = b""
        for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 3)))):
            number = draw(st.sampled_from(sorted(kinds)))
            feature += long_sized(number, draw(a_run(kinds[number])), draw(more))
        if unknown and draw(st.booleans()):
            feature += tag(9, 0) + varint(draw(int64s) % 2**64)
        name = long_sized(1, draw(st.sampled_from(("a", "b", "é", ""))).encode(), draw(more))
        parts = [name, long_sized(2, feature, draw(more))]
        if draw(st.integers(0, 4)) == 0:
            at = draw(st.integers(0, len(feature)))
            parts = [name, sized(2), long_sized(2, feature, draw(more))] if at else parts[::-1]
        out += long_sized(1, b"".join(parts), draw(more))
    return out


TF_KINDS = {1: "bytes", 2: "float", 3: "int64"}
OF_COMMON = {1: "bytes", 2: "float", 5: "int64"}
OF_KINDS = {**OF_COMMON, 4: "int32"}
odd_examples = odd_entries(TF_KINDS).map(raw_example)


@law
@given(odd_examples)
def test_an_example_however_written_means_the_same_as_an_ofrecord_and_back(payload: bytes) -> None:
    there = mapped("of", payload)
    assert read("of", there) == read("tf", payload)
    assert read("tf", mapped("tf", there)) == read("tf", payload)


@law
@given(odd_entries(OF_KINDS))
def test_an_ofrecord_however_written_means_the_same_as_an_example(payload: bytes) -> None:
    expected = {n: ("int64_list", v[1]) if v and v[0] == "int32_list" else v for n, v in read("of", payload).items()}
    assert read("tf", mapped("tf", payload)) == expected


@law
@given(odd_entries(OF_KINDS), st.booleans())
def test_what_is_written_is_sound_to_the_last_byte_and_maps_to_itself(payload: bytes, back: bool) -> None:
    there = mapped("tf", payload)
    assert fits(there, "example") is None
    assert mapped("tf-tf", there, select=("*",)) == there


@law
@given(odd_entries(TF_KINDS, unknown=True).map(raw_example) | common.map(example))
def test_the_quick_way_gives_what_the_exact_way_gives(payload: bytes) -> None:
    one = mapper("of", unknown="drop")
    pieces = one.exactly(memoryview(payload), 0)
    assert pieces is not None
    assert mapped("of", payload, unknown="drop") == b"".join(pieces)
    assert [loss.what for loss in one.losses.all()] == [what for _, what, _ in told("of", payload, unknown="drop")]


def test_sizes_come_out_in_their_shortest_form() -> None:
    drawn_out = long_sized(1, long_sized(1, b"n", 4) + long_sized(2, long_sized(INT64S, N[2:], 4), 4), 4)
    assert mapped("of", long_sized(1, drawn_out, 4)) == entry(b"n", numbers(OF_INT64S, 1))


@law
@given(odd_entries(OF_KINDS) | common.map(ofrecord) | st.dictionaries(names, int32_lists, min_size=1).map(ofrecord))
def test_the_quick_way_back_gives_what_the_exact_way_gives(payload: bytes) -> None:
    one = mapper("tf")
    assert mapped("tf", payload) == b"".join(one.exactly(memoryview(payload), 0) or [])


@law
@given(odd_entries(TF_KINDS, unknown=True).map(raw_example))
def test_unknown_fields_are_dropped_aloud_or_kept_or_refused(payload: bytes) -> None:
    dropped = mapped("of", payload, unknown="drop")
    assert read("of", dropped) == read("tf", payload)
    if any(what == "unknown fields, left out" for _, what, _ in told("of", payload, unknown="drop")):
        kept = mapped("of", payload, unknown="keep")
        assert (read("of", kept), len(kept) > len(dropped)) == (read("tf", payload), True)
        with raises(Refused, match="unknown=.drop. leaves them out, unknown=.keep. copies them"):
            mapped("of", payload)


@mark.parametrize("size", [1, 5, 100, 5000, 200_000])
@mark.parametrize("there", ["of", "tf"])
def test_large_payloads_are_given_in_pieces_that_are_not_copied(there: str, size: int) -> None:
    lists = {"label": ("int64_list", [3]), "image": ("bytes_list", [bytes(size)]), "f": ("float_list", [0.5])}
    make, other = (example, ofrecord) if there == "of" else (ofrecord, example)
    payload = make(lists)
    assert read("of" if there == "of" else "tf", mapped(there, payload)) == read(
        "tf" if there == "of" else "of", payload
    )
    views = [part for part in mapper(there).convert(payload, 0) or [] if isinstance(part, memoryview)]
    assert (max(view.nbytes for view in views) >= size, any(view.obj is payload for view in views)) == (
        True,
        size >= 5000,
    )


# int32


@mark.parametrize(
    ("written", "meant"),
    [(varint(2**32 - 1), -1), (varint(2**32 + 5), 5), (varint(7, 10), 7), (varint(2**31), -(2**31))],
)
def test_an_int32_is_what_its_low_32_bits_are(written: bytes, meant: int) -> None:
    payload = entry(b"n", sized(OF_INT32S, sized(1, written)))
    assert read("tf", mapped("tf", payload)) == {"n": ("int64_list", [meant])}


@law
@given(st.lists(int64s, max_size=5))
def test_int64_becomes_int32_where_it_fits_and_is_refused_with_its_place_where_not(given_: list[int]) -> None:
    payload = example({"n": ("int64_list", given_)})
    wrong = [(i, v) for i, v in enumerate(given_) if not -(2**31) <= v < 2**31]
    if not wrong:
        assert read("of", mapped("of", payload, integers="int32")) == {"n": ("int32_list", given_)}
        return
    with raises(Refused, match=f"feature 'n': value {wrong[0][0]} of it, {wrong[0][1]}, is no int32"):
        mapped("of", payload, integers="int32")


def test_kinds_are_named_for_single_features() -> None:
    payload = example({"a": ("int64_list", [1]), "b": ("int64_list", [1])})
    assert read("of", mapped("of", payload, types={b"a": "int32"})) == {
        "a": ("int32_list", [1]),
        "b": ("int64_list", [1]),
    }


def test_a_kind_that_cannot_be_made_is_refused() -> None:
    with raises(Refused, match="feature 'a': bytes values cannot become int32"):
        mapped("of", example({"a": ("bytes_list", [b"x"])}), types={b"a": "int32"})
    with raises(Refused, match="an Example has no int32"):
        mapped("tf", ofrecord({"a": ("int32_list", [1])}), types={b"a": "int32"})
    with raises(Refused, match="not one value of a multiple of 8 bytes"):
        mapped("of", example({"a": ("bytes_list", [b"x"])}), types={b"a": "double"})


# double

NEXT_UP = 3.4028235677973366e38  # the first number that rounds past the largest float


@mark.parametrize(
    "value", [0.1, 3.4028235677973362e38, 1e-46, 2.0**24 + 1, struct.unpack("<d", b"\1" + bytes(5) + b"\xf8\x7f")[0]]
)
def test_a_double_that_is_no_float_is_refused_with_its_place_and_rounded_on_request(value: float) -> None:
    payload = ofrecord({"d": ("double_list", [0.5, value])})
    with raises(Refused, match="feature 'd': value 1 of it, .* is no float; double=.round."):
        mapped("tf", payload)
    assert told("tf", payload, double="round") == [(b"d", "double rounded to float", True)]
    (_, got) = read("tf", mapped("tf", payload, double="round"))["d"]
    assert got[4:] == struct.pack("<f", value)


@mark.parametrize("rule", ["exact", "round"])
@mark.parametrize("value", [NEXT_UP, -NEXT_UP, 1e300])
def test_a_double_beyond_the_floats_never_becomes_an_infinity(rule: str, value: float) -> None:
    with raises(Refused, match=r"value 1 of it"):
        mapped("tf", ofrecord({"d": ("double_list", [float("inf"), value])}), double=rule)


def test_doubles_are_refused_all_on_request() -> None:
    with raises(Refused, match="feature 'd': doubles, which an Example does not have"):
        mapped("tf", ofrecord({"d": ("double_list", [0.5])}), double="refuse")


# What is told


JOINED = "lists set more than once, joined as protobuf reads them"
OVERRIDDEN = "a list that one of another kind overrides, left out"
PARTS = "features in more than one part, joined as protobuf reads them"
SPLIT = "numbers in more than one run, packed into one"
N = numbers(INT64S, 1)


def of_one(*feature: bytes) -> bytes:
    """An Example of one feature `n`."""
    return raw_example(entry(b"n", *feature))


@mark.parametrize(
    ("there", "payload", "rules", "feature", "what", "lost"),
    [
        ("tf", ofrecord({"n": ("int32_list", [1])}), {}, b"n", "int32 stored as int64", False),
        ("tf", ofrecord({"n": ("double_list", [1])}), {}, b"n", "double stored as float, exactly", False),
        ("tf", ofrecord({"n": ("double_list", [1])}), {"double": "bytes"}, b"n", "double stored as bytes", False),
        ("of", of_one(), {}, b"n", "kept without a kind, at which OneFlow stops", False),
        ("tf", ofrecord({"n": None}), {"no_kind": "drop"}, b"n", "a feature without a kind, left out", True),
        ("of", raw_example(), {"empty": "skip"}, None, "a record of no features, left out", True),
        ("of", of_one(N, N), {}, b"n", JOINED, False),
        ("of", of_one(sized(INT64S, sized(1, b"\1"), sized(1, b"\2"))), {}, b"n", SPLIT, False),
        ("tf", entry(b"n", sized(FLOATS, sized(1, bytes(4)), tag(1, 5) + bytes(4))), {}, b"n", SPLIT, False),
        ("of", of_one(N, sized(BYTES)), {}, b"n", OVERRIDDEN, True),
        ("of", of_one(N) * 2, {}, None, PARTS, False),
        ("of", of_one(N, tag(9, 0) + b"\1"), {"unknown": "drop"}, b"n", "unknown fields, left out", True),
    ],
)
def test_what_is_changed_is_told(
    there: str, payload: bytes, rules: dict[str, Any], feature: bytes | None, what: str, lost: bool
) -> None:
    assert told(there, payload, **rules) == [(feature, what, lost)]


def test_one_loss_counts_the_records_that_have_it() -> None:
    one = mapper("tf")
    for number in range(5, 9):
        one.convert(
            ofrecord(
                {"n": ("int32_list", [number]), "m": ("int32_list", [1])}
                if number > 6
                else {"n": ("int32_list", [number])}
            ),
            number,
        )
    assert sorted((loss.feature, loss.records, loss.first) for loss in one.losses.all()) == [(b"m", 2, 7), (b"n", 4, 5)]


def test_losses_of_hostile_names_stay_bounded() -> None:
    one = mapper("tf")
    for number in range(one.losses.MOST + 50):
        one.convert(ofrecord({str(number): ("int32_list", [1])}), number)
    assert len(one.losses.all()) == one.losses.MOST + 1


# What is refused


@mark.parametrize(
    ("there", "payload", "why"),
    [
        (
            "of",
            ofrecord({"a": ("int64_list", [1])}),
            "this is an OFRecord .or the bare features of an Example., not an Example",
        ),
        ("tf", example({"a": ("int64_list", [1])}), "this is an Example, not an OFRecord"),
        ("tf", example({"a": ("bytes_list", [b"x"]), "b": ("int64_list", [1])}), "this is an Example"),
        ("tf", event(file_version="brain.Event:2"), "this is an Event, not an OFRecord"),
        ("of", b"not a message at all", "of the payload"),
        ("of", raw_example(entry(b"\xff", numbers(INT64S, 1))), "a name is not UTF-8"),
        ("of", raw_example(entry(b"a", sized(FLOATS, sized(1, b"123")))), "which 4 does not divide"),
        ("tf", entry(b"a", sized(DOUBLES, sized(1, b"1234"))), "which 8 does not divide"),
        ("of", raw_example(entry(b"a", sized(INT64S, sized(1, b"\xff")))), "cut off"),
        ("of", example({"a": ("int64_list", [1])})[:-1], "of the payload"),
    ],
)
def test_what_is_no_such_message_is_named_with_its_place(there: str, payload: bytes, why: str) -> None:
    with raises(WireError, match=why):
        mapped(there, payload)


@law
@given(st.dictionaries(names, a_common_feature, min_size=1, max_size=4).map(example), st.binary(max_size=6))
def test_no_example_with_a_field_too_many_passes_for_an_ofrecord(payload: bytes, odd: bytes) -> None:
    """It parses as one, with its data gone."""
    with raises((WireError, Refused)):
        mapped("tf", payload)
    with raises((WireError, Refused)):
        mapped("tf", payload + tag(7, 0) + b"\1", unknown="drop")


@mark.parametrize("there", ["of", "tf"])
@mark.parametrize("rule", ["refuse", "keep", "drop"])
@mark.parametrize("payload", [tag(7, 0) + b"\1", sized(3, b"text"), tag(1, 0) + b"\1"])
def test_a_message_of_strange_fields_alone_is_another_message(there: str, rule: str, payload: bytes) -> None:
    with raises(WireError, match="and no feature: this is another message"):
        mapped(there, payload, unknown=rule)


@mark.parametrize("rule", ["refuse", "keep"])
def test_what_has_no_place_on_the_other_side_is_refused(rule: str) -> None:
    beside_the_features = raw_example(entry(b"a", numbers(INT64S, 1))) + tag(7, 0) + b"\1"
    a_list_over_there = raw_example(entry(b"a", numbers(INT64S, 1), numbers(OF_INT64S, 1)))
    for payload in (beside_the_features, a_list_over_there):
        with raises(Refused, match="unknown=.drop. leaves them out"):
            mapped("of", payload, unknown=rule)


def test_an_empty_record_is_refused_for_oneflow_unless_kept() -> None:
    for payload in (b"", raw_example()):
        with raises(Refused, match="an OFRecord of no features, at which OneFlow stops; empty=.skip."):
            mapped("of", payload)
        assert mapped("of", payload, empty="keep") == b""


def test_a_feature_without_a_kind_is_refused_on_request() -> None:
    with raises(Refused, match="feature 'x': it has no kind"):
        mapped("of", example({"x": None}), no_kind="refuse")


# Names


def test_features_are_chosen_and_renamed() -> None:
    payload = example({name: ("int64_list", [1]) for name in ("image/encoded", "image/label", "other", "image/x")})
    there = read(
        "of",
        mapped(
            "of", payload, select=("image/*",), drop=("image/x",), strip_prefix=b"image/", rename={b"image/label": b"y"}
        ),
    )
    assert sorted(there) == ["encoded", "y"]


def test_two_features_never_come_out_under_one_name() -> None:
    payload = example({"image/a": ("int64_list", [1]), "a": ("int64_list", [2])})
    with raises(Refused, match="two features would be named 'a', as one of them is; rename that too"):
        mapped("of", payload, strip_prefix=b"image/")


# SequenceExamples

SEQUENCE = sequence(
    {"id": ("int64_list", [7])},
    {"w": [("bytes_list", [b"a", b"b"]), ("bytes_list", []), ("bytes_list", [b"c"])], "t": [("int64_list", [1, -1])]},
)


@mark.parametrize("there", ["of", "tf-tf"])
def test_a_sequence_is_laid_flat_on_request_alone(there: str) -> None:
    if there == "of":
        with raises(Refused, match="a SequenceExample, which has no counterpart; sequence=.flatten."):
            mapped(there, SEQUENCE)
    assert read("of" if there == "of" else "tf", mapped(there, SEQUENCE, sequence="flatten")) == {
        "id": ("int64_list", [7]),
        "w": ("bytes_list", [b"a", b"b", b"c"]),
        "w/lengths": ("int64_list", [2, 0, 1]),
        "t": ("int64_list", [1, -1]),
        "t/lengths": ("int64_list", [2]),
    }


@mark.parametrize(
    ("context", "lists", "why"),
    [
        ({}, {"w": [("bytes_list", [b"a"]), ("int64_list", [1])]}, "its steps are of the kinds bytes and int64"),
        ({"w": ("int64_list", [1])}, {"w": [("int64_list", [1])]}, "the record has a feature of that name too"),
        ({"w/lengths": ("int64_list", [1])}, {"w": [("int64_list", [1])]}, "has a feature 'w/lengths' too"),
    ],
)
def test_a_sequence_that_cannot_be_laid_flat_is_refused(context: Any, lists: Any, why: str) -> None:
    with raises(Refused, match=why):
        mapped("of", sequence(context, lists), sequence="flatten")


# Records that are much alike

alike = st.lists(
    st.tuples(
        st.integers(-3, 300) | int64s,
        st.binary(max_size=4),
        st.lists(st.floats(width=32), min_size=1, max_size=2),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def one_of_many(make: Any, number: int, data: bytes, floats_: list[float], more: bool, kind: str) -> bytes:
    if kind == "int32_list":
        number = (number + 2**31) % 2**32 - 2**31
    lists = {"n": (kind, [number]), "data": ("bytes_list", [data]), "f": ("float_list", floats_), "m": (kind, [7])}
    return make(lists | {"more": (kind, [1, number])} if more else lists)


@mark.slow
@law
@given(alike, st.sampled_from([("of", "int64_list"), ("tf", "int64_list"), ("tf", "int32_list")]))
def test_a_template_gives_what_the_exact_way_gives(rows: list[Any], how: tuple[str, str]) -> None:
    there, kind = how
    payloads = [one_of_many(example if there == "of" else ofrecord, *row, kind) for row in rows]
    with MonkeyPatch.context() as patch:
        patch.setattr(mapping_templates, "_LEARN_FIRST", 1)
        quick, exact = mapper(there), mapper(there)
        for number, payload in enumerate(payloads * 2):
            assert b"".join(quick.convert(payload, number) or []) == b"".join(
                exact.exactly(memoryview(payload), number) or []
            )
        assert quick.losses.all() == exact.losses.all()
        assert all_at_once(quick, payloads) == [b"".join(exact.exactly(memoryview(p), 0) or []) for p in payloads]


def all_at_once(quick: Mapper, payloads: list[bytes]) -> list[bytes]:
    """What a mapper that has learnt makes of payloads that lie side by side: many at once, and single ones between."""
    ends = list(accumulate(map(len, payloads)))
    begins, whole, found = [0, *ends[:-1]], memoryview(b"".join(payloads)), []
    while len(found) < len(payloads):
        found += quick.many(whole, begins, ends, range(len(found), len(payloads)), len(found))
        if len(found) < len(payloads):
            found.append(b"".join(quick.convert(payloads[len(found)], len(found)) or []))
    return found


@mark.slow
@law
@given(alike, st.data())
def test_a_template_takes_nothing_that_the_exact_way_refuses(rows: list[Any], data: st.DataObject) -> None:
    payloads = [one_of_many(example, *row, "int64_list") for row in rows]
    with MonkeyPatch.context() as patch:
        patch.setattr(mapping_templates, "_LEARN_FIRST", 1)
        quick = mapper("of")
        for payload in payloads:
            quick.convert(payload, 0)
    hurt = bytearray(data.draw(st.sampled_from(payloads)))
    for _ in range(data.draw(st.integers(1, 3))):
        hurt[data.draw(st.integers(0, len(hurt) - 1))] = data.draw(st.integers(0, 255))
    exactly = outcome(lambda: mapper("of").exactly(memoryview(hurt), 1))
    assert outcome(lambda: all_at_once(quick, [bytes(hurt)])) == exactly
    assert outcome(lambda: quick.convert(bytes(hurt), 1)) == exactly


def test_many_records_that_are_alike_take_one_step() -> None:
    quick = mapper("tf")
    payloads = [ofrecord({"n": ("int32_list", [number % 128])}) for number in range(1200)]
    for number, payload in enumerate(payloads[:600]):
        quick.convert(payload, number)
    ends = list(accumulate(map(len, payloads)))
    found = quick.many(memoryview(b"".join(payloads)), [0, *ends], ends, range(600, 1200), 600)
    assert [read("tf", one)["n"] for one in found] == [("int64_list", [number % 128]) for number in range(600, 1200)]
    assert [(loss.records, loss.first) for loss in quick.losses.all()] == [(1200, 0)]


OFKINDS = ("bytes", "float", "int64", "double", "int32")


def outcome(job: Any) -> Any:
    """What comes of it: bytes, or the sort of failure."""
    try:
        return b"".join(job())
    except (WireError, Refused) as error:
        return type(error)


# Whatever comes

rules = st.fixed_dictionaries(
    {},
    optional={
        "double": st.sampled_from(["refuse", "exact", "round", "bytes"]),
        "integers": st.sampled_from(["int64", "int32"]),
        "no_kind": st.sampled_from(["keep", "drop", "refuse"]),
        "empty": st.sampled_from(["refuse", "skip", "keep"]),
        "unknown": st.sampled_from(["refuse", "keep", "drop"]),
        "sequence": st.sampled_from(["refuse", "flatten"]),
        "select": st.sampled_from([(), ("*",), ("a*", "b")]),
        "strip_prefix": st.sampled_from([b"", b"a"]),
        "types": st.dictionaries(st.sampled_from([b"a", b"b", b""]), st.sampled_from(sorted(OFKINDS)), max_size=2),
    },
)
anything = (
    st.binary(max_size=40)
    | odd_wire()
    | odd_entries(OF_KINDS, unknown=True)
    | odd_entries({**TF_KINDS, 9: "bytes"}, unknown=True).map(raw_example)
    | examples
    | ofrecords
    | sequences
)


@mark.slow
@law
@given(anything, st.sampled_from(["of", "tf", "tf-tf", "of-of"]), rules)
def test_any_bytes_are_mapped_to_a_sound_message_or_refused_in_words(
    payload: bytes, there: str, how: dict[str, Any]
) -> None:
    result = outcome(lambda: mapper(there, **how).convert(payload, 0) or [])
    if isinstance(result, bytes) and result and how.get("unknown") != "keep":
        stays = there == "tf-tf" and how.get("sequence") != "flatten" and kind_of(payload) == "sequence_example"
        assert fits(result, "ofrecord" if there.endswith("of") else "sequence_example" if stays else "example") is None


@given(st.text("ab*\n"), st.text("ab*\n"))
@instance("ab*ba", "aba")
@instance("a*a", "a")
def test_a_star_in_a_pattern_is_any_text(pattern: str, name: str) -> None:
    expected = re.fullmatch("(?s:.*)".join(map(re.escape, pattern.split("*"))), name) is not None
    assert Pattern(pattern).fits(name) == expected


def test_a_pattern_of_many_stars_comes_to_its_end() -> None:
    """Time in proportion to the name: all ways to share it out among the stars would take for ever."""
    assert not Pattern("*a" * 10_000 + "b").fits("a" * 100_000)
    assert Pattern("*a" * 10_000 + "*").fits("a" * 100_000)
