"""Detect the format of a decoded stream by its content, never by its name.

The order of the questions matters. A valid length checksum at offset 0 says TFRecord before any magic number is
looked at, since the first length of a sound file can look like one. A damaged first header can too, so a header that
its own payload proves comes next. Only then are signatures considered, unless the stream begins with two whole OFRecord
records, and those of text last: a log line before the first record does not make a record file a text file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfrtool.framing.crc import header_is_sound
from tfrtool.suggestion import Suggestion

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream
    from tfrtool.sources.detect.match import FormatMatch
    from tfrtool.sources.source import Source
    from tfrtool.types import Format

_SEARCHED = 1 << 20
"""How far framing is searched for before a signature or the other format is considered, in bytes."""

_FRAMES = 8
"""Frames without checksums that are enough evidence, whatever they hold."""
_PAYLOAD = 1 << 20
"""Bytes of their payloads that are read."""


class Identity(NamedTuple):
    """The format of a stream (None if it is not a record file), and what its first bytes match otherwise.

    `found` says whether anything of the format was found. `zeroed` means TFRecord framing with zeros in place of all
    checksums, at least at first.
    """

    format: Format | None
    sniffed: FormatMatch | None = None
    found: bool = True
    zeroed: bool = False


def identify(source: Source, wanted: str) -> Identity:
    """Detect the format of a decoded stream; `wanted` is `auto` or the format that was asked for."""
    if source.format_mismatch:
        return Identity(None, _format_mismatch(source, source.format_mismatch), False)
    sound = header_is_sound(source.head)
    if wanted != "ofrecord" and (sound or not source.head):
        return Identity("tfrecord")
    return told_apart(source, wanted, sound)


def told_apart(source: Source, wanted: str, sound: bool) -> Identity:
    """The same for a stream whose first header is `sound` and not wanted, or not sound."""
    # Imported here, since most files have a sound first header.
    from dataclasses import replace

    from tfrtool.framing.ofrecord import looks_like_ofrecord
    from tfrtool.framing.recovery.budget import WorkBudget
    from tfrtool.framing.recovery.explain import Resync
    from tfrtool.payload.kinds import plausible_ofrecord
    from tfrtool.sources.detect.signatures import WEAK_SIGNATURES, may_be_ofrecord

    data = source.data
    if wanted == "ofrecord":
        if sound or Resync(data, WorkBudget()).record_at_start():
            return Identity(None, _other("tfrecord", "TFRecord", "OFRecord"))
        return Identity("ofrecord")
    if _is_zeroed(data):
        return Identity("tfrecord", zeroed=True)
    if Resync(data, WorkBudget()).record_at_start():
        return Identity("tfrecord")
    sniffed = source.sniff()
    may_be = may_be_ofrecord(source.head)
    if (
        sniffed
        and sniffed.diagnosis not in WEAK_SIGNATURES
        and not (may_be and looks_like_ofrecord(data, plausible_ofrecord, 0))
    ):
        return Identity(None, replace(sniffed, suggestion=AS_OFRECORD) if may_be else sniffed, False)
    if looks_like_ofrecord(data, plausible_ofrecord, 0):
        found: Format = "ofrecord"
    elif Resync(data, WorkBudget()).record_within(_SEARCHED):
        found = "tfrecord"
    elif looks_like_ofrecord(data, plausible_ofrecord, _SEARCHED):
        found = "ofrecord"
    else:
        return Identity("tfrecord", sniffed, False)
    if wanted == "tfrecord" and found == "ofrecord":
        return Identity(None, _other("ofrecord", "OFRecord", "TFRecord"))
    return Identity(found)


def _is_zeroed(data: ByteStream) -> bool:
    """Return whether a stream begins with frames that have zeros in place of checksums.

    Lengths that chain to its end prove it. So do two that chain where the payloads are messages of a known kind, and
    eight where no payload is all zeros.
    """
    from tfrtool.framing.recovery.zero_checksums import zeroed_frames

    spans, whole = zeroed_frames(data, _FRAMES)
    if whole or len(spans) < 2:
        return whole
    payloads = [bytearray(min(end - begin, _PAYLOAD)) for begin, end in spans]
    for payload, (begin, _) in zip(payloads, spans, strict=True):
        data.read_into(begin, memoryview(payload))
    if len(spans) == _FRAMES and all(map(any, payloads)):
        return True
    from tfrtool.payload.kinds import kind_of

    whole_ones = [payload for payload, (begin, end) in zip(payloads, spans, strict=True) if len(payload) == end - begin]
    return len(whole_ones) > 1 and all(kind_of(bytes(payload)) not in (None, "unknown") for payload in whole_ones)


AS_OFRECORD = Suggestion(
    settings=(("format", "ofrecord"),),
    aim="read it as an OFRecord file, since it begins like one whose first record is cut or broken",
)


def _other(diagnosis: str, is_: str, asked: str) -> FormatMatch:
    from tfrtool.sources.detect.match import FormatMatch

    as_it_is = Suggestion(settings=(("format", diagnosis),), aim="read it as what it is")
    return FormatMatch(diagnosis, f"this is {is_} framing, and {asked} was asked for", "", as_it_is)


def _format_mismatch(source: Source, said: FormatMatch) -> FormatMatch:
    """What is said of a file that is not packed as was asked for: to have it told apart helps where that tells it."""
    if said.suggestion is None or said.diagnosis or told_apart(source, "auto", sound=False).found:
        return said
    from tfrtool.sources.detect.match import FormatMatch

    none = "no record and no member of gzip data was found in it either: copy or fetch the file again"
    return FormatMatch(said.diagnosis, said.message, none)
