#!/usr/bin/env python3
"""How much of damaged files is saved: in records, by kind and number of damages, against readers that only read.

    python tests/benchmarks/salvage.py --files 4000

For each file it is known which payloads stand in it whole. `saved` is the share of those that come back. `provable` are
those that are still followed by their stored checksum, `anchored` those of them with a sound header, a boundary or an
end of the file at one end. A reader is `strict` if it stops at the first fault, as TensorFlow's does, and `skipping` if
it passes over payloads that fail their checksum and stops at the first header that does. `invented` are records
that were written and were none of the file; `nested` are those of them that stood in a record of which neither
header nor payload is left whole, which nothing can tell from the file's own; `doubled` were written more often than
they stand in the file.

What is provable and missed, by cause: whole records in a block that was moved into a damaged record and ends with one
of them (`swapped`), since a record file in a container of an unknown kind looks the same; records among what may be the
content of a damaged record that holds a record file, which are dropped in doubt; a record with a lost header before a
chain that dies at a damaged header, where nothing of either header is left; one that ends among bytes put into another
record, at no boundary.
What is invented, by cause: the record file that a record holds comes out where the bytes put into it are records, and
their chain runs on into the inner one; or where damage to the first bytes of the payload hides that it is one. All
took two damages and more to one record.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from hurt_files import KINDS, MIXED, SHAPES, TORN, Case, HurtFile, hurt_file  # noqa: E402

from tfrtool.framing.crc import crc32c, header_is_sound, rotated  # noqa: E402
from tfrtool.framing.damage import Damage  # noqa: E402
from tfrtool.framing.encode import footer, frame, header  # noqa: E402
from tfrtool.framing.layout import FRAMING, HEADER  # noqa: E402
from tfrtool.framing.stream import Held  # noqa: E402
from tfrtool.framing.walk import walk  # noqa: E402
from tfrtool.verbs.repair.decide import RecoveryPolicy, copied  # noqa: E402

MOST_DAMAGES = 5
_MOVES = ("swapped", "repeated", MIXED)


@dataclass(slots=True)
class Score:
    """Sums over files, in records (`files` apart). Scores add up."""

    files: int = 0
    records: int = 0
    stand: int = 0
    saved: int = 0
    provable: int = 0
    proved: int = 0
    anchored: int = 0
    reached: int = 0
    beyond: int = 0
    invented: int = 0
    nested: int = 0
    doubled: int = 0
    strict: int = 0
    skipping: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Miss:
    """A record that was provable and was not saved, or one that was written and was none: its payload, and which."""

    what: str
    number: int | None
    at: int
    size: int


# Reading


def salvaged(data: bytes) -> tuple[list[bytes], list[Damage]]:
    """The payloads that repair writes for a damaged file, in order, and the damage it tells of."""
    stream = Held(data)
    salvage = RecoveryPolicy(stream, None, fix_bits=False, keep_unverified=False)
    payloads: list[bytes] = []
    damage: list[Damage] = []
    for item in walk(stream, payloads=True):
        if isinstance(item, Damage):
            damage.append(item)
            payloads += [b"".join(map(bytes, copied(stream, one.pieces))) for one in salvage.decide(item)[1]]
        else:
            assert item.view is not None
            payloads += [bytes(item.view[b:e]) for b, e in zip(item.begins, item.ends, strict=True)]
    return payloads, damage


def plainly_read(data: bytes, *, skipping: bool) -> Iterator[bytes]:
    """The payloads up to the first fault, or with `skipping` the sound ones up to the first bad header."""
    at = 0
    while header_is_sound(head := data[at : at + HEADER]):
        end = at + FRAMING + int.from_bytes(head[:8], "little")
        if end > len(data):
            return
        payload = data[at + HEADER : end - 4]
        if rotated(crc32c(payload)) == int.from_bytes(data[end - 4 : end], "little"):
            yield payload
        elif not skipping:
            return
        at = end


# Scoring


def places(what: bytes, data: bytes) -> list[int]:
    """The offsets at which some bytes stand, at most the first eight."""
    found = []
    at = data.find(what)
    while at >= 0 and len(found) < 8:
        found.append(at)
        at = data.find(what, at + 1)
    return found


def scored(case: Case, hurt: HurtFile) -> tuple[Score, list[Miss], list[Damage]]:
    """What is saved of one file, what is missed of it though provable, and invented."""
    data, payloads = hurt.data, hurt.file.payloads
    written, damage = salvaged(data)
    times = Counter(written)
    whole = {p: found for p in payloads if (found := places(p + footer(p), data))}
    edges = {0, *(at + len(p) + 4 for p, found in whole.items() for at in found)}
    stand = [p for p in payloads if p in whole or p in data]
    anchored = [p for p in whole if any(_is_anchored(data, at, len(p), edges) for at in whole[p])]
    strange = [p for p in times if p not in set(payloads) and p not in hurt.other]
    nested = [p for p in strange if p in hurt.inner and _is_orphaned(case, hurt, p)]
    misses = [Miss("missed", payloads.index(p), whole[p][0], len(p)) for p in whole if p not in times]
    misses += [Miss("invented", None, data.find(p), len(p)) for p in strange if p not in nested]
    score = Score(
        files=1,
        records=len(payloads),
        stand=len(stand),
        saved=sum(p in times for p in stand),
        provable=len(whole),
        proved=sum(p in times for p in whole),
        anchored=len(anchored),
        reached=sum(p in times for p in anchored),
        beyond=sum(p in times for p in payloads) - sum(p in times for p in stand),
        invented=len(strange) - len(nested),
        nested=len(nested),
        doubled=0 if _repeats(hurt) else sum(n > max(1, len(places(p, data))) for p, n in times.items()),
        strict=len(set(plainly_read(data, skipping=False)) & set(stand)),
        skipping=len(set(plainly_read(data, skipping=True)) & set(stand)),
    )
    return score, misses, damage


def _repeats(hurt: HurtFile) -> bool:
    """Whether a record may stand twice in the file, once whole and once with bytes put in."""
    return any(what.startswith("repeated") for what in hurt.done)


def _is_anchored(data: bytes, at: int, size: int, edges: set[int]) -> bool:
    end = at + size + 4
    before = at - HEADER
    return (
        end == len(data)
        or header_is_sound(data[end : end + HEADER])
        or before in edges
        or (before >= 0 and data[before:at] == header(size))
    )


def _is_orphaned(case: Case, hurt: HurtFile, payload: bytes) -> bool:
    """Whether nothing is left of the record in which an inner record stood, or a block with it was moved elsewhere."""
    if case.kind in _MOVES and len(places(frame(payload), hurt.data)) > 1:
        return True
    for outer in hurt.file.payloads:
        if frame(payload) in outer:
            known = header(len(outer)) + outer[:4] in hurt.data
            return case.kind in _MOVES or not (known or outer + footer(outer) in hurt.data)
    return False


# Running


def cases(files: int, seed: int, kinds: Iterable[str], shapes: Iterable[str] = SHAPES) -> Iterator[Case]:
    """So many cases, each kind, number of damages and shape in turn."""
    counts = range(1, MOST_DAMAGES + 1)
    turns = [(k, n, s) for n in counts for k in kinds for s in shapes if n == 1 or k != TORN]
    return islice((Case(*turn, number) for number in range(seed, seed + files) for turn in turns), files)


def run(case: Case) -> tuple[Case, Score, list[Miss], list[Damage], tuple[str, ...]]:
    """Make, damage and score one file."""
    hurt = hurt_file(case)
    score, misses, damage = scored(case, hurt)
    return case, score, misses, damage if misses else [], hurt.done


def _explained(miss: Miss, damage: list[Damage]) -> str:
    end = miss.at + miss.size
    near = [d for d in damage if d.begin < end + 4 and miss.at - HEADER < d.end]
    told = "; ".join(f"[{d.begin}, {d.end}) {d.fault}: {d.message}" for d in near) or "no damage told there"
    which = "a record" if miss.number is None else f"record {miss.number}"
    return f"  {miss.what} {which}, payload [{miss.at}, {end}): {told}"


HEADINGS = (
    f"{'damage':<17} {'n':>2} {'files':>6} {'records':>8} {'saved':>8} {'provable':>9} {'anchored':>9} "
    f"{'strict':>7} {'skipping':>8} {'beyond':>6} {'invented':>8} {'nested':>6} {'doubled':>7}"
)


def _percent(part: int, of: int) -> str:
    return "-" if not of else f"{int(10_000 * part / of) / 100:.2f}"


def row(kind: str, damages: str, s: Score) -> str:
    """One line of the table."""
    saved, provable = _percent(s.saved, s.stand), _percent(s.proved, s.provable)
    return (
        f"{kind:<17} {damages:>2} {s.files:>6} {s.records:>8} {saved:>8} {provable:>9} "
        f"{_percent(s.reached, s.anchored):>9} {_percent(s.strict, s.stand):>7} {_percent(s.skipping, s.stand):>8} "
        f"{s.beyond:>6} {s.invented:>8} {s.nested:>6} {s.doubled:>7}"
    )


def table(scores: dict[tuple[str, int, str], Score]) -> Iterator[str]:
    """The lines of the report."""

    def of(kind: str = "", damages: int = 0, shape: str = "") -> Score:
        fits = (
            score for (k, n, s), score in scores.items() if kind in ("", k) and damages in (0, n) and shape in ("", s)
        )
        return sum(fits, Score())

    yield HEADINGS
    counts = sorted({n for _, n, _ in scores})
    for kind in dict.fromkeys(k for k, _, _ in scores):
        yield from (row(kind, str(n), of(kind, n)) for n in counts if of(kind, n).files)
    yield from (row(f"of {shape} files", "1", of("", 1, shape)) for shape in dict.fromkeys(s for *_, s in scores))
    yield from (row("all", str(n), of("", n)) for n in counts)
    yield row("all", "", of())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--files", type=int, default=4260, help="how many files (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS, action="append", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--shape", choices=SHAPES, action="append", metavar="SHAPE", help=", ".join(SHAPES))
    parser.add_argument("--case", nargs=4, metavar=("KIND", "N", "SHAPE", "NUMBER"), help="this file alone")
    parser.add_argument("--show", action="store_true", help="tell each file with a provable miss or an invention")
    parser.add_argument("--json", action="store_true", help="one object a row")
    parser.add_argument("--jobs", type=int, default=1)
    told = parser.parse_args(arguments)
    wanted = cases(told.files, told.seed, told.only or KINDS, told.shape or SHAPES)
    if told.case:
        kind, n, shape, number = told.case
        wanted = iter([Case(kind, int(n), shape, int(number))])
    scores: dict[tuple[str, int, str], Score] = {}
    begun = time.perf_counter()
    with ProcessPoolExecutor(told.jobs) as pool:
        results = pool.map(run, wanted, chunksize=16) if told.jobs > 1 else map(run, wanted)
        for case, score, misses, damage, done in results:
            key = (case.kind, case.damages, case.shape)
            scores[key] = scores.get(key, Score()) + score
            if misses and (told.show or told.case):
                print(f"--case {case}: {'; '.join(done)}")
                print(*(_explained(miss, damage) for miss in misses), sep="\n")
    if told.json:
        for (kind, n, shape), score in scores.items():
            print(json.dumps({"kind": kind, "damages": n, "shape": shape, **asdict(score)}))
    else:
        print(*table(scores), sep="\n")
        print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
