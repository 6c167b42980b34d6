"""Which kind a payload is: right for what each writer makes, `unknown` for all else, and exact about the place."""

import json
import pickle
import random
import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.messages import (
    BYTES,
    FLOATS,
    INT64S,
    KINDS,
    SGROUP,
    VARINT,
    entry,
    event,
    law,
    numbers,
    odd_wire,
    of_kind,
    raw_example,
    scalar,
    sized,
    tag,
    tensor,
    varint,
)

from tfrtool.payload import kinds
from tfrtool.payload import validate as strict
from tfrtool.payload.kinds import KindVote, count_features, fits, kind_of, kind_of_file, plausible_ofrecord

LABEL = entry(b"label", numbers(INT64S, 7))
TEXT = entry(b"text", sized(BYTES, sized(1, b"hello")))
SCORE = entry(b"score", sized(FLOATS, sized(1, bytes(4))))
AN_EXAMPLE = raw_example(LABEL, TEXT, SCORE)
A_SEQUENCE = raw_example(LABEL) + sized(2, entry(b"tokens", sized(1, numbers(INT64S, 1)), sized(1)))
AN_OFRECORD = LABEL.replace(b"\x1a", b"\x2a") + TEXT + SCORE
AN_EVENT = event(step=1, summary=scalar("loss", 0.5))
OF_EACH = dict(zip(KINDS, (AN_EXAMPLE, A_SEQUENCE, AN_EVENT, AN_OFRECORD), strict=True))


def elwc(*examples, context=b""):
    return (sized(2, context) if context else b"") + b"".join(sized(1, one) for one in examples)


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_one_of_each_kind(kind):
    assert kind_of(OF_EACH[kind]) == kind
    assert kind_of(memoryview(OF_EACH[kind])) == kind


@pytest.mark.parametrize("kind", KINDS)
def test_what_protobuf_writes_is_told_and_fits_and_fits_no_other(kind):
    @law
    @given(of_kind[kind])
    def holds(payload):
        assert kind_of(payload) == kind
        assert fits(payload, kind) is None
        assert plausible_ofrecord(payload) == (kind == "ofrecord")

    holds()


UNDECIDED = {
    "no bytes": b"",
    "an Example of no features": b"\n\0",
    "a SequenceExample of no lists": b"\x12\0",
    "a SequenceExample of nothing": b"\n\0\x12\0",
    "an event of a time and a step": event(step=3),
    "an OFRecord whose features have no kind": entry(b"a") + entry(b"b"),
}


@pytest.mark.parametrize("payload", UNDECIDED.values(), ids=UNDECIDED)
def test_what_could_be_several_kinds_is_undecided(payload):
    assert kind_of(payload) is None


LEGAL = {
    "a feature of no kind": raw_example(entry(b"a")),
    "a list of no kind set": raw_example(entry(b"a", sized(INT64S))),
    "a packed list of nothing": raw_example(entry(b"a", numbers(INT64S))),
    "numbers that are not packed": raw_example(entry(b"a", sized(INT64S, tag(1, VARINT) + b"\x05"))),
    "packed and single numbers": raw_example(entry(b"a", sized(INT64S, sized(1, b"\1"), tag(1, VARINT) + b"\x05"))),
    "a value before its name": raw_example(sized(1, sized(2, numbers(INT64S, 1)), sized(1, b"a"))),
    "features in two pieces": raw_example(LABEL) + raw_example(TEXT),
    "the same name twice": raw_example(LABEL, LABEL),
    "an empty name": raw_example(entry(b"", numbers(INT64S, 1))),
    "sizes of more bytes than needed": tag(1, 2) + varint(len(LABEL), 4) + LABEL,
    "a name of 300 bytes": raw_example(entry(b"n" * 300, numbers(INT64S, 1))),
    "a value of 300 bytes": raw_example(entry(b"n", sized(BYTES, sized(1, b"v" * 300)))),
    "a negative number": raw_example(entry(b"a", numbers(INT64S, 2**64 - 1))),
}


