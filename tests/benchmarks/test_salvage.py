"""The benchmark of salvage runs, on few files; that its figures are right; and that nothing is invented in them."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurt_files import KINDS, SHAPES, Case, HurtFile, hurt_file
from benchmarks.salvage import MOST_DAMAGES, Score, cases, main, plainly_read, run, salvaged, scored
from kit.damage import File, flip, spoil, ten, zero

from tfrtool.framing.encode import frame

pytestmark = pytest.mark.slow

FILE = ten()
DATA, AT = FILE.data, FILE.at


def score(data: bytes, file: File = FILE, *, inner: tuple[bytes, ...] = (), other: tuple[bytes, ...] = ()) -> Score:
    hurt = HurtFile(file, data, frozenset(inner), frozenset(other), ())
    return scored(Case("burst", 1, "small", 0), hurt)[0]


# The files


def test_a_case_is_the_same_file_at_every_run() -> None:
    for kind in KINDS:
        assert hurt_file(Case(kind, 3, "mixed", 1)) == hurt_file(Case(kind, 3, "mixed", 1))
        assert hurt_file(Case(kind, 3, "mixed", 1)).data != hurt_file(Case(kind, 3, "mixed", 2)).data


@pytest.mark.parametrize("shape", SHAPES)
def test_every_payload_is_another(shape: str) -> None:
    for number in range(5):
        payloads = hurt_file(Case("torn", 1, shape, number)).file.payloads
        assert len(set(payloads)) == len(payloads) >= 3


def test_every_kind_number_and_shape_has_its_turn() -> None:
    found = list(cases(2000, 0, KINDS))
    assert len(set(found)) == len(found) == 2000
    turns = {(case.kind, case.damages, case.shape) for case in found}
    assert len(turns) == len(SHAPES) * (MOST_DAMAGES * (len(KINDS) - 1) + 1)


def test_each_damage_is_told() -> None:
    for case in cases(200, 7, KINDS):
        hurt = hurt_file(case)
        assert 1 <= len(hurt.done) <= case.damages
        assert hurt.data != hurt.file.data or case.kind in ("swapped", "zeroed", "burst", "mixed")


# The figures


def test_of_a_sound_file_all_is_saved_by_everyone() -> None:
    found = score(DATA)
    ten_each = dict.fromkeys(("records", "stand", "saved", "provable", "proved", "anchored", "reached"), 10)
    assert found == Score(files=1, strict=10, skipping=10, **ten_each)


def test_readers_stop_where_they_stop() -> None:
    in_payload, in_header = flip(DATA, AT[4] + 20), flip(DATA, AT[6])
    both = flip(in_payload, AT[6])
    assert [(s.strict, s.skipping) for s in map(score, (in_payload, in_header, both))] == [(4, 9), (6, 6), (4, 5)]
    assert list(plainly_read(DATA[:-1], skipping=True)) == list(FILE.payloads[:9])


def test_what_stands_is_whole_and_what_is_provable_has_its_checksum() -> None:
    found = score(spoil(flip(DATA, AT[4] + 20), AT[6] - 4, AT[6]))
    assert (found.records, found.stand, found.provable, found.saved, found.proved) == (10, 9, 8, 8, 8)


def test_what_is_anchored_has_a_boundary_at_one_end() -> None:
    lost = spoil(DATA, AT[4], AT[4] + 12)
    assert score(lost).anchored == 10
    floating = spoil(flip(lost, AT[5] - 20), AT[5], AT[5] + 12)
    floating = zero(floating, AT[6] - 4, AT[6])
    found = score(floating)
    assert (found.provable, found.anchored) == (8, 8)
    adrift = zero(zero(DATA, AT[4] - 9, AT[4] + 12), AT[5], AT[5] + 12)
    found = score(adrift)
    assert (found.provable, found.anchored) == (9, 8)


def test_what_was_never_there_is_invented() -> None:
    stranger = frame(b"a stranger")
    assert score(DATA + stranger).invented == 1
    assert score(DATA + stranger, other=(b"a stranger",)).invented == 0


def test_what_stood_in_a_record_that_is_lost_is_counted_apart() -> None:
    inner = (b"first", b"second")
    file = File((*FILE.payloads[:3], File(inner).data, *FILE.payloads[3:]))
    taken_out = b"".join(map(frame, (*FILE.payloads[:3], *inner, *FILE.payloads[3:])))
    assert [(s.invented, s.nested) for s in (score(taken_out, file, inner=inner),)] == [(0, 2)]
    assert [(s.invented, s.nested) for s in (score(file.data + taken_out, file, inner=inner),)] == [(2, 0)]


def test_scores_add_up() -> None:
    assert score(DATA) + Score() == score(DATA)
    assert (score(DATA) + score(DATA[:-1])).saved == 19


def test_what_is_salvaged_is_what_repair_writes() -> None:
    assert salvaged(flip(DATA, AT[4]))[0] == list(FILE.payloads)


# What is printed


def test_it_prints_a_row_for_each_kind_and_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "24", "--only", "torn", "--only", "burst", "--shape", "small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["damage", "n", "files", "records"]
    rows = [["torn", "1", "4"], *(["burst", str(n), "4"] for n in range(1, MOST_DAMAGES + 1))]
    assert [line.split()[:3] for line in lines[1:7]] == rows
    assert lines[-1].split()[:2] == ["all", "24"]


def test_it_prints_rows_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "7", "--seed", "3", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(row["files"] for row in rows) == 7
    assert {"kind", "damages", "shape", "saved", "invented"} <= rows[0].keys()


def test_it_shows_what_was_missed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data: ([b"never there"], []))
    assert main(["--case", "burst", "1", "small", "0"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("--case burst 1 small 0: burst of ")
    assert "  missed record 0, payload [12, " in told
    assert "  invented a record, payload [-1, 10): no damage told there" in told


# What it finds


@pytest.mark.parametrize("kind", KINDS)
def test_one_damage_invents_nothing_and_loses_nothing_provable(kind: str) -> None:
    for shape in SHAPES:
        for number in range(10):
            _, found, misses, _, done = run(Case(kind, 1, shape, number))
            assert found.invented == found.doubled == 0, done
            assert not misses or kind == "swapped", done  # two blocks are in the wrong place then
