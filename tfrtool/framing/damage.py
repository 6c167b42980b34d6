"""Damage as a value: which bytes are not a sound record, why, and what they still prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfrtool.framing import messages as words
from tfrtool.framing.crc import Masked
from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.header_bits import one_bit_apart

Fault = Literal["length-crc", "data-crc", "torn", "zeros", "stray", "codec", "length", "payload"]
"""What is wrong with a range; the ids and their meaning are fixed in the interface.

`length-crc` the header disagrees with its checksum · `data-crc` the payload disagrees with its checksum · `torn` the
file ends inside a record · `zeros` a zero-filled stretch · `stray` bytes that belong to no record · `codec` the gzip or
zlib stream itself is broken · `length` an OFRecord length that is negative or past the end · `payload` sound framing
around a payload that does not parse.
"""

How = Literal[
    "mended-header", "lost-header", "late-start", "rejoined", "stored-checksum", "wrong-writer", "unproved", "unwrapped"
]
"""What speaks for the payloads of a damaged range.

`mended-header` one to three flipped bits of the header undone, and the data checksum holds · `lost-header` the data
checksum before the next boundary is that of the bytes between · `late-start` the same, and the payload begins
elsewhere than its header tells, at the one place that gives the checksum · `rejoined` other bytes stand within the
payload, and the checksum holds without them · `stored-checksum` the stored data checksum itself has one flipped bit ·
`wrong-writer` every checksum holds once it is computed as that writer did · `unproved` the payloads are complete, but
no checksum speaks for them · `unwrapped` a break of the codec that takes nothing away: what packs the data is damaged,
and the data is there.
"""


@dataclass(frozen=True, slots=True)
class Rescue:
    """Payloads that stand whole inside a damaged range, and the proof.

    Where `layout` is empty there is one, and `pieces` are the half-open ranges of the decoded stream that hold it, to
    be put together in order. Otherwise the one piece holds `records` frames one after another, in the layout of that
    name. `writer` is the layout by whose checksum alone the payload is proved, behind a header that is sound.
    """

    how: How
    records: int
    pieces: tuple[tuple[int, int], ...]
    layout: str = ""
    writer: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """The half-open range `[begin, end)` of the decoded stream that holds no sound record, in bytes.

    `record` is the number in the file (from 0) of the record that is damaged there, None where the bytes belong to
    none or nobody can tell. `want` and `got` are masked checksums, the computed and the stored one, where one failed.
    `detail` says what is wrong, `tensorflow` what TensorFlow makes of it, empty where it does not come so far. `rescue`
    says which payloads of the range `repair` brings back whole, None for none. `given_up`: the search for records in
    the range was given up, so there may be some, damaged ones.
    """

    begin: int
    end: int
    fault: Fault
    record: int | None = None
    want: int | None = None
    got: int | None = None
    detail: str = ""
    rescue: Rescue | None = None
    given_up: bool = False
    tensorflow: str = ""

    @property
    def message(self) -> str:
        """All that is to be said of it, in one plain sentence."""
        detail = words.given_up(self.detail) if self.given_up else self.detail
        return words.with_tensorflow(detail, self.tensorflow)

    @property
    def restorable(self) -> int:
        """How many records of this range are proved whole, so that they come back unasked."""
        return self.rescue.records if self.rescue and self.rescue.how != "unproved" else 0


def unsound_data(begin: int, end: int, number: int, want: int, got: int) -> Damage:
    """The damage of a record whose header is sound, and whose end: its payload has not the checksum that is stored.

    `want` and `got` are the computed and the stored one, masked.
    """
    length = end - begin - FRAMING
    message, rescue = words.data_unsound(length), None
    if one_bit_apart(want, got):
        message, rescue = words.checksum_flipped(length), Rescue("stored-checksum", 1, ((begin + HEADER, end - 4),))
    return Damage(begin, end, "data-crc", number, Masked(want), Masked(got), message, rescue)
