"""A fault of a gzip or zlib stream, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from tfrtool.framing import messages


@dataclass(frozen=True, slots=True)
class CodecFault:
    """What is wrong with the packed stream, at a byte of what it unpacks to and at a packed byte.

    The bytes of the decoded stream before `offset_decoded` were unpacked before the fault was met. `stops`: TensorFlow
    raises there, or earlier, since it unpacks up to 256 KiB ahead (seen with version 2.21; of data that is only cut
    short it reads what there is, and what follows zlib data it does not look at). `harmless`: no byte of the data is
    lost by it. `detail` says what is wrong, `tensorflow` what TensorFlow makes of the first that stops it.
    """

    offset_decoded: int
    offset_encoded: int
    detail: str
    stops: bool = False
    harmless: bool = False
    tensorflow: str = ""

    @property
    def message(self) -> str:
        """The whole message, in one sentence."""
        return messages.with_tensorflow(self.detail, self.tensorflow)
