#!/usr/bin/env python3
"""How many records of damaged files come back: by kind and number of damages, beside readers that only read.

    python tests/benchmarks/salvage.py --files 20000 --jobs 2

An intact frame is one whose checksums both match, found by a reader that tries every offset. `recovered` is the share
of them that `repair` writes, but for those inside a record whose header is valid, or differs by at most three bits, and
at whose end a boundary stands: they may be its content. In ordinary files the goal is 100.000. `provable` counts the
payloads beyond them that stand whole before their checksum, their header being lost; `proved` is the share of these
that is written. `invented` are written records that were never in any file, `disorder` counts the files whose records
come out in another order: the goal of both is 0. `doubled` are records written more often than they stand whole, as
where one of two copies had to be put together from pieces.

Files with records that hold record files are listed apart. `inner` counts the records of those that are written as the
file's own; --keep-nested asks `repair` for them.

A reader is `strict` if it stops at the first fault, as TensorFlow's does, and `skipping` if it passes over payloads
that do not match and stops at the first such header. Both are shares of the intact frames.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import islice
from pathlib import Path
from struct import pack, unpack_from
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from hurt_files import ENDS, KINDS, NESTED, ORDINARY, SHAPES, Case, HurtFile, hurt_file  # noqa: E402
from kit.make_samples import masked  # noqa: E402

import tfrtool  # noqa: E402

MOST_DAMAGES = 5
HEADER, FRAMING = 12, 16
_FLIPS = 3
"""So many flipped bits of a header are corrected."""
_MEMORY = Path("/dev/shm")


@dataclass(slots=True)
class Score:
    """Sums over files, in records (`files` and `disorder` apart). Scores add up."""

    files: int = 0
    intact: int = 0
    recovered: int = 0
    provable: int = 0
    proved: int = 0
    invented: int = 0
    doubled: int = 0
    disorder: int = 0
    inner: int = 0
    strict: int = 0
    skipping: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Miss:
    """An intact frame that was not written, or a record that was written and never was: where its payload stands."""

    what: str
    begin: int
    end: int


# Reading


def header(length: int) -> bytes:
    packed = pack("<Q", length)
    return packed + pack("<I", masked(packed))


def is_header(data: bytes, at: int) -> bool:
    return at + HEADER <= len(data) and masked(data[at : at + 8]) == unpack_from("<I", data, at + 8)[0]


def is_payload(data: bytes, begin: int, end: int) -> bool:
    return end + 4 <= len(data) and masked(data[begin:end]) == unpack_from("<I", data, end)[0]


def is_boundary(data: bytes, at: int) -> bool:
    return at == len(data) or is_header(data, at)


def intact_frames(data: bytes) -> list[tuple[int, int]]:
    """Return where the payloads of intact frames begin and end, none inside another or inside a record that fits."""
    found, at = [], 0
    while (zeros := data.find(bytes(4), at + 4)) >= 0:  # the upper half of every length below 4 GiB
        at = zeros - 4
        if is_header(data, at):
            begin = at + HEADER
            end = begin + int(unpack_from("<Q", data, at)[0])
            whole = is_payload(data, begin, end)
            if whole:
                found.append((begin, end))
            if whole or (end + 4 <= len(data) and is_boundary(data, end + 4)):
                at = end + 4
                continue
        at += 1
    return found


def plainly_read(data: bytes, *, skipping: bool) -> Iterator[bytes]:
    """Yield the payloads up to the first fault, or with `skipping` the intact ones up to the first bad header."""
    at = 0
    while is_header(data, at):
        begin = at + HEADER
        end = begin + int(unpack_from("<Q", data, at)[0])
        if end + 4 > len(data):
            return
        if is_payload(data, begin, end):
            yield data[begin:end]
        elif not skipping:
            return
        at = end + 4


def can_keep_nested() -> bool:
    return "keep_nested" in inspect.signature(tfrtool.repair).parameters


def salvaged(data: bytes, keep_nested: bool = False) -> list[bytes]:
    """Return the payloads that `repair` writes for a damaged file, in order."""
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        path, out = Path(directory, "in"), Path(directory, "out")
        path.write_bytes(data)
        how = {"keep_nested": True} if keep_nested else {}
        if tfrtool.repair(path, out, **how).output is None:
            return []
        return list(plainly_read(out.read_bytes(), skipping=False))


# Scoring


def scored(case: Case, hurt: HurtFile, keep_nested: bool = False) -> tuple[Score, list[Miss]]:
    """Score what is written of one file, and return what is missed of it or invented."""
    data, payloads, nested = hurt.data, set(hurt.file.payloads), case.shape in NESTED
    written = salvaged(data, keep_nested)
    left, times = Counter(written), Counter[bytes]()
    found, misses = [], []
    for begin, end in intact_frames(data):
        payload = data[begin:end]
        times[payload] += 1
        if nested and payload in hurt.inner:
            continue
        if left[payload]:
            left[payload] -= 1
            found.append(payload)
        else:
            misses.append(Miss("missed", begin, end))
    claims = list(_claims(data)) if misses else []
    misses = [m for m in misses if not any(begin < m.begin - HEADER and m.end + 4 <= end for begin, end in claims)]
    missed = len(misses)
    whole = [p for p in payloads if p not in times and p + pack("<I", masked(p)) in data]
    inner = [p for p in written if p in hurt.inner and p not in payloads]
    strange = [p for p in set(written) - payloads - hurt.other - set(times) if p not in inner]
    misses += [Miss("invented", at := data.find(p), at + len(p)) for p in strange]
    intact = Counter([*found, *(data[m.begin : m.end] for m in misses[:missed])])
    strict = Counter(plainly_read(data, skipping=False)) & intact
    skipping = Counter(plainly_read(data, skipping=True)) & intact
    score = Score(
        files=1,
        intact=len(found) + missed,
        recovered=len(found),
        provable=len(whole),
        proved=len(set(whole) & set(written)),
        invented=len(strange),
        doubled=sum(n > max(1, data.count(p)) for p, n in Counter(written).items() if p),
        disorder=int(not _in_order(found, written)),
        inner=len(inner),
        strict=strict.total(),
        skipping=skipping.total(),
    )
    return score, misses


def _claims(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield where records begin and end of whose header at most three bits are flipped, and behind which is a boundary.

    Lengths are below 4 GiB here, so no header has more than that many bits in the upper half of its length.
    """
    likely = [at for at in range(len(data) - HEADER + 1) if unpack_from("<I", data, at + 4)[0].bit_count() <= _FLIPS]
    boundaries = [*(at for at in likely if is_header(data, at)), len(data)]
    for at in likely:
        head = int.from_bytes(data[at : at + HEADER])
        stored = unpack_from("<Q", data, at)[0]
        for boundary in boundaries:
            length = boundary - at - FRAMING
            near = length >= 0 and (stored ^ length).bit_count() <= _FLIPS
            if near and (head ^ int.from_bytes(header(length))).bit_count() <= _FLIPS:
                yield at, boundary


