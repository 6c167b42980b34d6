"""What is decided over each damaged range, what of it is written, and how a text conversion is undone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from kit import repair_laws as repairkit
from kit.damage import File, cut, drop, flip, insert, nest, spoil, ten, written_by, zero
from kit.messages import example

import tfrtool
from tfrtool.cli.printers.verify import DamageCount
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame, header
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import WRONG_WRITERS, ZEROED
from tfrtool.framing.recovery import budget
from tfrtool.framing.stream import ByteStream, MemoryStream
from tfrtool.framing.walk import walk
from tfrtool.types import Kind
from tfrtool.verbs.repair.decide import LARGEST_FIXED, Outcome, RecoveryPolicy, copied, count_valid_frames, frames_of

FILE = ten()
DATA, AT = FILE.data, FILE.at
BEGIN, END = FILE.span(4)
EXAMPLES = File(repairkit.EXAMPLES)
TEXT = b"INFO: a line of a log\n"


def decided(
    data: bytes,
    kind: Kind | None = None,
    *,
    fix_bits: bool = False,
    keep_unverified: bool = False,
    unchecked: bool = False,
) -> tuple[list[Outcome], list[bytes]]:
    """What became of each damaged range of a file, and the payloads that are written for them."""
    stream = MemoryStream(data)
    policy = RecoveryPolicy(stream, kind, fix_bits=fix_bits, keep_unverified=keep_unverified, unchecked=unchecked)
    outcomes, payloads = [], []
    for item in walk(stream, payloads=True):
        if isinstance(item, Damage):
            outcome, found = policy.decide(item)
            written = [one.data or b"".join(map(bytes, copied(stream, one.pieces))) for one in found]
            assert len(written) == outcome.records
            outcomes.append(outcome)
            payloads += written
    return outcomes, payloads


def only(data: bytes, kind: Kind | None = None, **how: bool) -> tuple[Outcome, list[bytes]]:
    """The same where there is one."""
    (outcome,), payloads = decided(data, kind, **how)
    return outcome, payloads


# Proved payloads


@pytest.mark.parametrize("at", [BEGIN, BEGIN + 9, END - 1])
def test_proved_payload_is_restored(at: int) -> None:
    outcome, payloads = only(flip(DATA, at))
    assert (outcome.action, outcome.dropped, payloads) == ("restored", (), [FILE.payloads[4]])


def test_bytes_inserted_into_a_payload_are_dropped() -> None:
    outcome, payloads = only(insert(DATA, BEGIN + 30, TEXT))
    assert (outcome.action, payloads) == ("restored", [FILE.payloads[4]])
    assert outcome.dropped == ((BEGIN + 30, BEGIN + 30 + len(TEXT)),)
    assert outcome.dropped_bytes == len(TEXT)


def test_bytes_inserted_into_a_header_are_dropped() -> None:
    outcomes, payloads = decided(insert(DATA, BEGIN + 4, TEXT))
    assert payloads == [FILE.payloads[4]]
    assert [span for one in outcomes for span in one.dropped] == [(BEGIN, BEGIN + len(TEXT))]


def test_second_part_of_a_payload_is_written_once() -> None:
    other = ten(2)
    outcomes, payloads = decided(insert(DATA, BEGIN + 30, other.data))
    assert [(one.action, one.records, one.dropped) for one in outcomes] == [("restored", 1, ()), ("restored", 0, ())]
    assert payloads == [FILE.payloads[4]]


@pytest.mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
def test_records_of_a_wrong_writer_are_restored(layout: object) -> None:
    outcome, payloads = only(written_by(layout, FILE.payloads))  # type: ignore[arg-type]
    assert (outcome.action, outcome.records, outcome.dropped) == ("restored", 10, ())
    assert payloads == list(FILE.payloads)


def test_frames_are_read_in_their_layout() -> None:
    for layout in (*WRONG_WRITERS, ZEROED):
        data = written_by(layout, (b"", b"a", b"bc"))
        pieces = [one.pieces for one in frames_of(MemoryStream(data), (0, len(data)), layout.name)]
        assert pieces == [((12, 12),), ((28, 29),), ((45, 47),)]


# What is not proved


@pytest.mark.parametrize("how", [{}, {"fix_bits": True}, {"keep_unverified": True}])
def test_range_without_evidence_is_dropped_whole(how: dict[str, bool]) -> None:
    outcome, payloads = only(zero(DATA, BEGIN, END), **how)
    assert (outcome.action, outcome.records, outcome.dropped, payloads) == ("dropped", 0, ((BEGIN, END),), [])
    assert not outcome.fixable


def test_empty_range_drops_nothing() -> None:
    policy = RecoveryPolicy(MemoryStream(b""), None, fix_bits=True, keep_unverified=True)
    outcome, payloads = policy.decide(Damage(7, 7, "codec"))
    assert (outcome.action, outcome.dropped, list(payloads)) == ("dropped", (), [])


# Bits


def test_flipped_bit_is_corrected_only_on_request() -> None:
    for at in range(BEGIN + 12, END - 4):
        hurt = flip(DATA, at, at % 8)
        outcome, payloads = only(hurt)
        assert (outcome.action, outcome.fixable, payloads) == ("dropped", True, [])
        outcome, payloads = only(hurt, fix_bits=True)
        assert (outcome.action, outcome.fixable, outcome.dropped) == ("corrected", False, ())
        assert payloads == [FILE.payloads[4]]
        assert f"bit {at % 8} of byte {at - BEGIN - 12} of the payload turned over" in outcome.evidence


def test_corrected_bit_states_chance_of_error() -> None:
    outcome, _ = only(flip(File((bytes(1024),)).data, 12), fix_bits=True)
    assert outcome.evidence.endswith(f"other damage would look so once in {2**32 // 2**13:,} cases")


def test_two_flipped_bits_are_not_corrected() -> None:
    for at in range(BEGIN + 12, END - 5):
        outcome, payloads = only(flip(flip(DATA, at, 2), at + 1, 5), fix_bits=True)
        assert (outcome.action, payloads) == ("dropped", [])


@pytest.mark.parametrize(("size", "action"), [(LARGEST_FIXED, "corrected"), (LARGEST_FIXED + 1, "dropped")])
def test_large_payloads_are_not_corrected(size: int, action: str) -> None:
    assert only(flip(File((bytes(size),)).data, 100), fix_bits=True)[0].action == action


@pytest.mark.parametrize(
    "hurt",
    [drop(DATA, BEGIN + 30, BEGIN + 31), cut(DATA, AT[10] - 3), flip(zero(DATA, BEGIN, BEGIN + 12), BEGIN + 20)],
    ids=["a byte is missing", "torn", "its header is lost"],
)
def test_no_correction_where_extent_is_uncertain(hurt: bytes) -> None:
    outcome, payloads = only(hurt, fix_bits=True)
    assert (outcome.action, outcome.fixable, payloads) == ("dropped", False, [])


def test_correction_must_parse_as_the_files_kind() -> None:
    file = File((*EXAMPLES.payloads, b"no example"))
    hurt = flip(file.data, file.at[4] + 12)
    assert only(hurt, "example", fix_bits=True)[0].action == "dropped"
    for kind in ("unknown", None):
        assert only(hurt, kind, fix_bits=True)[0].action == "corrected"
    assert only(flip(EXAMPLES.data, EXAMPLES.at[2] + 15), "example", fix_bits=True)[0].action == "corrected"


@pytest.mark.parametrize("flips", [(2,), (1, 9), (8,), (0, 3, 6)])
def test_correction_behind_a_damaged_header(flips: tuple[int, ...]) -> None:
    hurt = flip(DATA, BEGIN + 30)
    for at in flips:
        hurt = flip(hurt, BEGIN + at)
    assert only(hurt)[0].fixable
    outcome, payloads = only(hurt, fix_bits=True)
    assert (outcome.action, outcome.dropped, payloads) == ("corrected", (), [FILE.payloads[4]])


# Unverified payloads


def test_payload_without_checksum_is_kept_only_on_request() -> None:
    begin, end = EXAMPLES.span(2)
    for hurt in (drop(EXAMPLES.data, end - 4, end), cut(EXAMPLES.data, end - 4), cut(EXAMPLES.data, end - 1)):
        assert only(hurt, "example")[0].action == "dropped"
        outcome, payloads = only(hurt, "example", keep_unverified=True)
        assert (outcome.action, outcome.dropped) == ("kept", ())
        assert payloads == [EXAMPLES.payloads[2]]


@pytest.mark.parametrize("kind", ["example", "unknown", None])
def test_payload_of_another_kind_is_not_kept(kind: Kind | None) -> None:
    outcome, payloads = only(cut(DATA, AT[10] - 4), kind, keep_unverified=True)
    assert (outcome.action, payloads) == ("dropped", [])


def test_payload_decides_kind_where_the_file_does_not() -> None:
    hurt = cut(EXAMPLES.data, EXAMPLES.at[1] - 4)
    assert only(hurt, None, keep_unverified=True)[1] == [EXAMPLES.payloads[0]]
    assert only(hurt, "event", keep_unverified=True)[1] == []


def test_messages_with_zero_checksums_are_kept() -> None:
    assert only(written_by(ZEROED, EXAMPLES.payloads), keep_unverified=True)[1] == list(EXAMPLES.payloads)
    assert only(written_by(ZEROED, EXAMPLES.payloads))[1] == []
    data = written_by(ZEROED, (*EXAMPLES.payloads[:2], b"no message", *EXAMPLES.payloads[2:]))
    outcome, payloads = only(data, keep_unverified=True)
    assert payloads == list(EXAMPLES.payloads)
    begin = EXAMPLES.at[2]
    assert (outcome.action, outcome.dropped) == ("kept", ((begin, begin + 26),))
    outcome, payloads = only(written_by(ZEROED, (b"no message", b"nor this")), keep_unverified=True)
    assert (outcome.action, outcome.dropped_bytes, payloads) == ("dropped", 50, [])


@pytest.mark.parametrize("header", [False, True])
def test_zero_checksum_payload_is_kept_only_on_request(header: bool) -> None:
    begin, end = EXAMPLES.span(2)
    hurt = zero(EXAMPLES.data, end - 4, end)
    hurt = zero(hurt, begin + 8, begin + 12) if header else hurt
    assert only(hurt, "example")[0].action == "dropped"
    outcome, payloads = only(hurt, "example", keep_unverified=True)
    assert (outcome.action, outcome.dropped, payloads) == ("kept", (), [EXAMPLES.payloads[2]])
    assert outcome.evidence == "zeros stand where its checksum should be"


def test_zeros_of_a_hole_are_not_a_missing_checksum() -> None:
    payload = example({"image": ("bytes_list", [b"\1" * 40])})
    hurt = zero(frame(payload), len(payload), len(payload) + 16)
    assert only(hurt, "example", keep_unverified=True)[1] == []


def test_mismatch_is_not_kept_where_others_match() -> None:
    begin, end = EXAMPLES.span(2)
    assert only(spoil(EXAMPLES.data, end - 4, end), "example", keep_unverified=True)[1] == []


def test_parsing_payloads_are_kept_where_none_matches() -> None:
    file = File((*EXAMPLES.payloads, b"no message"))
    hurt = file.data
    for end in file.at[1:]:
        hurt = spoil(hurt, end - 4, end)
    assert decided(hurt, "example", keep_unverified=True)[1] == []
    outcomes, payloads = decided(hurt, "example", keep_unverified=True, unchecked=True)
    assert payloads == list(EXAMPLES.payloads)
    assert [one.action for one in outcomes] == ["kept"] * 4 + ["dropped"]


def test_record_that_holds_records_is_kept_as_one() -> None:
    held = example({"file": ("bytes_list", [nest(FILE)])})
    assert only(frame(held) + cut(frame(held), len(held) + 12), keep_unverified=True)[1] == [held]


# Copying


def test_ranges_are_copied_in_order() -> None:
    data = bytes(range(200)) * 20_000  # more than is copied at once
    pieces = ((3, 5), (10, 10), (1 << 20, 3 << 20), (7, 9))
    wanted = b"".join(data[begin:end] for begin, end in pieces)
    assert b"".join(map(bytes, copied(MemoryStream(data), pieces))) == wanted


def test_range_beyond_the_end_is_copied_in_part() -> None:
    assert b"".join(map(bytes, copied(MemoryStream(b"abc"), ((1, 9), (0, 2))))) == b"bc"


# Text conversions


def content(stream: ByteStream, step: int = 1000) -> bytes:
    out, view = b"", memoryview(bytearray(step))
    while got := stream.read_into(len(out), view):
        out += view[:got]
    return out


# What stands in dropped bytes


def test_valid_frames_in_dropped_bytes_are_counted() -> None:
    held = File((nest(FILE, b"before"), b"another"))
    outcome, _ = only(flip(held.data, held.at[0] + 14))
    assert (outcome.action, outcome.within, outcome.evidence) == ("dropped", 10, "in it stand 10 whole frames")
    assert only(flip(DATA, BEGIN + 30))[0].within == 0


def test_only_whole_frames_are_counted_once() -> None:
    one = nest(FILE)
    assert count_valid_frames(MemoryStream(frame(one)), (0, len(one) + 16)) == 1
    assert count_valid_frames(MemoryStream(frame(one)), (12, len(one) + 16)) == 10
    assert count_valid_frames(MemoryStream(frame(one)), (12, len(one))) == 9
    assert count_valid_frames(MemoryStream(frame(one)), (13, len(one) + 16)) == 9
    assert count_valid_frames(MemoryStream(b""), (0, 0)) == 0
    apart = b"-".join(map(frame, FILE.payloads)) * 40
    assert count_valid_frames(MemoryStream(apart), (0, len(apart))) == 400


def test_many_headers_without_payloads_take_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[int] = []
    real = kernel.walk

    def walk(buffer: bytearray, view: memoryview, at: int, end: int, known: kernel.Known) -> object:
        checked.append(end - at)
        return real(buffer, view, at, end, known)

    monkeypatch.setattr(kernel, "walk", walk)
    hostile = b"".join(header(12 * left) for left in range(2_000, 0, -1))
    assert count_valid_frames(MemoryStream(hostile), (0, len(hostile))) == 0
    assert sum(checked) <= 6 * len(hostile)


def test_abandoned_search_reports_a_minimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = Random(1)
    frames = [insert(frame(noise.randbytes(200)), 90, b"x") for _ in range(300)]
    (tmp_path / "in").write_bytes(b"".join(frames))
    whole = tfrtool.verify(tmp_path / "in")
    assert not any(damage.given_up for damage in whole.damage)
    monkeypatch.setattr(budget, "_SLOW_ALLOWANCE", 1 << 14)
    report = tfrtool.verify(tmp_path / "in")
    assert report.restorable < whole.restorable == 300
    assert [damage.given_up for damage in report.damage[-1:]] == [True]
    toll = DamageCount()
    for damage in report.damage:
        toll.add(damage)
    assert f"{report.restorable} of at least " in str(toll)
    assert "would take too long" in report.damage[-1].message
