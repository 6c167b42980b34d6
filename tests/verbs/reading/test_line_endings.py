"""Files of which a part went through a text mode: what the checksums prove comes back, and nothing else is made."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit.damage import File, flip, nest, spoil

import tfrtool
from tfrtool.framing.encode import frame
from tfrtool.report import RepairReport


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def texts(count: int, seed: int = 1) -> list[bytes]:
    some = Random(seed)
    return [b"".join(b"line %d\n" % some.getrandbits(40) for _ in range(some.randint(1, 30))) for _ in range(count)]


def converted(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def saved(data: bytes) -> tuple[list[bytes], RepairReport]:
    """What `repair` writes, as `verify` promised."""
    Path("in").write_bytes(data)
    promised = tfrtool.verify("in")
    report = tfrtool.repair("in", "out", force=True)
    assert (report.kept, report.restored) == (promised.records, promised.restorable)
    return (list(tfrtool.records("out")) if report.output else []), report


FIRST, SECOND = texts(30, 1), texts(30, 2)
NOISE = [Random(3).randbytes(400) for _ in range(30)]


@pytest.mark.parametrize("others", [SECOND, NOISE, [b"\r\n" * 20] * 30], ids=["text", "noise", "crlf"])
@pytest.mark.parametrize("first", [True, False])
def test_a_converted_half_comes_back_and_the_other_stays(others: list[bytes], first: bool) -> None:
    halves = converted(File(tuple(FIRST)).data), File(tuple(others)).data
    payloads = [*FIRST, *others] if first else [*others, *FIRST]
    written, report = saved(b"".join(halves if first else halves[::-1]))
    assert written == payloads
    assert report.kept >= len(others)


def test_a_part_that_was_converted_is_named() -> None:
    _, report = saved(converted(File(tuple(FIRST)).data) + File(tuple(NOISE)).data)
    assert report.diagnosis == "crlf"
    assert "a part of the file went through a text mode" in str(report.message)


def test_every_other_record_that_was_converted_comes_back() -> None:
    frames = [converted(frame(one)) if number % 2 else frame(one) for number, one in enumerate(FIRST)]
    assert saved(b"".join(frames))[0] == FIRST


def test_line_ends_in_headers_and_checksums_are_undone_too() -> None:
    payloads = [b"y" * (10 << 8), b"a\n" * (5 << 8), b"\n", b""]
    payloads += [b"\n%d" % n for n in range(4000) if b"\n" in frame(b"\n%d" % n)[8:12] + frame(b"\n%d" % n)[-4:]][:40]
    data = converted(File(tuple(payloads)).data) + File(tuple(NOISE)).data
    assert saved(data)[0] == [*payloads, *NOISE]


def test_a_converted_record_with_other_damage_is_lost_alone() -> None:
    frames = [bytearray(converted(frame(one))) for one in FIRST]
    frames[7][40] ^= 1
    written, _ = saved(b"".join(map(bytes, frames)) + File(tuple(NOISE)).data)
    assert written == [*FIRST[:7], *FIRST[8:], *NOISE]


@pytest.mark.parametrize("hurt", [3, 30])
def test_a_converted_record_file_in_a_damaged_record_stays_its_content(hurt: int) -> None:
    inner = converted(File(tuple(FIRST[:5])).data)
    outer = File((*NOISE[:3], b"\1" * 40 + inner, *NOISE[3:6]))
    written, _ = saved(flip(flip(outer.data, outer.at[3] + 20), outer.at[3] + hurt))
    assert not set(written) & set(FIRST)
    outer = File((*NOISE[:3], nest(File(tuple(FIRST[:5]))), *NOISE[3:6]))
    data = outer.data[: outer.at[3]] + converted(outer.data[outer.at[3] : outer.at[4]]) + outer.data[outer.at[4] :]
    assert saved(data)[0] == list(outer.payloads)


def test_converted_records_within_what_a_damaged_record_claims_stay_its_content() -> None:
    """The outer record lacks bytes, so that something begins within it: what was converted there is its own."""
    inner = [frame(b"one\n" * 9), converted(frame(b"two\n" * 9)), frame(b"three")]
    outer = b"\1" * 300 + b"".join(inner)
    data = frame(NOISE[0]) + frame(outer)[:40] + frame(outer)[70:] + frame(NOISE[1])
    assert b"two\n" * 9 not in saved(data)[0]


@given(st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_record_is_made_and_none_that_stands_is_lost(data: st.DataObject) -> None:
    rng = Random(data.draw(st.integers(0, 1 << 20)))
    payloads = [rng.choice([*texts(1, rng.random()), rng.randbytes(90), b"\r\n" * 9, b""]) for _ in range(12)]
    frames = [converted(frame(one)) if rng.random() < 0.5 else frame(one) for one in payloads]
    content = b"".join(frames)
    at = rng.randrange(len(content))
    content = spoil(content, at, at + rng.randint(0, 60))
    written, _ = saved(content)
    assert set(written) <= set(payloads)
    assert {one for one in payloads if frame(one) in content} - set(written) <= {b""}