def _in_order(some: Iterable[bytes], of: Iterable[bytes]) -> bool:
    rest = iter(of)
    return all(payload in rest for payload in some)


# Running


def cases(files: int, seed: int, kinds: Iterable[str], shapes: Iterable[str] = SHAPES) -> Iterator[Case]:
    """Yield so many cases, each kind, number of damages and shape in turn."""
    counts = range(1, MOST_DAMAGES + 1)
    turns = [(k, n, s) for n in counts for k in kinds for s in shapes if n == 1 or k not in ENDS]
    return islice((Case(*turn, number) for number in range(seed, seed + files) for turn in turns), files)


def run(case: Case, keep_nested: bool = False) -> tuple[Case, Score, list[str]]:
    """Make, damage and score one file; the lines tell of what was missed or invented."""
    hurt = hurt_file(case)
    score, misses = scored(case, hurt, keep_nested)
    return case, score, list(_explained(case, hurt, misses)) if misses else []


def _explained(case: Case, hurt: HurtFile, misses: list[Miss]) -> Iterator[str]:
    yield f"--case {case}: {'; '.join(hurt.done)}"
    with TemporaryDirectory() as directory:
        path = Path(directory, "in")
        path.write_bytes(hurt.data)
        damage = [found for found in tfrtool.walk(path) if isinstance(found, tfrtool.Damage)]
    for miss in misses:
        near = [d for d in damage if d.begin < miss.end + 4 and miss.begin - HEADER < d.end]
        told = "; ".join(f"[{d.begin}, {d.end}) {d.fault}: {d.message}" for d in near) or "no damage reported there"
        yield f"  {miss.what} payload [{miss.begin}, {miss.end}): {told}"


