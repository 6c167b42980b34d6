"""What damage is called in a sentence. One function a finding, so that wording lives in one place."""

from __future__ import annotations

_PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"


def _bytes(n: int) -> str:
    return f"{n:,} byte" + ("" if n == 1 else "s")


def torn_header(present: int) -> str:
    return f"the file ends inside a header: {present} of its 12 bytes are there"


def torn(length: int, present: int, whole: bool) -> str:
    missing = length + 4 - present
    if present >= length and not whole:
        before = f"the file ends {_bytes(missing)} before the end of a record"
        return f"{before}; what is left of its checksum disproves a payload of {_bytes(length)}"
    if present >= length:
        lacking = f"{missing} of the 4 bytes of its checksum are missing"
        return f"the file ends inside a record: its payload of {_bytes(length)} is complete, but {lacking}"
    return f"the file ends inside a record: {present:,} of {_bytes(length)} of its payload are there"


def zeros(total: int, run: int, begin: int) -> str:
    if run == total:
        return f"{_bytes(total)}, all zero"
    return f"{_bytes(total)} with no sound record, {run:,} of them zeros from {begin} on"


def stray(total: int, sample: bytes) -> str:
    said = f"{_bytes(total)} that belong{'s' if total == 1 else ''} to no sound record"
    unprintable = len(sample.translate(None, _PRINTABLE))
    if len(sample) >= 4 and unprintable <= 0.1 * len(sample):
        text = ascii(sample[:40].decode("ascii", "replace"))
        return f"{said}; they read as text: {text}" + ("…" if total > 40 else "")
    return said


def given_up(said: str) -> str:
    return f"{said}; to search them for more damaged records would take too long"


def mended(length: int, flips: int) -> str:
    if not flips:
        proof = f"the length of {length:,} is right, since the payload's checksum holds"
        return f"the checksum of the length is damaged; {proof}"
    bits = "1 bit is" if flips == 1 else f"{flips} bits are"
    return f"{bits} flipped in the length; it is {length:,}, since the payload's checksum then holds"


def lost_header(length: int) -> str:
    return f"the header is damaged; the checksum behind it is that of the {_bytes(length)} between"


def late_start(begin: int, length: int) -> str:
    return f"the header is lost; a payload of {_bytes(length)} begins at {begin}, the one place that gives its checksum"


def rejoined(length: int, extra: int, at: int) -> str:
    proof = f"without them its payload of {_bytes(length)} has its checksum"
    return f"{_bytes(extra)} too many at {at}, inside the record; {proof}"


def lost(length: int) -> str:
    return f"the header and the payload are damaged; the length of {length:,} still leads to the next record"


def data_unsound(length: int) -> str:
    return f"the payload of {_bytes(length)} does not agree with its checksum"


def data_of_a_wrong_writer(length: int, words: str) -> str:
    return f"the payload of {_bytes(length)} is proved by its checksum, which was written with {words}"


def checksum_flipped(length: int) -> str:
    return f"one bit of the stored checksum is flipped; the payload of {_bytes(length)} is whole"


def cut(length: int, present: int) -> str:
    if length <= present < length + 4:
        return lacking(length, length + 4 - present, None)
    if present < length:
        promise = f"the header promises a payload of {_bytes(length)}"
        return f"{promise}, but after {present:,} of its bytes something else begins"
    return f"the payload of {_bytes(length)} is damaged, and {_bytes(present - length - 4)} too many stand in it"


def lacking(length: int, missing: int, whole: bool | None) -> str:
    """A record before whose end something else begins; whether its payload may be `whole`, None if nothing tells."""
    payload = f"payload of {_bytes(length)}"
    if whole:
        return f"{missing} of the 4 bytes of the checksum are missing; the {payload} agrees with what is left of it"
    said = f"{_bytes(missing)} {'is' if missing == 1 else 'are'} missing"
    if whole is None:
        return f"{said} at the end of the record: its checksum, or some of its {payload}"
    return f"{said} from the record; what is left of its checksum disproves a {payload}"


def holds_records(length: int) -> str:
    return f"the payload of {_bytes(length)} lacks bytes or has too many; the records in it are its content"


def stray_header(length: int) -> str:
    return f"a sound header for {_bytes(length)}, more than the file holds; records go on right behind it"


def wrong_writer(words: str, count: int) -> str:
    return f"{written(words, count)}; the framing is whole"


def written(words: str, count: int) -> str:
    records = "1 record was" if count == 1 else f"{count:,} records were"
    return f"{records} written with {words}"


def ofrecord_length(length: int, left: int) -> str:
    if length < 0:
        return f"a length of {length:,}, which is negative"
    if length == 0:
        return "a length of 0, which OneFlow's reader refuses"
    return f"a length of {length:,}, with {_bytes(left)} left in the file"


def ofrecord_zeros(total: int) -> str:
    """Eight zeros are the length of a record without features, which some writers make."""
    said = zeros(total, total, 0)
    if total % 8:
        return said
    one = "as a record without features has" if total == 8 else f"as {total // 8:,} records without features have"
    return f"{said}, {one}: OneFlow's reader stops at either"


def ofrecord_torn(length: int, present: int) -> str:
    return f"the file ends inside a record: {present:,} of {_bytes(length)} of its payload are there"


def ofrecord_lacking(length: int, missing: int) -> str:
    return f"a record of {_bytes(length)} that lacks some: the next one begins {_bytes(missing)} before its end"


def ofrecord_payload(length: int) -> str:
    return f"a record of {_bytes(length)} whose payload is no OFRecord message"


def tensorflow(fault: str, begin: int, end: int) -> str:
    """What TensorFlow does at the first damage of a file. Source: its `record_reader.cc`, and runs of version 2.21."""
    if fault == "torn" and end - begin < 12:
        return "TensorFlow takes this for a clean end"
    at = begin + 12 if fault == "data-crc" else begin
    return f"TensorFlow stops here with 'corrupted record at {at}'"


def tensorflow_too_long(length: int, begin: int) -> str:
    """The same for a sound header of a record that does not fit: TensorFlow asks for the memory before it reads."""
    if length >= (1 << 64) - 4:
        return "TensorFlow stops here with 'record size too large'"
    if length >= 1 << 34:
        return f"TensorFlow asks for {length:,} bytes of memory here, and crashes where it does not get them"
    return f"TensorFlow stops here with 'truncated record at {begin}'"


def tensorflow_inflating() -> str:
    """The same for a break of a gzip or zlib stream, ahead of which it unpacks."""
    return "TensorFlow stops here or earlier with 'inflate() failed'"


def with_tensorflow(said: str, tensorflow: str) -> str:
    return f"{said} ({tensorflow})" if tensorflow else said
