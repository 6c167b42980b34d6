"""What of the chains of records in a claim is content of the record that makes it.

Three things tell: a chain that the bytes before it announce as a value, or that ends as a record file in the payload
does; a value that may be a record file, and has room for the chain; and the end of the record, which is as far behind
the end of such a value as the payload says.

Whether a payload holds a record file: what its first bytes say of the values in it.

A record file is the payload itself, or a bytes value of a message. A message tells the size of each value before it,
so its first bytes tell where such a value ends, and how much of the payload follows it. That stays true when the rest
of the payload is damaged or moved: so an inner chain of records that ends just so far before a boundary is content.
"""

from __future__ import annotations

from struct import Struct
from typing import Literal, NamedTuple

from tfrtool.framing.layout import FRAMING, HEADER
from tfrtool.framing.recovery.gap_scan import TOILED
from tfrtool.framing.recovery.lookahead import Ahead, Ending

_FIELDS = 64
_DEEP = 8
_LOW = 6 << 3
_HEADER = Struct("<II")
_LEAST = FRAMING + 1


class Value(NamedTuple):
    """A value of a payload that may be a record file: `size` bytes from `begin` of the payload on.

    `tail` bytes of the payload follow it. How it is `seen`: as a file, where it begins with the length of a record that
    fits it; cut, where the message cannot be read so far; or as something else, where it begins otherwise.
    """

    begin: int
    size: int
    tail: int
    seen: Literal["file", "cut", "else"]


def held(ahead: Ahead, start: int, length: int) -> Value | None:
    """The value in the payload of the record at `start` that may be a record file.

    That is the first that begins like one; else the innermost one that is open where the message cannot be read any
    further. None for a payload that is no message and does not begin like a record file.
    """
    first = start + HEADER
    open_values = [Value(0, length, 0, "cut")]
    begins = _begins(ahead, first, length)
    if begins is not None:
        return open_values[0]._replace(seen="file" if begins else "cut")
    at = fields = 0
    while fields < _FIELDS:
        around = open_values[-1]
        if at == around.begin + around.size:
            if len(open_values) == 1:
                return None
            open_values.pop()
            continue
        head = _field(ahead.peek(first + at, 11))
        if head is None or at + sum(head) > around.begin + around.size:
            break
        fields += 1
        width, size = head
        at += width
        value = Value(at, size, length - at - size, "cut")
        begins = _begins(ahead, first + at, size)
        if begins:
            return value._replace(seen="file")
        if size >= _LEAST and len(open_values) < _DEEP and _is_message(ahead.peek(first + at, 11), size):
            open_values.append(value)
        elif 2 * size > length:
            other = begins is None and any(ahead.peek(first + at, 8))
            return value._replace(seen="else" if other else "cut")
        else:
            at += size
    return open_values[-1] if fields > 1 and len(open_values) > 1 else None


def are_fields(ahead: Ahead, begin: int, end: int) -> bool:
    """Whether the bytes `[begin, end)` are whole fields of a message, as what follows a value in a payload is."""
    for _ in range(_FIELDS):
        field = _field(ahead.peek(begin, 11)) if begin < end else None
        if field is None:
            break
        begin += sum(field)
    return begin == end


def _begins(ahead: Ahead, at: int, size: int) -> bool | None:
    """Whether the value of `size` bytes begins with the header of a record that fits it, of which bits may be flipped.

    None where it does not; False where such a length is all that is there, or the lower half of one: a number of any
    other kind reads the same.
    """
    head = ahead.peek(at, HEADER)
    if len(head) < HEADER or size < _LEAST:
        return None
    low, high = _HEADER.unpack_from(head)
    if not 0 < low <= size - FRAMING:
        return None
    return not high and ahead.resembles(head)


def _is_message(data: bytes, size: int) -> bool:
    """Whether a value that begins so looks like a message; its first field is then one of bytes with a low number."""
    field = _field(data)
    return field is not None and data[0] & 7 == 2 and data[0] < _LOW and sum(field) <= size


def _field(data: bytes) -> tuple[int, int] | None:
    """How many bytes the tag and the length of a field take, and the length: 0 for a number, which is all tag here."""
    if not data or not data[0] >> 3 or data[0] & 0x80:
        return None
    kind = data[0] & 7
    if kind in (1, 5):
        return (9, 0) if kind == 1 else (5, 0)
    if kind not in (0, 2):
        return None
    value = shift = 0
    for width, byte in enumerate(data[1:], 2):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (width, value) if kind == 2 else (width, 0)
    return None


