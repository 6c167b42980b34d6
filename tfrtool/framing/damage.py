"""Damage as a value: which bytes are not a sound record, why, and what they still prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfrtool.framing import messages
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

Method = Literal[
    "mended-header",
    "lost-header",
    "shifted-payload",
    "bytes-removed",
    "stored-checksum",
    "wrong-writer",
    "unverified",
    "recompressed-ok",
]
"""What speaks for the payloads of a damaged range.

`mended-header` one to three flipped bits of the header undone, and the data checksum holds · `lost-header` the data
checksum before the next boundary is that of the bytes between · `shifted-payload` the same, and the payload begins
elsewhere than its header tells, at the one place that gives the checksum · `bytes-removed` other bytes stand within the
payload, and the checksum holds without them · `stored-checksum` the stored data checksum itself has one flipped bit ·
`wrong-writer` every checksum holds once it is computed as that writer did · `unverified` the payloads are complete, but
no checksum speaks for them · `recompressed-ok` a break of the codec that takes nothing away: what packs the data is
damaged, and the data is there.
"""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Payloads that stand whole inside a damaged range, and the proof.

    Where `layout` is empty there is one, and `pieces` are the half-open ranges of the decoded stream that hold it, to
    be put together in order. Otherwise the one piece holds `records` frames one after another, in the layout of that
    name. `writer` is the layout by whose checksum alone the payload is proved, behind a header that is sound.
    """

    method: Method
    records: int
    pieces: tuple[tuple[int, int], ...]
    layout: str = ""
    writer: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """The half-open range `[begin, end)` of the decoded stream that holds no sound record, in bytes.

    `record` is the number in the file (from 0) of the record that is damaged there, None where the bytes belong to
    none or nobody can tell. `want` and `got` are masked checksums, the computed and the stored one, where one failed.
    `detail` says what is wrong, `tensorflow` what TensorFlow makes of it, empty where it does not come so far.
    `recovery` says which payloads of the range `repair` brings back whole, None for none.
    `given_up`: the search for records in
    the range was given up, so there may be some, damaged ones.
    """

    begin: int
    end: int
    fault: Fault
    record: int | None = None
    want: int | None = None
    got: int | None = None
    detail: str = ""
    recovery: Recovery | None = None
    given_up: bool = False
    tensorflow: str = ""

    @property
    def message(self) -> str:
        """All that is to be said of it, in one plain sentence."""
        detail = messages.given_up(self.detail) if self.given_up else self.detail
        return messages.with_tensorflow(detail, self.tensorflow)

    @property
    def restorable(self) -> int:
        """How many records of this range are proved whole, so that they come back unasked."""
        return self.recovery.records if self.recovery and self.recovery.method != "unverified" else 0


def unsound_data(begin: int, end: int, number: int, want: int, got: int) -> Damage:
    """The damage of a record whose header is sound, and whose end: its payload has not the checksum that is stored.

    `want` and `got` are the computed and the stored one, masked.
    """
    length = end - begin - FRAMING
    message, recovery = messages.data_unsound(length), None
    if one_bit_apart(want, got):
        message, recovery = (
            messages.checksum_flipped(length),
            Recovery("stored-checksum", 1, ((begin + HEADER, end - 4),)),
        )
    return Damage(begin, end, "data-crc", number, Masked(want), Masked(got), message, recovery)
