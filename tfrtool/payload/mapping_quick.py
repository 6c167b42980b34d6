"""The short way through records as every common writer lays them out: tags are changed in place, all else is copied.

What is not of that form, or needs more than other tags, is left to the exact way, and both give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfrtool.payload.mapping_numbers import fit_int32
from tfrtool.payload.mapping_templates import LARGEST, Templates, part_of
from tfrtool.payload.textual import is_utf8
from tfrtool.payload.usual import EXAMPLE_LISTS, OFRECORD_LISTS, VARINTS, usual_list
from tfrtool.payload.wire import LEN, LONG_NAME, Buffer, WireError, read_size, varint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfrtool.payload.mapping_rules import Side
    from tfrtool.report import Loss

_ONE, _TWO = 1 << 3 | LEN, 2 << 3 | LEN
_IN_ONE_PIECE = 1 << 12
"""Payloads below this many bytes are copied whole and changed, larger ones given in pieces."""
_MOST = 1 << 16


class Change(NamedTuple):
    """What becomes of a feature of one name and one kind: the tag of its list in the output.

    `checked`: only where its numbers mean the same as int32 and as int64. `loss` counts the records that have it.
    """

    tag: int
    checked: bool = False
    loss: Loss | None = None


class _Found(NamedTuple):
    """A feature of a record: where its entry begins, where its list's tag stands, where both end."""

    entry: int
    tag: int
    end: int
    name: bytes
    change: Change


class Quick:
    """Remembers what is done with each feature, by its name and its tag.

    `decide` is asked once with a name, the field number of a list and the number of a record; None says that only the
    exact way will do.
    """

    def __init__(self, source: Side, target: Side, decide: Callable[[bytes, int, int], Change | None]) -> None:
        self._lists = EXAMPLE_LISTS if source == "example" else OFRECORD_LISTS
        self._wrapped = source == "example"
        self._wraps = target == "example"
        self._decide = decide
        self._templates = Templates()
        self._changes: dict[tuple[bytes, int], Change | None] = {}

    def convert(self, view: memoryview, record: int) -> list[bytes | memoryview] | None:
        """The payload on the other side, in parts that may be views of it; None where it takes the exact way."""
        small = len(view) < _IN_ONE_PIECE
        p = bytes(view) if small else view  # bytes are twice as fast to look into
        try:
            end, at = len(p), 0
            if self._wrapped:
                if p[0] != _ONE:
                    return None
                at, size = 2, p[1]
                if size > 0x7F:
                    size, at = _shortest(p, 1, end)
                if at + size != end:
                    return None
            if at == end:
                return None
            if isinstance(p, bytes) and end < LARGEST:
                whole = self._templates.convert(p, at, record)
                if whole is not None:
                    return [b"\x0a" + varint(len(whole)), whole] if self._wraps else [whole]
            found = self._features(p, at, end, record)
        except (IndexError, WireError):
            return None
        if found is None:
            return None
        for feature in found:
            loss = feature.change.loss
            if loss is not None and loss.last != record:
                loss.records += 1
                loss.last = record
        if end < LARGEST and self._templates.learning:
            self._teach(bytes(p), found)
        return self._parts(p, at, end, [(one.tag, one.change.tag) for one in found if p[one.tag] != one.change.tag])

    def many(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], which: range, first: int
    ) -> list[bytes]:
        """The payloads of the first of some records, as many as are all alike; often none."""
        found = self._templates.many(view, begins, ends, which, self._wrapped, first)
        return [b"\x0a" + varint(len(one)) + one for one in found] if self._wraps else found

    def _parts(self, p: Buffer, begin: int, end: int, cuts: list[tuple[int, int]]) -> list[bytes | memoryview]:
        parts: list[bytes | memoryview] = [b"\x0a" + varint(end - begin)] if self._wraps else []
        if isinstance(p, bytes):
            whole = bytearray(p[begin:end])
            for at, tag in cuts:
                whole[at - begin] = tag
            parts.append(memoryview(whole))
            return parts
        for at, tag in cuts:
            parts += (p[begin:at], bytes((tag,)))
            begin = at + 1
        parts.append(p[begin:end])
        return parts

    def _features(self, p: Buffer, at: int, end: int, record: int) -> list[_Found] | None:
        """Each feature, and what becomes of it; None where one is not of the usual form.

        Raises IndexError or WireError on some bytes that are cut.
        """
        lists, known = self._lists, self._changes
        features: list[_Found] = []
        while at < end:
            entry = at
            if p[at] != _ONE:
                return None
            size = p[at + 1]
            at += 2
            if size > 0x7F:
                size, at = _shortest(p, at - 1, end)
            stop = at + size
            if stop > end or p[at] != _ONE:
                return None
            size = p[at + 1]
            at += 2
            if size > 0x7F:
                size, at = _shortest(p, at - 1, stop)
            name = at
            at += size
            if at >= stop or p[at] != _TWO:
                return None
            size = p[at + 1]
            behind = at + 2
            if size > 0x7F:
                size, behind = _shortest(p, behind - 1, stop)
            if behind + size != stop or not size:
                return None
            key = (bytes(p[name:at]), p[behind])
            try:
                change = known[key]
            except KeyError:
                change = self._learn(key, record)
            if change is None or not usual_list(p, behind, stop, lists, True):
                return None
            if p[behind + 1] > 0x7F:
                _shortest(p, behind + 1, stop)
            if change.checked and stop - behind > 8 and not _fits(p, behind, stop):
                return None
            features.append(_Found(entry, behind, stop, key[0], change))
            at = stop
        return features

    def _teach(self, p: bytes, found: list[_Found]) -> None:
        """Let the templates learn from a record that was read."""
        parts = []
        for entry, tag, end, name, change in found:
            varints = self._lists[p[tag]] == VARINTS
            part = part_of(p, entry, tag, end, name, change.tag, varints, change.checked, change.loss)
            if part is None:
                return
            parts.append(part)
        self._templates.learn(parts)

    def _learn(self, key: tuple[bytes, int], record: int) -> Change | None:
        name, tag = key
        known = tag in self._lists and is_utf8(name, True)
        change = self._decide(name, tag >> 3, record) if known else None
        if len(name) <= LONG_NAME:
            if len(self._changes) >= _MOST:
                self._changes.clear()
            self._changes[key] = change
        return change


def _shortest(p: Buffer, at: int, end: int) -> tuple[int, int]:
    """A size of more than one byte. Raises WireError for one that is drawn out, which the exact way writes anew."""
    size, behind = read_size(p, at, end)
    if not p[behind - 1]:
        raise WireError(at, "a size that is drawn out")
    return size, behind


def _fits(p: Buffer, at: int, end: int) -> bool:
    """Whether the numbers of the list in `[at, end)`, of the usual form, mean the same as int32 and as int64."""
    _, at = read_size(p, at + 1, end)
    _, at = read_size(p, at + 1, end)
    return fit_int32(p[at:end])