@pytest.mark.parametrize("payload", LEGAL.values(), ids=LEGAL)
def test_a_legal_oddity_is_an_example_without_a_finding(payload):
    assert kind_of(payload) == "example"
    assert fits(payload, "example") is None


FOREIGN = {
    "text": b"Hello world 0",
    "lines": b"\n\n\n\n\n\n\n\n\n\n\n\n",
    "json": json.dumps({"a": [1, 2]}).encode(),
    "a pickle": pickle.dumps({"a": [1, 2.5, "x"]}),
    "a record file": struct.pack("<QI", len(AN_EXAMPLE), 0x12345678) + AN_EXAMPLE + bytes(4),
    "zeros": bytes(64),
    "a bare Features": LABEL + TEXT,
    "a list of Examples": elwc(AN_EXAMPLE, AN_EXAMPLE),
    "a list of one small Example": elwc(raw_example(LABEL)),
    "a list of Examples with context": elwc(AN_EXAMPLE, context=raw_example(LABEL)),
    "an Example wrapped twice": raw_example(AN_EXAMPLE),
    "a tensor": tensor(dtype=1, tensor_shape={"dim": [{"size": 1}]}, float_val=[1.0]),
    "a map of texts": sized(1, sized(1, b"key"), sized(2, b"value")),
    "a scenario of packed doubles": sized(1, struct.pack("<5d", *range(5))) + sized(5, b"id") + tag(10, VARINT) + b"\1",
    "a point in time": struct.pack("<Bd", 0x09, 2.0) + sized(3, b"name"),
    "a message of a double and bytes": struct.pack("<Bd", 0x09, 2.0) + sized(4, b"\x00\x01"),
    "a message of a double and a message": struct.pack("<Bd", 0x09, 2.0) + sized(4, sized(14, b"x")),
    "a step without a time": tag(2, VARINT) + b"\1" + sized(5, sized(1, sized(1, b"loss"))),
    "an Example with a field too many": AN_EXAMPLE + tag(7, VARINT) + b"\1",
    "an Example with a group": AN_EXAMPLE + tag(7, SGROUP) + tag(7, SGROUP + 1),
    "a feature of an unknown kind": raw_example(entry(b"a", numbers(4, 1))),
    "a feature of two kinds": raw_example(entry(b"a", numbers(INT64S, 1), sized(FLOATS))),
    "an entry of three fields": raw_example(sized(1, sized(1, b"a"), sized(2), sized(3))),
    "an entry without a value": raw_example(sized(1, sized(1, b"a"))),
    "an entry without a name": raw_example(sized(1, sized(2, numbers(INT64S, 1)))),
    "floats of 5 bytes": raw_example(entry(b"a", sized(FLOATS, sized(1, bytes(5))))),
    "a number cut off": raw_example(entry(b"a", sized(INT64S, sized(1, b"\x80")))),
    "a number of eleven bytes": raw_example(entry(b"a", sized(INT64S, sized(1, b"\x80" * 10 + b"\1")))),
    "doubles of 4 bytes": entry(b"a", sized(3, sized(1, bytes(4)))),
}


@pytest.mark.parametrize("payload", FOREIGN.values(), ids=FOREIGN)
def test_what_no_kind_explains_is_unknown(payload):
    assert kind_of(payload) == "unknown"
    assert not plausible_ofrecord(payload)


def test_an_ofrecord_of_features_without_a_kind_is_plausible_but_one_without_features_is_not():
    assert plausible_ofrecord(entry(b""))
    assert not plausible_ofrecord(b"")
    assert not plausible_ofrecord(sized(1))


def test_the_first_bytes_of_a_graph_tell_an_event():
    assert kind_of(event(graph_def=sized(1, sized(1, b"node")) + sized(4, b""))) == "event"
    assert kind_of(event(meta_graph_def=sized(1, b""))) == "event"
    assert kind_of(event(graph_def=b"\x07")) == "unknown"


