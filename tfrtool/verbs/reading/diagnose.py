"""Say what is wrong with a file as a whole, once its damage is known."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from tfrtool.framing import messages
from tfrtool.framing.damage import Damage
from tfrtool.framing.layout import LAYOUTS, ZEROED
from tfrtool.framing.walk import Batch, walk
from tfrtool.report import FileReport
from tfrtool.sources.codecs.text_mode import (
    TextConversion,
    as_begun,
    as_found,
    looks_converted,
    packed_text_conversion,
    text_conversion,
)
from tfrtool.sources.detect.match import FormatMatch
from tfrtool.sources.detect.signatures import may_be_ofrecord
from tfrtool.sources.os_text import shell_word
from tfrtool.sources.source import Source
from tfrtool.suggestion import Suggestion
from tfrtool.verbs.reading.identify import AS_OFRECORD

_LOOKED_AT = 1 << 22
"""Bytes from the start that are searched for a text conversion."""

_NEAR = 1 << 16
"""Bytes around the first damage that are searched for signs of one, where the first bytes of the file have none."""

_NOT_COUNTED = "a pipe cannot be read twice, so recoverable records are not counted"

_NOTHING = frozenset({"stray", "zeros", "torn", "codec", "length"})
"""Faults that do not show the format where no record was found."""


def say(report: FileReport, said: FormatMatch | TextConversion | None) -> None:
    """Copy a diagnosis, with its message and hint, into a report."""
    if said:
        report.diagnosis = said.diagnosis or None
        report.message = said.message
        report.hint = said.hint.replace("FILE", shell_word(report.path)) or None
        report.suggestion = suggestion = said.suggestion
        if suggestion:
            path = report.path if suggestion.path == "FILE" else suggestion.path
            report.suggestion = replace(
                suggestion, path=path, first=suggestion.first.replace("FILE", shell_word(report.path))
            )


def diagnose(
    report: FileReport,
    source: Source,
    sniffed: FormatMatch | None,
    first: Damage | None,
    written: Damage | None,
    *,
    to_the_end: bool = True,
) -> None:
    """Set the status of a file in which damage was found, and its diagnosis if all damage has one cause.

    `first` is the first damage, `written` the first range whose checksums a wrong writer computed. `to_the_end` says
    whether the whole file was read.
    """
    report.status = "damaged"
    report.message = _counted(report)
    if not report.records and written and written.recovery:
        _wrong_writer(report, written, written.recovery.layout or written.recovery.writer)
        return
    found = None
    if report.format == "tfrecord" and (looks_converted(source.head) or looks_converted(_around(source, first))):
        found = text_conversion(_beginning(source))
    if found and _is_converted(report, source, found):
        return
    packed = packed_text_conversion(source.raw_head) if report.faults["codec"] else None
    if packed:
        say(report, packed)
        if report.records or report.restorable:
            report.suggestion = Suggestion("repair", report.path, aim="undo it")
        return
    damaged = set(report.faults) - _NOTHING
    if damaged == {"payload"} and report.format == "tfrecord" and to_the_end and len(report.faults) == 1:
        report.hint = "the framing is intact, so repair would not change the file"
        without = (("payload", True), ("skip_damaged", True))
        report.suggestion = Suggestion("convert", report.path, without, "leave these records out")
        return
    if report.records or report.restorable or (damaged and not to_the_end):
        report.suggestion = Suggestion("repair", report.path)
        if report.unproved:
            report.hint = f"{messages.written(ZEROED.words, report.unproved)}; these payloads cannot be verified"
            report.suggestion = Suggestion(
                "repair", report.path, (("keep_unverified", True),), "keep payloads that parse too"
            )
        return
    if damaged:
        if report.unchecked:
            payloads = report.faults["data-crc"]
            headers = "the headers are intact" if payloads == report.faults.total() else extent(report)
            report.message = f"{headers}, but none of {payloads:,} payloads matches its checksum"
            report.hint = "fix the writer or copy the file again; no payload has a valid checksum"
            report.suggestion = Suggestion(
                "repair", report.path, (("keep_unverified", True),), "keep payloads that parse"
            )
            return
        report.message += "; no records are recoverable"
        report.hint = "copy the file again"
        if report.faults["data-crc"]:
            report.suggestion = Suggestion("repair", report.path, (("fix_bits", True),), "try to fix single bits")
        return
    nothing_but_zeros = set(report.faults) == {"zeros"}
    if sniffed:
        say(report, sniffed)
        report.status = "damaged" if nothing_but_zeros else "foreign"
        report.format = None
    elif set(report.faults) <= {"stray", "zeros"}:
        report.format = None
        if not nothing_but_zeros:
            report.status = "foreign"
            report.message = f"no record found; the file begins with {_begins(source.head)}"
            report.hint = "tfrtool reads TFRecord and OFRecord files, plain or compressed with gzip or zlib"
            if may_be_ofrecord(source.head):
                report.suggestion = AS_OFRECORD


def _wrong_writer(report: FileReport, written: Damage, layout: str) -> None:
    report.diagnosis = "big-endian" if layout == "big-endian" else "wrong-checksum"
    if layout == ZEROED.name:
        report.message = written.message
        if report.faults.total() > 1:
            report.message = f"{messages.written(ZEROED.words, report.unproved)}; {extent(report)}"
        report.hint = "fix the writer; these payloads cannot be verified"
        report.suggestion = Suggestion("repair", report.path, (("keep_unverified", True),), "keep payloads that parse")
        return
    alone = report.faults.total() == 1
    report.message = written.message if alone else messages.written(LAYOUTS[layout].words, report.restorable or 0)
    which = "every payload" if alone else "every recoverable payload"
    report.hint = f"fix the writer; {which} matches its checksum"
    report.suggestion = Suggestion("repair", report.path, aim="rewrite the checksums")


def _counted(report: FileReport) -> str:
    message = extent(report)
    if report.restorable:
        records = "record is" if report.restorable == 1 else "records are"
        message += f"; {report.restorable:,} damaged {records} recoverable"
    return message


def extent(report: FileReport) -> str:
    """Describe how much of a file is damaged: breaks of its compression, and damaged ranges of the decoded stream.

    Where a file was not read to its end, `bytes` is not its size, so that the extent is that of what was read.
    """
    breaks = report.faults["codec"]
    ranges = report.faults.total() - breaks
    said = []
    if breaks:
        said.append(f"the {report.compression} stream is broken" + (f" in {breaks:,} places" if breaks > 1 else ""))
    if ranges:
        size = report.damaged_bytes if report.unread else report.bytes or 0
        unpacked = f"{'unpacked ' if breaks else ''}byte{'s' if size != 1 else ''}"
        much = f" of {size:,} {unpacked}, in what was read"
        if not report.unread:
            much = f", {report.damaged_bytes:,} of {size:,} {unpacked}"
        said.append(f"{ranges:,} damaged range{'s' if ranges != 1 else ''}{much}")
    return ", ".join(said)


def _beginning(source: Source) -> bytes:
    if not source.seekable:
        return source.head
    return _bytes(source, 0, min(_LOOKED_AT, source.data.size or 0))


def _around(source: Source, damage: Damage | None) -> bytes:
    """Return the first bytes of the first damage, and some before it: a conversion damages what it converts."""
    if damage is None or not source.seekable:
        return b""
    begin = max(0, damage.begin - _NEAR // 2)
    return _bytes(source, begin, min(damage.end, damage.begin + _NEAR // 2))


def _bytes(source: Source, begin: int, end: int) -> bytes:
    view = memoryview(bytearray(end - begin))
    return bytes(view[: source.data.read_into(begin, view)])


def _is_converted(report: FileReport, source: Source, found: TextConversion) -> bool:
    """Return whether a conversion explains the damage; if so, the report says what undoing it recovers.

    Counts as `repair` does: records that were intact before stay intact, the others are recovered. Where the
    input cannot be read again, or the conversion cannot be undone, most of the file must be damaged.
    """
    plainly, mostly = report.records + (report.restorable or 0), 2 * report.damaged_bytes > (report.bytes or 0)
    if not source.reopenable:
        if mostly:
            say(report, as_begun(found, source.head, len(source.head) >= (report.bytes or 0)))
            report.converted, report.restorable = True, None
            report.message = f"{report.message}; {_NOT_COUNTED}"
            report.suggestion = Suggestion("repair", report.path, aim="undo what can be undone")
        return mostly
    undone = _undone(source, found.diagnosis)
    of_all = undone.converted > 1 and not undone.left  # so one cause explains what else would be many damages
    as_many = undone.records == plainly and (of_all or mostly)
    if not (undone.records > plainly or as_many or (mostly and not undone.records)):
        return False
    say(report, as_found(found, undone.converted, undone.left))
    if undone.records:
        report.converted, report.damaged_records = True, undone.damaged
        report.restorable = undone.records - min(report.records, undone.intact)
        report.suggestion = Suggestion("repair", report.path, aim="undo it")
    elif plainly:
        report.suggestion = Suggestion("repair", report.path)
    return True


class _Undone(NamedTuple):
    """What undoing a conversion gives: records that are intact or recoverable then, how many of them are `intact`, how
    many stay `damaged`; and how many bytes were converted, and how many that might have been were not (`left`)."""

    records: int
    intact: int
    damaged: int
    converted: int
    left: int


def _undone(source: Source, diagnosis: str) -> _Undone:
    from tfrtool.sources.codecs.text_mode import TextModeDecoder
    from tfrtool.sources.spool import Spool

    recoverable = intact = damaged = 0
    with source.reopen() as again:
        decoder = TextModeDecoder(again.data, diagnosis)
        with closing(Spool(decoder.chunks(), source.name)) as data:
            for event in walk(data):
                if isinstance(event, Batch):
                    intact += event.count
                else:
                    recoverable += event.restorable
                    damaged += event.record is not None and not event.restorable
    return _Undone(recoverable + intact, intact, damaged, decoder.converted, decoder.left)


def _begins(head: bytes) -> str:
    """Show the first bytes of a file, and the media type that they are the signature of."""
    from tfrtool.payload.content.media import media_of

    media = media_of(head)
    return head[:16].hex(" ") + (f", as {media[0].upper()} files do" if media else "")