HEADINGS = (
    f"{'damage':<16} {'n':>2} {'files':>6} {'intact':>8} {'recovered':>9} {'provable':>8} {'proved':>7} "
    f"{'invented':>8} {'doubled':>7} {'disorder':>8} {'inner':>6} {'strict':>7} {'skipping':>8}"
)


def _percent(part: int, of: int) -> str:
    """Return a share rounded down, so that 100.000 means all."""
    return "-" if not of else f"{100_000 * part // of / 1000:.3f}"


def row(kind: str, damages: str, s: Score) -> str:
    """Return one line of the table."""
    return (
        f"{kind:<16} {damages:>2} {s.files:>6} {s.intact:>8} {_percent(s.recovered, s.intact):>9} {s.provable:>8} "
        f"{_percent(s.proved, s.provable):>7} {s.invented:>8} {s.doubled:>7} {s.disorder:>8} {s.inner:>6} "
        f"{_percent(s.strict, s.intact):>7} {_percent(s.skipping, s.intact):>8}"
    )


def table(title: str, scores: dict[tuple[str, int], Score]) -> Iterator[str]:
    """Yield the lines of the report on ordinary or on nested files."""
    yield title
    yield HEADINGS
    for (kind, damages), score in sorted(scores.items(), key=lambda item: (KINDS.index(item[0][0]), item[0][1])):
        yield row(kind, str(damages), score)
    for damages in sorted({n for _, n in scores}):
        yield row("all", str(damages), sum((s for (_, n), s in scores.items() if n == damages), Score()))
    yield row("all", "", sum(scores.values(), Score()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--files", type=int, default=6000, help="how many files (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS, action="append", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--shape", choices=SHAPES, action="append", metavar="SHAPE", help=", ".join(SHAPES))
    parser.add_argument("--keep-nested", action="store_true", help="have inner records written too")
    parser.add_argument("--case", nargs=4, metavar=("KIND", "N", "SHAPE", "NUMBER"), help="this file alone")
    parser.add_argument("--show", action="store_true", help="list every miss and every invented record")
    parser.add_argument("--json", action="store_true", help="one object a kind, number of damages and shape")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.keep_nested and not can_keep_nested():
        parser.error("repair of this version has no keep_nested")
    wanted = cases(options.files, options.seed, options.only or KINDS, options.shape or SHAPES)
    if options.case:
        kind, n, shape, number = options.case
        wanted = iter([Case(kind, int(n), shape, int(number))])
    scores: dict[tuple[str, int, str], Score] = {}
    begun = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        job = partial(run, keep_nested=options.keep_nested)
        results = pool.map(job, wanted, chunksize=16) if options.jobs > 1 else map(job, wanted)
        for case, score, lines in results:
            key = (case.kind, case.damages, case.shape)
            scores[key] = scores.get(key, Score()) + score
            if lines and (options.show or options.case):
                print(*lines, sep="\n")
    if options.json:
        for (kind, n, shape), score in scores.items():
            print(json.dumps({"kind": kind, "damages": n, "shape": shape, **asdict(score)}))
    else:
        for title, shapes in (("ordinary files", ORDINARY), ("files with record files inside", NESTED)):
            sums: dict[tuple[str, int], Score] = {}
            for (kind, n, shape), score in scores.items():
                if shape in shapes:
                    sums[kind, n] = sums.get((kind, n), Score()) + score
            if sums:
                print(*table(title, sums), sep="\n")
        print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