def test_an_event_of_a_later_version_is_still_an_event():
    value = sized(1, b"loss") + tag(30, VARINT) + b"\1"
    assert kind_of(event() + sized(5, sized(1, value))) == "event"
    assert fits(event() + sized(5, sized(1, value)), "event") is None
    assert kind_of(event() + sized(30, b"")) == "unknown"


def test_random_bytes_are_never_of_a_kind():
    rng = random.Random(20_000)
    for _ in range(20_000):
        data = rng.randbytes(rng.randrange(1, 60))
        alone = data in UNDECIDED.values() or (data[0] == 0x09 and len(data) < 20)  # may be a time and a step
        assert kind_of(data) == "unknown" or (alone and kind_of(data) is None)
        assert not plausible_ofrecord(data)
        assert not plausible_ofrecord(b"\n" + data)


@law
@given(st.sampled_from(KINDS).flatmap(of_kind.get), st.data())
def test_a_payload_cut_anywhere_gives_an_answer(payload, data):
    cut = payload[: data.draw(st.integers(0, len(payload)))]
    assert kind_of(cut) in (*KINDS, "unknown", None)
    for kind in KINDS:
        wrong = fits(cut, kind)
        assert wrong is None or 0 <= wrong.offset <= len(cut)


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_and_every_flip_of_a_small_payload_gives_an_answer(kind):
    payload = OF_EACH[kind]
    variants = [payload[:at] for at in range(len(payload))]
    variants += [
        payload[:at] + bytes([payload[at] ^ 1 << bit]) + payload[at + 1 :]
        for at in range(len(payload))
        for bit in range(8)
    ]
    for variant in variants:
        common_form_agrees(variant)
        assert kind_of(variant) in (*KINDS, "unknown", None)
        assert kind_of(memoryview(b"\xff\xff" + variant + b"\xff\xff")[2:-2]) == kind_of(variant)
        for other in KINDS:
            fits(variant, other)


def common_form_agrees(payload):
    for kind in ("example", "ofrecord"):
        if (count := count_features(payload, kind, False)) > 0:
            assert strict.evidence(payload, kind).kinds == count
        if count_features(payload, kind, True) > 0:
            assert strict.misfit(payload, kind) is None


@law
@given(odd_wire())
def test_common_form_is_never_found_where_the_strict_walk_finds_a_fault(payload):
    common_form_agrees(payload)


@pytest.mark.parametrize("kind", ["example", "ofrecord"])
def test_writers_write_the_common_form(kind):
    assert count_features(OF_EACH[kind], kind, True) == count_features(OF_EACH[kind], kind, False) == 3


MISFITS = {
    "a name that is not UTF-8": ("example", raw_example(entry(b"ab\xff", numbers(INT64S, 1))), 8, "not UTF-8"),
    "unknown fields alone": (
        "example",
        sized(7) + sized(8),
        0,
        "field 7 does not belong to Example",
    ),
    "an unknown field in an entry": ("example", raw_example(sized(1, sized(3))), 4, "does not belong to FeatureEntry"),
    "an unknown kind of list": ("example", raw_example(entry(b"a", sized(5))), 9, "field 5 does not belong to Feature"),
    "two lists of one feature": (
        "example",
        raw_example(entry(b"a", numbers(1), numbers(3))),
        13,
        "sets its kind twice",
    ),
    "floats of five bytes": (
        "example",
        raw_example(entry(b"a", sized(FLOATS, sized(1, bytes(5))))),
        13,
        "5 bytes, which 4",
    ),
    "a number in a float's place": (
        "example",
        raw_example(entry(b"a", sized(FLOATS, b"\x08\1"))),
        11,
        "is a varint, not 4 bytes",
    ),
    "a cut": ("example", AN_EXAMPLE[:-1], 0, f"needs {len(AN_EXAMPLE) - 2} bytes where {len(AN_EXAMPLE) - 3}"),
    "an Example": ("ofrecord", AN_EXAMPLE, 18, "FeatureEntry sets its name twice"),
    "nothing": ("ofrecord", b"", 0, "OneFlow stops"),
    "an OFRecord": ("example", AN_OFRECORD, 4, "a group 13 that never began"),
    "lists of features": ("example", A_SEQUENCE, len(raw_example(LABEL)), "field 2 does not belong to Example"),
    "text": ("event", b"Hello", 0, "meta_graph_def of Event is a varint, not a sized value"),
    "two contents of an event": ("event", event(file_version="x") + sized(4), 12, "sets its what twice"),
    "a tag that is not UTF-8": ("event", event() + sized(5, sized(1, sized(1, b"\xff"))), 15, "not UTF-8"),
}


