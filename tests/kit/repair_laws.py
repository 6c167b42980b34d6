"""What the laws of repair are asked of: small files of every kind, and repair held to its laws."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kit.damage import File, nest, subsequence, ten, without_inner, written_by
from kit.messages import BYTES, INT64S, OF_INT32S, entry, numbers, raw_example, sized
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.framing.layout import WRONG_WRITERS, ZEROED
from tfrtool.report import RepairReport
from tfrtool.sources.codecs.text_mode import undone
from tfrtool.sources.source import open_source
from tfrtool.sources.spool import read_all
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import unwrapped
from tfrtool.verbs.repair.job import repair_file
from tfrtool.verbs.repair.options import RepairOptions
from tfrtool.verbs.repair.side_files import SideFiles
from tfrtool.verbs.verify import verify_file

PLAIN = File(ten(3, 5, 24).payloads[:6])
INNER = File(ten(5, 4, 12).payloads[:3])
NESTED = File((*PLAIN.payloads[:2], nest(INNER), *PLAIN.payloads[2:4]))
EMPTY = File((b"", b"one", b"", b"", b"two", b""))
LINES = File(tuple(b"line %d\nand %d\n" % (n, n) for n in range(5)))


def labelled(n: int, name: bytes, label: int = INT64S) -> tuple[bytes, bytes]:
    """The entries of a message with a number and some bytes."""
    return entry(b"label", numbers(label, n)), entry(b"name", sized(BYTES, sized(1, name)))


EXAMPLES = tuple(raw_example(*labelled(n, b"%d" % n * 9)) for n in range(4))
OFRECORDS = tuple(b"".join(labelled(n, b"%d" % n * 5, OF_INT32S)) for n in range(5))
IN_A_FEATURE = File((EXAMPLES[0], raw_example(*labelled(7, INNER.data)), *EXAMPLES[2:]))
CRLF = LINES.data.replace(b"\n", b"\r\n")


def unzipped(data: bytes) -> bytes:
    """What a file holds, as far as it unpacks, member after member; a damaged one gives what comes before its break."""
    out = b""
    while data:
        inflate = zlib.decompressobj(47)
        try:
            for at in range(len(data)):
                out += inflate.decompress(data[at : at + 1])
                if inflate.eof:
                    break
        except zlib.error:
            return out
        data = data[at + 1 :]
    return out


@dataclass(frozen=True)
class Sample:
    """A file of one kind, and the payloads that stand in it."""

    data: bytes
    payloads: tuple[bytes, ...]
    is_ofrecord: bool = False
    inner: tuple[bytes, ...] = ()


SOUND = {
    "plain": Sample(PLAIN.data, PLAIN.payloads),
    "nested": Sample(NESTED.data, NESTED.payloads, inner=INNER.payloads),
    "nested in a feature": Sample(IN_A_FEATURE.data, IN_A_FEATURE.payloads, inner=INNER.payloads),
    "records of no bytes": Sample(EMPTY.data, EMPTY.payloads),
    "gzip": Sample(gzip.compress(PLAIN.data, mtime=0), PLAIN.payloads),
    "zlib": Sample(zlib.compress(PLAIN.data), PLAIN.payloads),
    "ofrecord": Sample(b"".join(map(ofrecord_frame, OFRECORDS)), OFRECORDS, is_ofrecord=True),
}
WRONG = {
    **{layout.name: Sample(written_by(layout, PLAIN.payloads), PLAIN.payloads) for layout in WRONG_WRITERS},
    "zero-checksums": Sample(written_by(ZEROED, EXAMPLES), EXAMPLES),
    "crlf": Sample(CRLF, LINES.payloads),
    "latin-1": Sample(PLAIN.data.decode("latin-1").encode(), PLAIN.payloads),
}
SAMPLES = {**SOUND, **WRONG}
PACKED = (b"\x1f", b"\x78")


@dataclass(frozen=True)
class Repaired:
    """What one repair left behind. `data` is None where no output was written."""

    data: bytes | None
    report: RepairReport
    ranges: list[dict[str, object]]
    quarantine: bytes


def repaired(here: Path, data: bytes, **options: object) -> Repaired:
    """Repair a file of these bytes, with both side files."""
    source, output, aside, listed = (here / name for name in ("in", "out", "aside", "list"))
    output.unlink(missing_ok=True)
    source.write_bytes(data)
    with SideFiles(str(aside), str(listed), force=True) as side_files:
        *_, report = repair_file(str(source), str(output), RepairOptions(**options), side_files)  # type: ignore[arg-type]
        side_files.ranges.end()
    assert isinstance(report, RepairReport)
    assert report.status != "error", report.error
    ranges = [json.loads(line) for line in listed.read_text().splitlines()]
    outputs = [ranges.pop()] if ranges and ranges[-1]["type"] == "output" else []
    assert [(row["output"], row["records"]) for row in outputs] == [(report.output, report.records)] * bool(
        report.output
    )
    return Repaired(output.read_bytes() if output.exists() else None, report, ranges, aside.read_bytes())


def records(data: bytes, *, ofrecord: bool = False) -> list[bytes]:
    """The payloads of a sound file, read the plain way."""
    data, at, found = unzipped(data) if data[:1] in PACKED else data, 0, []
    before, after = (8, 0) if ofrecord else (12, 4)
    while at < len(data):
        end = at + before + int.from_bytes(data[at : at + 8], "little")
        payload = data[at + before : end]
        assert data[at : end + after] == (ofrecord_frame if ofrecord else frame)(payload)
        found.append(payload)
        at = end + after
    return found


def obeys(here: Path, sample: Sample, hurt: bytes, **options: object) -> Repaired:
    """Repair a damaged file, holding the result to every law; what is given back is for more."""
    done = repaired(here, hurt, **options)
    accounts_for_all(done, decoded(done, hurt))
    written = records(done.data or b"", ofrecord=sample.is_ofrecord)
    assert len(written) == done.report.records
    assert (done.data is not None) == (bool(written) or done.report.status == "clean")
    if sample.is_ofrecord:
        assert all(payload in hurt for payload in written)
    elif hurt[:1] in PACKED:
        assert set(written) <= set(sample.payloads)  # a damaged code may well say that a record is there twice
    else:
        assert subsequence(without_inner(written, hurt, sample.payloads, sample.inner), sample.payloads)
    if done.data is not None:
        is_settled(here, done.data)
    return done


def decoded(done: Repaired, data: bytes) -> bytes:
    """Return the stream in which offsets count: decompressed, and with a text conversion of the whole file undone."""
    stream = unpacked(done, data)
    return undone(stream, done.report.diagnosis or "") if done.report.converted else stream


def unpacked(done: Repaired, data: bytes) -> bytes:
    if done.report.compression in (None, "none"):
        return data
    if data[:1] in PACKED and (plainly := unzipped(data)) and len(plainly) == done.report.bytes:
        return plainly
    with unwrapped(open_source(done.report.path), "auto") as source:  # zlib gives up where tfrtool goes on
        return b"".join(map(bytes, read_all(source.data)))


_SETTLED: set[bytes] = set()


def is_settled(here: Path, data: bytes) -> None:
    """Nothing is wrong with it, and repairing it again changes nothing. Most damage gives one of few outputs."""
    if data in _SETTLED:
        return
    (here / "once").write_bytes(data)
    *damage, report = verify_file(str(here / "once"), Options())
    assert not damage
    assert report.status == "clean"  # type: ignore[union-attr]
    again = repaired(here, data)
    assert (again.data, again.report.lost) == (data, False)
    _SETTLED.add(data)


def accounts_for_all(done: Repaired, decoded: bytes) -> None:
    """The list goes over every byte once, in order; the quarantine holds what was dropped, where the list says."""
    report = done.report
    ranges = [row for row in done.ranges if row["type"] == "range"]
    edges = [(row["begin"], row["end"]) for row in ranges]
    assert edges == sorted(edges)
    assert all(end == begin for (_, end), (begin, _) in pairwise(edges))
    assert (edges[0][0], edges[-1][1]) == (0, report.bytes) if edges else not report.bytes
    assert sum(row["records"] for row in ranges) == report.records  # type: ignore[misc]
    dropped, at = b"", 0
    for row in ranges:
        pieces = row.get("dropped", [])
        assert pieces or row["action"] != "dropped" or row["begin"] == row["end"]
        assert all(row["begin"] <= begin < end <= row["end"] for begin, end in pieces)  # type: ignore[operator]
        assert row.get("quarantine", at) == at
        dropped += b"".join(decoded[begin:end] for begin, end in pieces)
        at += sum(end - begin for begin, end in pieces)
    assert at == report.dropped_bytes
    assert done.quarantine == dropped
    assert report.lost or not dropped
