"""Payloads are parsed on request while records are converted: what `verify` told of can be left out, and all of it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from kit.messages import entry, event, example, numbers, ofrecord, raw_example, scalar, tag
from kit.program import json_lines, run

from tfrtool import DamageError, convert, records, verify
from tfrtool.framing.encode import frame, ofrecord_frame

GOOD = [example({"n": ("int64_list", [n])}) for n in range(3)]
NOT_UTF8 = raw_example(entry(b"\xff", numbers(3, 1)))
EVENTS = [event(step=n, summary=scalar("loss", 0.5)) for n in range(3)]
CASES = {"example": (GOOD, [NOT_UTF8, EVENTS[1], b"\x0a"]), "event": (EVENTS, [b"\x0a", GOOD[1]])}
INPUTS = pytest.mark.parametrize("kind", CASES)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, (good, bad) in CASES.items():
        Path(kind).write_bytes(b"".join(map(frame, [*good, *bad, *good])))


@INPUTS
def test_command_suggested_by_verify_drops_bad_payloads(kind: str) -> None:
    hint = json_lines("verify", "--payload", kind)[-2]["hint"]
    program, *words = shlex.split(hint[hint.index("tfrtool convert") :])
    assert (program, run(*words).returncode) == ("tfrtool", 1)
    assert list(records("OUT")) == CASES[kind][0] * 2
    assert verify("OUT", payload=True).status == "clean"


@INPUTS
def test_unparsable_payload_is_damage_on_request(kind: str) -> None:
    with pytest.raises(DamageError, match="the payload is no E"):
        convert(kind, "out", payload=True)
    assert convert(kind, "out").reports[0].skipped == 0
    assert Path("out").read_bytes() == Path(kind).read_bytes()


@pytest.mark.parametrize("to", ["jsonl", "ofrecord", "tfrecord"])
@pytest.mark.parametrize("shards", [None, 2])
def test_unparsable_payloads_are_skipped_in_all_formats(to: str, shards: int | None) -> None:
    done = convert("example", "out", to=to, shards=shards, payload=True, skip_damaged=True)
    assert (done.written, done.reports[0].skipped, dict(done.reports[0].faults)) == (6, 3, {"payload": 3})


def test_nonstandard_ofrecord_is_damage() -> None:
    rows = [ofrecord({"n": ("int32_list", [n])}) for n in range(3)]
    Path("of").write_bytes(b"".join(map(ofrecord_frame, [*rows, rows[0] + tag(9, 0) + b"\x01", *rows])))
    done = convert("of", "out", to="tfrecord", unknown="drop", payload=True, skip_damaged=True)
    assert (done.written, done.reports[0].skipped) == (6, verify("of", payload=True).faults["payload"])


def test_unparsed_payloads_are_reported() -> None:
    Path("odd").write_bytes(frame(b"anything") * 3)
    (report,) = convert("odd", "out", payload=True).reports
    assert report.hint and report.hint.startswith("no payload was parsed, since")
    assert report.written == 3