@pytest.mark.parametrize(("kind", "payload", "offset", "reason"), MISFITS.values(), ids=MISFITS)
def test_a_misfit_is_told_with_its_place(kind, payload, offset, reason):
    found = fits(payload, kind)
    assert reason in found.why
    assert found.offset == offset
    assert str(found) == f"{found.why}, at byte {found.offset} of the payload"


LEGAL_ENTRIES = {
    "no features": b"",
    "features of nothing": b"\n\0",
    "an entry without a value": raw_example(sized(1, sized(1, b"a"))),
    "an entry without a name": raw_example(sized(1, sized(2, numbers(INT64S, 1)))),
    "an entry of nothing": raw_example(sized(1)),
}


@pytest.mark.parametrize("payload", LEGAL_ENTRIES.values(), ids=LEGAL_ENTRIES)
def test_what_is_no_evidence_of_an_example_still_fits_one(payload):
    assert fits(payload, "example") is None


TWICE = raw_example(LABEL, entry(b"a", numbers(INT64S, 1) + numbers(INT64S, 2)))


@pytest.mark.parametrize(
    ("payload", "near"),
    [
        (TWICE, f"nearly an Example: Feature sets its kind twice, at byte {len(TWICE) - 5} of the payload"),
        (
            raw_example(LABEL + entry(b"a", numbers(INT64S, 1) * 2), TEXT),
            "nearly an Example: Feature sets its kind twi",
        ),
        (b"\x09" + bytes(8) + b"\xff", ""),
        (AN_EXAMPLE + tag(7, VARINT) + b"\1", "nearly an Example: field 7 does not belong to Example"),
        (A_SEQUENCE + tag(7, VARINT) + b"\1", "nearly a SequenceExample: field 7 does not belong to"),
        (AN_OFRECORD[:-3], "nearly an OFRecord: "),
        (AN_EVENT + b"\xff", "nearly an Event: "),
        ((b"\x09" + bytes(8)) * 2 + b"\x12\2ab", ""),  # a list of doubles, and a string
        (b"plain text", ""),
        (b"\x08\3", ""),
        (b"", ""),
    ],
)
def test_what_comes_near_to_a_kind_says_how_it_departs_from_it(payload, near):
    assert strict.nearly(payload).startswith(near) and bool(strict.nearly(payload)) == bool(near)
    if near:
        assert kind_of(payload) == "unknown"


def test_of_an_unknown_kind_nothing_is_said():
    assert fits(b"anything", "unknown") is None


def test_all_of_a_long_list_is_checked_for_fit_but_only_sampled_for_the_kind():
    values = b"\1" * 5000 + b"\xff" * 10 + b"\1" * 10
    payload = raw_example(entry(b"a", sized(INT64S, sized(1, values))))
    assert kind_of(payload) == "example"
    assert "more than 10 bytes" in fits(payload, "example").why
    payload = raw_example(entry(b"a", sized(BYTES, sized(1) * 5000, sized(2))))
    assert kind_of(payload) == "example"
    assert fits(payload, "example") is None
    payload = raw_example(entry(b"a", sized(BYTES, sized(2))))
    assert "field 2 does not belong to BytesList" in fits(payload, "example").why


@pytest.mark.parametrize("odd", [AN_EXAMPLE + sized(7), raw_example(LABEL) + sized(15, b"x")])
def test_a_field_that_a_later_version_may_have_added_is_no_misfit(odd):
    assert kind_of(odd) == "unknown"
    assert fits(odd, "example") is None


