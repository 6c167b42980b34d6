"""Decompress gzip and zlib data: every member, every recoverable byte, every fault named."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tfrtool.framing import messages
from tfrtool.sources.codecs.container import HEADER_LIMIT, Container, ContainerHeader, Gzip, Zlib
from tfrtool.sources.codecs.damaged_header import LOOK, breaks_at_once, deflate_begins, gives_record
from tfrtool.sources.codecs.faults import CodecFault
from tfrtool.sources.codecs.inflate import PIECE, Deflate
from tfrtool.sources.codecs.members import drain, hidden_member, next_member, short_trailer, zeros_end

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream

LOOK_BACK = 256 << 10
"""How far before a break the next gzip member may begin, in packed bytes.

Where a writer died and another appended, the cut member's data runs on into the next member, and unpacks to nonsense
for some thousands of bytes (up to 64 KiB in a stored block) before a code is impossible.
"""


class Decoder:
    """The decoded stream of the gzip or zlib data in `raw`.

    Memory is bounded whatever the data; work is linear in the packed and unpacked bytes. `faults` grows as `chunks` is
    read: a fault is there before any byte behind it. `raw` is told to forget what will not be needed again.
    """

    def __init__(
        self, raw: ByteStream, container: Container, faults: list[CodecFault], quick: Any = None, lead: int = 0
    ) -> None:
        """`quick`: see `Deflate`. `lead`: how many bytes before the first member are given as they are."""
        self._raw = raw
        self._container = container
        self._faults = faults
        self._quick = quick
        self._lead = lead
        self._piece = memoryview(bytearray(PIECE))
        self._looked_back = 0
        self._decoded = 0
        self.position = 0
        """End offset of the compressed bytes read, for progress."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes of every member in order."""
        yield from self._as_they_are()
        at = floor = self._lead
        """`floor`: no byte before it may begin the next member; `raw` still has all from there on."""
        first = True
        while True:
            self.position = at
            header = self._mended(at, self._header(at), first)
            if header.state == "sound" and not (
                self._container is Zlib and not first and not self._unpacks(at, header)
            ):
                begin, first = at, False
                stream = Deflate(self._raw, at + header.length, self._piece, self._quick)
                sums = self._container(self._quick or zlib)
                for chunk in stream.chunks():
                    sums.add(chunk)
                    self._decoded += len(chunk)
                    self.position = stream.at
                    if self._quick is None:
                        self._raw.discard_before(max(begin + 1, stream.at - LOOK_BACK))
                    yield chunk
                at, floor, done = self._close(begin, stream, sums)
                if done:
                    return
                continue
            if not first:
                padded = zeros_end(self._raw, at, LOOK_BACK)
                if padded > at:
                    at = padded
                    continue
            if not self._raw.read_into(at, memoryview(bytearray(1))):
                return
            if header.state == "cut":
                what = f"the {self._container.name} data is cut short inside the header at compressed byte {at}"
                hidden = hidden_member(self._raw, self._container, at + 1, at + header.length)
                if hidden is None:
                    self._fault(at, what)
                    return
                self._fault(at, f"{what}; reading goes on with the gzip member at compressed byte {hidden}")
                at = floor = hidden
                continue
            what = f"the bytes at compressed byte {at} are not the beginning of a {self._container.unit}"
            resumed = self._resume(at, floor, what, stops=first or self._container is Gzip)
            if resumed is None:
                return
            at = floor = resumed

    def _as_they_are(self) -> Iterator[bytes]:
        at = 0
        while at < self._lead and (count := self._raw.read_into(at, self._piece[: self._lead - at])):
            yield bytes(self._piece[:count])
            at += count
        if at:
            self._decoded = at
            what = f"the first {at} bytes are not packed, or lack the beginning of what packs them"
            self._fault(at, f"{what}; they are read as they are, and what follows is unpacked", True, True)

    def _close(self, begin: int, stream: Deflate, sums: Gzip | Zlib) -> tuple[int, int, bool]:
        """Check the end of a member; return where to continue, the next floor, and whether all is done."""
        unit, at = self._container.unit, stream.at
        floor = max(begin + 1, at - LOOK_BACK)
        if stream.ended == "broken":
            what = f"the {unit} that begins at compressed byte {begin} is broken at compressed byte {at} ({stream.why})"
            resumed = self._resume(at, floor, what, stops=True)
            return (resumed, resumed, False) if resumed is not None else (at, at, True)
        if stream.ended == "torn":
            what = f"the {unit} that begins at compressed byte {begin} is cut short at compressed byte {at}"
            hidden = hidden_member(self._raw, self._container, floor, at)
            if hidden is None:
                self._fault(at, f"{what}, before its end")
                return at, at, True
            self._fault(hidden, f"{what} or before; reading goes on with the one at compressed byte {hidden}")
            return hidden, hidden, False
        trailer = bytearray(self._container.trailer_size)
        count = self._raw.read_into(at, memoryview(trailer))
        if count < len(trailer):
            self._fault(
                at + count,
                f"the {unit} that begins at compressed byte {begin} is cut short at compressed byte {at + count}, "
                f"inside the checksum behind its data, all of which was unpacked",
            )
            return at, at, True
        wrong = sums.disagreement(bytes(trailer))
        end = at + len(trailer)
        if wrong is None:
            return end, end, False
        there = self._short_trailer(at, sums)
        if there is not None:
            self._fault(
                at + there,
                f"the {unit} that begins at compressed byte {begin} is cut short at compressed byte {at + there}, "
                "inside the checksum behind its data, all of which was unpacked; the next one begins there",
                stops=True,
            )
            return at + there, at + there, False
        what = f"the {unit} at compressed bytes {begin} to {end} unpacks, but {wrong}"
        hidden = hidden_member(self._raw, self._container, floor, at)
        if hidden is None:
            self._fault(at, what, stops=True)
            return end, floor, False
        what += f"; a sound member begins within it at compressed byte {hidden}, and is read from there"
        self._fault(at, what, stops=True)
        return hidden, hidden, False

    def _short_trailer(self, at: int, sums: Gzip | Zlib) -> int | None:
        """How many bytes of the trailer stand at `at`, where the next gzip member begins before all 8 do."""
        rest = bytearray(2 * Gzip.trailer_size + 2)
        count = self._raw.read_into(at, memoryview(rest))
        return short_trailer(bytes(rest[:count]), sums) if isinstance(sums, Gzip) else None

    def _resume(self, at: int, floor: int, what: str, *, stops: bool) -> int | None:
        """Note that reading stopped at packed byte `at`, and where it goes on: the next gzip member, or nowhere.

        `stops`: whether TensorFlow stops there.
        """
        if self._container is not Gzip:
            self.position = end = drain(self._raw, at)
            self._fault(at, f"{what}; the {_bytes(end - at)} from there on cannot be unpacked", stops)
            return None
        start = max(floor, at - LOOK_BACK)
        if self._looked_back + at - start > 2 * at + (1 << 20):  # keeps the work linear on data made to be read twice
            start = at
        self._looked_back += at - start
        found, end = next_member(self._raw, start)
        if found is None:
            self.position = end
            self._fault(at, f"{what}; the {_bytes(end - at)} from there on cannot be unpacked", stops)
            return None
        passed = f", {_bytes(found - at)} were passed over" if found > at else ""
        self._fault(at, f"{what}; reading goes on with the gzip member at compressed byte {found}{passed}", stops)
        return found

    def _header(self, at: int) -> ContainerHeader:
        size = 512
        while True:
            data = bytearray(size)
            count = self._raw.read_into(at, memoryview(data))
            header = self._container.header(bytes(data[:count]))
            if header.state != "cut" or count < size:
                return header
            size = min(8 * size, HEADER_LIMIT)

    def _mended(self, at: int, header: ContainerHeader, first: bool) -> ContainerHeader:
        """The header at `at`; where it is damaged and its data is there all the same, one that leads to the data."""
        if header.state == "sound" and not first:
            return header
        data = bytearray(LOOK)
        count = self._raw.read_into(at, memoryview(data))
        if not count:
            return header
        packed = bytes(data[:count])
        if header.state == "sound":
            inside = packed[header.length :]
            if gives_record(inside) or not breaks_at_once(inside):
                return header
        length = deflate_begins(packed, self._container, first=first, to_the_end=count < LOOK)
        if length is None or (length == header.length and header.state == "sound"):
            return header
        unit = self._container.unit
        what = f"the header of the {unit} at compressed byte {at} is damaged; its data begins at {at + length}"
        self._fault(at, f"{what}, and is unpacked from there", stops=True, harmless=True)
        return ContainerHeader("sound", length)

    def _unpacks(self, at: int, header: ContainerHeader) -> bool:
        """Whether the bytes at `at`, behind a finished zlib stream, are another one: its first bytes must unpack."""
        data = bytearray(512)
        count = self._raw.read_into(at + header.length, memoryview(data))
        try:
            return bool(zlib.decompressobj(-15).decompress(data[:count], 64)) or count == 0
        except zlib.error:
            return False

    def _fault(self, packed: int, detail: str, stops: bool = False, harmless: bool = False) -> None:
        first = stops and not any(fault.stops for fault in self._faults)
        seen = messages.tensorflow_inflating() if first else ""
        self._faults.append(CodecFault(self._decoded, packed, detail, stops, harmless, seen))


def _bytes(count: int) -> str:
    return f"{count} compressed byte" + ("" if count == 1 else "s")