Chain = tuple[int, int]
"""Where a chain of sound headers begins, and where it ends."""

_UNHEARD_OF = 1 << 31
"""Lengths that no writer of messages makes: protocol buffers end at 2 GiB."""
_FOOTER_APART = 1 << 20
_CHAINS = 1 << 10
_OPEN = 8
_SOME = 64
"""Records of a chain that are looked at for the length of the longest."""
_TIMES = 8
"""How many times as far as that into a payload a chain begins that is no part of a record file there."""


class Closing(NamedTuple):
    """Where the record that begins at `start` ends, since a chain is the rest of its content.

    `put_in` are the chains before that one for which it has no room.
    """

    start: int
    end: int
    put_in: list[Chain]


class Content:
    """The content of the record at `start`, which claims `length` bytes of payload, and `fits` the stream or not.

    `chains` are those found so far. `opened` are the sound headers of records that are not: what stands behind one may
    be its content. `unlikely` is where the first chain begins that is content only because the record claims its place,
    and nothing in the payload looks like a record file: where the file is found to go on within the claim, that claim
    is none, and the file goes on there already.
    """

    def __init__(self, ahead: Ahead, start: int, length: int, fits: bool) -> None:
        self.ahead = ahead
        self.start = start
        self.length = length
        self.fits = fits
        self.end = start + FRAMING + length
        self.chains: list[Chain] = []
        self.opened = [start]
        self.unlikely: int | None = None
        self._values: dict[int, Value | None] = {}
        self._room = 0  # what is left of a value that may be a record file
        self._cut = False  # whether its beginning cannot be seen: then it is believed within the claim alone

    def opens(self, header: int) -> None:
        """Remember the sound header of a record that is not."""
        if len(self.opened) < _OPEN:
            self.opened.append(header)

    def found(self, header: int, end: int, how: Ending) -> None:
        """Remember a chain, and the broken record at which it ends, if it ends at one."""
        if len(self.chains) < _CHAINS:
            self.chains.append((header, end))
        if how == "dead" and self.ahead.reach(end) > end:
            self.opens(end)

    def crossing(self, before: int) -> int | None:
        """The first sound header in the record that claims to go beyond its end, as none of its content does."""
        return next((at for at in self.opened[1:] if at < before < self.ahead.reach(at)), None)

    def may_hold(self, header: int, end: int) -> bool:
        """Whether the chain, which dies, may be a part of a record file in the payload: there is room for it."""
        readable = self.fits or header - self.start < TOILED
        if not self._room and readable and self.length < _UNHEARD_OF:
            value = self._value(self.start, self.length)
            if value is None or value.seen == "else" or (value.seen == "cut" and end > self.end):
                if len(self.chains) == 1:
                    self._room = self.ahead.holds_file(self.start, self.length, header)
            else:
                self._room, self._cut = value.size, value.seen == "cut"
                if header == self.start + HEADER + value.begin and end - header <= value.size:
                    self._room -= end - header
                    return True
        return self._extent((header, end)) <= self._room and not (self._cut and end > self.end)

    def led_through(self, header: int) -> int | None:
        """Where the chain from the first header of a record file in the payload goes on with the file's own records.

        It comes there by chance, since bytes are missing: through a broken record, or right behind the last inner one.
        """
        value = self._value(self.start, self.length) if self.fits and self.length < _UNHEARD_OF else None
        if value is None or value.seen != "file" or header != self.start + HEADER + value.begin:
            return None
        if not self.ahead.ledger.toil(value.size // FRAMING):
            return None
        last = at = header
        while at - header < value.size - FRAMING:
            last, at = at, self.ahead.reach(at)
            if at == last:
                return None
        if at == header or not self.ahead.fits(at) or not self.ahead.sound(self.ahead.head(at)):
            return None
        by_chance = at - header == value.size or not self.ahead.data_holds(last + HEADER, at - 4)
        return at if by_chance else None

    def holds(self, header: int, end: int, how: Ending) -> bool:
        """Whether the chain is content by what stands before and behind it."""
        if self.length >= _UNHEARD_OF:
            return False
        if how == "dead":
            if self.ahead.announced(self.start, header, end):
                return True
            if (not self.fits or end <= self.end) and self.ahead.reach(end) == end:
                if self.unlikely is None and self._holds_none(header, end):
                    self.unlikely = header
                return True
            # A record file that is the whole payload ends right before the payload's checksum, also where bytes were
            # put in.
            near = self.fits and self._room > 0 and end <= self.end + _FOOTER_APART
            return near and self.ahead.a_checksum_apart(end)
        if self.fits or how != "end":
            return False
        # The chain fills the stream to its end, and the stream may have been cut between two records of the content.
        return header == self.start + HEADER or self.ahead.announced_past(self.start, header, end, self.end - 4)

    def _holds_none(self, header: int, end: int) -> bool:
        """Whether nothing says that the payload holds a record file of which the chain `[header, end)` is a part.

        The header of the first record in such a file may be damaged beyond recognition; then the chain begins behind
        that one, hence not many times further on than its own records are long.
        """
        if header == self.start + HEADER or self._room:
            return False
        value = self._value(self.start, self.length)
        if value is not None and value.seen != "else":
            return False
        first = self.start + HEADER + (value.begin if value else 0)
        longest, at = 0, header
        for _ in range(_SOME):
            if at >= end:
                break
            longest, at = max(longest, self.ahead.reach(at) - at), self.ahead.reach(at)
        return header - first > _TIMES * longest

    # Where the record ends

    def closing(self, header: int, end: int, sight: int) -> Closing | None:
        """The end of the record if the chain, which dies, is what is left of a record file that it holds.

        So it is where the chain ends just as far before a boundary as the value that may be such a file does before the
        end of its record. That may also be a later record, of which the header alone is sound.
        """
        closings = [(at, *one) for at in self.opened if (one := self._closing(at, header, end))]
        closings = [one for one in closings if one[1].seen == "file"] or closings
        if not closings:
            return None
        start, value, closing = closings[-1]
        if start != self.start:
            return Closing(start, closing, [])
        room = self._left(start, value, header)
        last = self._last_closing(closing, value, room - (end - header), sight)
        if last is None:
            self._room = self._room or room
            return None
        first = start + HEADER + value.begin
        return Closing(start, last, [one for one in self.chains if one[0] != first and self._extent(one) > room])

    def _closing(self, start: int, header: int, end: int) -> tuple[Value, int] | None:
        """The value of the record at `start` in which the chain would be, and where that record would end."""
        if not self.fits and header - start >= TOILED:  # what stands there may be forgotten by now
            return None
        length = self.length if start == self.start else self.ahead.reach(start) - start - FRAMING
        if not end - header < length < _UNHEARD_OF or (start != self.start and start + HEADER + length < self.end):
            return None
        value = self._value(start, length)
        if value is None or self._left(start, value, header) < end - header:
            return None
        closing = end + value.tail + 4
        if not self.ahead.fits(closing) or not self.ahead.boundary(closing):
            return None
        torn = not self.fits and self.ahead.near.ends_at(closing)
        return None if torn else (value, closing)

    def _last_closing(self, closing: int, value: Value, room: int, sight: int) -> int | None:
        """The end of the record where it may end at `closing`, or behind chains from there on that have room too.

        None if one of those does not lead to an end, and what stands before `closing` is not what follows the value:
        then the header there may be of one more inner record.
        """
        while room > FRAMING:
            end, how = self.ahead.follow(closing, min(room, sight))
            room -= self.ahead.reach(end) - closing
            if how != "dead" or room < 0 or end == closing:
                break
            further = end + value.tail + 4
            if not self.ahead.fits(further) or not self.ahead.boundary(further):
                return closing if are_fields(self.ahead, closing - 4 - value.tail, closing - 4) else None
            closing = further
        return closing

    def _value(self, start: int, length: int) -> Value | None:
        if start not in self._values:
            self._values[start] = held(self.ahead, start, length)
        return self._values[start]

    def _left(self, start: int, value: Value, header: int) -> int:
        """How much of the value is not the chain with which it begins; what is larger is none of its content."""
        first = start + HEADER + value.begin
        return value.size - sum(stop - at for at, stop in self.chains if at == first < header)

    def _extent(self, chain: Chain) -> int:
        """Bytes of a chain, and of the record that breaks off at its end."""
        return self.ahead.reach(chain[1]) - chain[0]