MANY = 70_000


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("example", raw_example(entry(b"a", sized(INT64S, (tag(1, VARINT) + b"\5") * MANY)), LABEL)),
        ("example", raw_example(entry(b"a", sized(FLOATS, sized(1, bytes(4)) * MANY)))),
        ("example", raw_example(*[entry(b"%d" % n, sized(INT64S, b"\x08\5")) for n in range(MANY)])),
        ("sequence_example", raw_example(*[TEXT] * MANY) + sized(2, entry(b"t", sized(1, numbers(INT64S, 1))))),
        ("sequence_example", raw_example(LABEL) + sized(2, entry(b"t", sized(1, numbers(INT64S, 1)) * MANY))),
        ("ofrecord", entry(b"a", sized(4, (tag(1, VARINT) + b"\5") * MANY)) + AN_OFRECORD),
        ("event", event(summary={"value": [{"tag": "a", "simple_value": 1.0}] * MANY})),
        ("event", event(summary={"value": [{"tag": "a", "tensor": {"float_val": [0.5] * MANY}}]})),
    ],
    ids=["values", "runs", "features", "context", "steps", "ofrecord", "summaries", "tensor"],
)
def test_a_payload_of_very_many_parts_is_told_as_its_kind(kind, payload):
    assert kind_of(payload) == kind
    assert fits(payload, kind) is None


def test_what_stands_behind_very_many_fields_counts():
    assert kind_of(raw_example(*[TEXT] * MANY) + sized(9)) == "unknown"
    assert fits(b"\n\0" * MANY + b"\xff", "example").offset == 2 * MANY


# The kind of a file.


def test_a_file_is_of_the_kind_of_its_records():
    for kind, payload in OF_EACH.items():
        assert kind_of_file([payload] * 3) == kind


def test_a_file_of_no_records_has_no_kind_and_one_of_empty_records_an_unknown_one():
    assert kind_of_file([]) is None
    assert kind_of_file([b"", b"\n\0"]) == "unknown"


def test_records_that_could_be_anything_go_with_the_others():
    assert kind_of_file([b"", b"", b"", AN_EXAMPLE]) == "example"
    assert kind_of_file([event(), event(), AN_EVENT]) == "event"


def test_examples_among_sequence_examples_are_those_without_lists():
    assert kind_of_file([AN_EXAMPLE, AN_EXAMPLE, A_SEQUENCE]) == "sequence_example"


def test_the_version_in_an_events_file_settles_it():
    payloads = iter([event(file_version="brain.Event:2"), b"junk", b"junk", b"junk"])
    assert kind_of_file(payloads) == "event"
    assert len(list(payloads)) == 3


def test_the_most_records_win_and_unknown_wins_a_tie():
    assert kind_of_file([AN_EXAMPLE, AN_EXAMPLE, b"junk"]) == "example"
    assert kind_of_file([AN_EXAMPLE, b"junk"]) == "unknown"


def test_no_more_records_are_taken_than_settle_the_kind():
    payloads = iter([AN_EXAMPLE] * 100)
    assert kind_of_file(payloads) == "example"
    assert len(list(payloads)) == 100 - kinds.SAMPLE


pool = st.sampled_from([b"", b"junk", event(file_version="brain.Event:2"), *OF_EACH.values()])


@law
@given(st.lists(pool), st.lists(pool), st.lists(pool))
def test_votes_merge_in_any_grouping(a, b, c):
    votes = [KindVote(), KindVote(), KindVote()]
    for vote, payloads in zip(votes, (a, b, c), strict=True):
        for payload in payloads:
            vote.add(payload)
    whole = KindVote()
    for payload in a + b + c:
        whole.add(payload)
    x, y, z = votes
    assert x.merge(y).merge(z) == x.merge(y.merge(z)) == whole
    assert whole.merge(KindVote()) == KindVote().merge(whole) == whole
    assert Counter(whole.votes).total() <= whole.seen
