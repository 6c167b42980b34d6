"""The benchmark of salvage runs, on few files; that its figures are right; and that nothing is invented in them."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurt_files import ENDS, KINDS, ORDINARY, SHAPES, Case, HurtFile, hurt_file
from benchmarks.salvage import MOST_DAMAGES, Score, cases, intact_frames, main, plainly_read, run, salvaged, scored
from kit.damage import File, flip, spoil, ten, zero

from tfrtool.framing.encode import frame, header

pytestmark = pytest.mark.slow

FILE = ten()
DATA, AT = FILE.data, FILE.at


def score(data: bytes, file: File = FILE, *, inner: tuple[bytes, ...] = (), other: tuple[bytes, ...] = ()) -> Score:
    hurt = HurtFile(file, data, frozenset(inner), frozenset(other), ())
    return scored(Case("burst", 1, "nested" if inner else "small", 0), hurt)[0]


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
    assert len(turns) == len(SHAPES) * (MOST_DAMAGES * (len(KINDS) - len(ENDS)) + len(ENDS))


def test_each_damage_is_listed() -> None:
    unchanged = ("swapped", "zeroed", "burst", "mixed", "stale-512", "stale-4096")
    for case in cases(500, 7, KINDS):
        hurt = hurt_file(case)
        assert 1 <= len(hurt.done) <= case.damages
        assert hurt.data != hurt.file.data or case.kind in unchanged


# The figures


def test_everyone_reads_an_intact_file() -> None:
    assert score(DATA) == Score(files=1, intact=10, recovered=10, strict=10, skipping=10)


def test_readers_that_only_read_stop_where_they_do() -> None:
    hurt = spoil(flip(DATA, AT[4] + 20), AT[7], AT[7] + 12)
    assert [len(list(plainly_read(hurt, skipping=how))) for how in (False, True)] == [4, 6]
    found = score(hurt)
    assert (found.intact, found.recovered, found.strict, found.skipping) == (8, 8, 4, 6)


def test_intact_frames_are_found_at_any_offset_and_not_inside_others() -> None:
    inside = frame(b"before" + frame(b"inside"))
    data = b"\1\2\3" + frame(b"one") + b"\4" * 4 + inside + bytes(40) + frame(b"")
    assert [data[begin:end] for begin, end in intact_frames(data)] == [b"one", inside[12:-4], b""]


def test_frames_in_a_record_that_fits_are_its_own() -> None:
    outer = header(100) + frame(b"x" * 84) + b"four"
    assert intact_frames(outer + frame(b"next")) == [(128, 132)]
    assert intact_frames(outer) == []
    assert [data_begin for data_begin, _ in intact_frames(outer + b"stray bytes")] == [24]


def test_a_frame_that_is_not_written_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: list(FILE.payloads[1:]))
    found = score(DATA + b"stray bytes")
    assert (found.intact, found.recovered, found.disorder) == (10, 9, 0)


def test_a_frame_in_a_record_with_a_corrected_header_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: [])
    assert score(flip(header(100), 1) + frame(b"x" * 84) + b"four").intact == 0
    assert score(flip(flip(header(100), 9), 1) + frame(b"x" * 84) + b"four").intact == 0
    assert score(spoil(header(100), 2, 9) + frame(b"x" * 84) + b"four").intact == 1


def test_records_in_another_order_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: list(reversed(FILE.payloads)))
    assert (score(DATA).recovered, score(DATA).disorder) == (10, 1)


def test_what_is_provable_lost_its_header_alone() -> None:
    lost = spoil(DATA, AT[4], AT[4] + 12)
    assert (score(lost).intact, score(lost).provable, score(lost).proved) == (9, 1, 1)
    without = zero(lost, AT[5] - 4, AT[5])
    assert (score(without).intact, score(without).provable) == (9, 0)


def test_what_was_never_there_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: [*FILE.payloads, b"a stranger"])
    assert score(DATA).invented == 1
    assert score(DATA, other=(b"a stranger",)).invented == 0
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: [*FILE.payloads, FILE.payloads[0]])
    assert (score(DATA).invented, score(DATA).doubled) == (0, 1)


def test_inner_records_are_counted_apart() -> None:
    inner = (b"first", b"second")
    file = File((*FILE.payloads[:3], File(inner).data, *FILE.payloads[3:]))
    taken_out = b"".join(map(frame, (*FILE.payloads[:3], *inner, *FILE.payloads[3:])))
    found = score(taken_out, file, inner=inner)
    assert (found.intact, found.recovered, found.invented, found.inner) == (10, 10, 0, 2)


def test_scores_add_up() -> None:
    assert score(DATA) + Score() == score(DATA)
    assert (score(DATA) + score(DATA[:-1])).recovered == 19


def test_what_is_salvaged_is_what_repair_writes() -> None:
    assert salvaged(flip(DATA, AT[4])) == list(FILE.payloads)


# What is printed


def test_it_prints_a_row_for_each_kind_and_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "24", "--only", "torn", "--only", "burst", "--shape", "small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ordinary files"
    assert lines[1].split()[:5] == ["damage", "n", "files", "intact", "recovered"]
    rows = [*(["burst", str(n), "4"] for n in range(1, MOST_DAMAGES + 1)), ["torn", "1", "4"]]
    assert [line.split()[:3] for line in lines[2:8]] == rows
    assert lines[-1].split()[:2] == ["all", "24"]


def test_files_with_record_files_inside_are_listed_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "6", "--only", "burst"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "files" in line and "intact" not in line] == [
        "ordinary files",
        "files with record files inside",
    ]


def test_it_prints_rows_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--files", "7", "--seed", "3", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(row["files"] for row in rows) == 7
    assert {"kind", "damages", "shape", "intact", "recovered", "invented"} <= rows[0].keys()


def test_it_shows_what_was_missed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.salvage.salvaged", lambda data, keep: [b"never there"])
    assert main(["--case", "burst", "1", "small", "0"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("--case burst 1 small 0: burst of ")
    assert "  missed payload [12, " in shown
    assert "  invented payload [-1, 10): no damage reported there" in shown


# What it finds


@pytest.mark.parametrize("kind", KINDS)
def test_one_damage_loses_and_invents_nothing_in_an_ordinary_file(kind: str) -> None:
    for shape in ORDINARY:
        for number in range(10):
            _, found, lines = run(Case(kind, 1, shape, number))
            assert found.recovered == found.intact or kind == "interleaved", lines  # two writers can look like content
            assert found.invented == found.doubled == found.disorder == 0, lines
