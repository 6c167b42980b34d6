"""The short way through records as every common writer lays them out: tags are changed in place, all else is copied.

What is not of that form, or needs more than other tags, is left to the exact way, and both give the same bytes.

The shortest way, for small records: one regular expression a layout, learnt from records that were read before.

Records of a data set hold the same features in the same order, and differ in few sizes. What stands between the values
of such a record is then one of few byte strings, so that one match proves its whole structure, and its groups are what
stands between the tags that change. A template knows only what it has seen, so that it never takes what the quick way
would not; a record that fits none takes that way.

A tag that changes stands behind a look-ahead, which settles the sizes up to the values, and between two groups: the
text up to the tag, and the list behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.payload.mapping.lists import fit_int32
from tfrtool.payload.text import is_utf8
from tfrtool.payload.wire.example import EXAMPLE_LISTS, OFRECORD_LISTS, VARINTS, usual_list
from tfrtool.payload.wire.reader import LEN, LONG_NAME, Buffer, WireError, read_size, varint

if TYPE_CHECKING:
    from tfrtool.payload.mapping.rules import Side
    from tfrtool.report import Loss


LARGEST = 1 << 11
"""Bytes of the largest payload that is looked up: of larger ones the quick way takes less than their checksum."""

_LAYOUTS = 4
_ALTERNATIVES = 80
_LEARN_FIRST = 1 << 9
_LEARN_MOST = 1 << 13
"""Records from which a layout is learnt, and after which it is made for the first and for the last time: making it
takes as long as mapping a thousand records."""
_INT32 = {
    5: rb"[\x80-\xff]{4}[\x00-\x07]",
    10: rb"[\x80-\xff]{4}[\xf8-\xff]\xff{4}\x01",
}


class Part(NamedTuple):
    """One feature of a record that was read: `head` are the bytes from its entry to its values, of which `size` follow.

    `tag` is where the tag of the list stands in `head`, and `new` what it becomes; `checked` is that of `TagChange`.
    """

    name: bytes
    head: bytes
    tag: int
    new: int
    size: int
    varints: bool
    checked: bool
    loss: Loss | None


class _Layout:
    """What is known of the records that have the same features in the same order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.heads: list[dict[bytes, Part]] = [{} for _ in parts]
        self.losses = [part.loss for part in parts if part.loss is not None]
        news = {part.new for part in parts if part.head[part.tag] != part.new}
        self.usable = self.learns = len(news) < 2
        self.new = bytes(news)
        self.match: Callable[..., re.Match[bytes] | None] | None = None
        self._seen = 0
        self._due = _LEARN_FIRST

    def learn(self, parts: Sequence[Part]) -> None:
        """Take in one more record; now and then the template is made anew."""
        for heads, part in zip(self.heads, parts, strict=True):
            heads[part.head] = part
        self._seen += 1
        if max(map(len, self.heads)) > _ALTERNATIVES:
            self.usable = self.learns = False
        elif self._seen >= self._due:
            self._due *= 4
            self.learns = self._due <= _LEARN_MOST
            self.match = re.compile(b"(" + b"".join(map(_pattern, self.heads)) + b")", re.DOTALL).fullmatch


def _pattern(heads: dict[bytes, Part]) -> bytes:
    parts = list(heads.values())
    if parts[0].head[parts[0].tag] == parts[0].new:
        return _either(re.escape(part.head) + _values(part) for part in parts)
    tag = parts[0].tag
    ahead = _either(re.escape(part.head) for part in parts)
    behind = _either(re.escape(part.head[tag + 1 :]) + _values(part) for part in parts)
    return b"(?=" + ahead + b").{%d}).(" % tag + behind


def _either(patterns: Iterable[bytes]) -> bytes:
    found = sorted(set(patterns))
    return found[0] if len(found) == 1 else b"(?>" + b"|".join(found) + b")"


def _values(part: Part) -> bytes:
    if not part.varints:
        return b".{%d}" % part.size
    if part.checked and part.size > 4:
        return _INT32[part.size]
    return b".{%d}[\x00-\x7f]" % (part.size - 1)


class LayoutCache:
    """Templates for the records of one pass."""

    def __init__(self) -> None:
        self._layouts: dict[tuple[tuple[bytes, int], ...], _Layout] = {}
        self._ready: list[_Layout] = []
        self.learning = True

    def convert(self, p: bytes, at: int, record: int) -> bytes | None:
        """The features of the record in `p[at:]` with their new tags, or None where no template fits."""
        for layout in self._ready:
            assert layout.match is not None
            found = layout.match(p, at)
            if found is not None:
                for loss in layout.losses:
                    if loss.last != record:
                        loss.records += 1
                        loss.last = record
                return layout.new.join(found.groups())
        return None

    def many(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], which: range, wrapped: bool, first: int
    ) -> list[bytes]:
        """The same for `view[begins[i]:ends[i]]` with `i` in `which`, up to the first that the first template misses.

        `wrapped`: the features stand in one field of the record. `first` is the number of record `which[0]`.
        """
        found: list[bytes] = []
        if not self._ready:
            return found
        layout = self._ready[0]
        match, join = layout.match, layout.new.join
        assert match is not None
        at = 0
        for i in which:
            begin, end = begins[i], ends[i]
            p = bytes(view[begin:end])
            if wrapped:
                size = end - begin
                if size < 0x82 and size > 2:
                    at = 2
                    if p[1] != size - 2 or p[0] != 0x0A:
                        break
                elif size < LARGEST and size > 3:
                    at = 3
                    if p[1] < 0x80 or p[2] > 0x7F or (p[1] & 0x7F | p[2] << 7) != size - 3 or p[0] != 0x0A:
                        break
                else:
                    break
            one = match(p, at)
            if one is None:
                break
            found.append(join(one.groups()))
        if found:
            for loss in layout.losses:
                loss.records += len(found)
                loss.last = first + len(found) - 1
        return found

    def learn(self, parts: list[Part]) -> None:
        """Take in a record that fitted none."""
        key = tuple((part.name, part.head[part.tag]) for part in parts)
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= _LAYOUTS:  # names in every order, as a hash table has them: a few are learnt
                return
            layout = self._layouts[key] = _Layout(parts)
        if layout.learns:
            layout.learn(parts)
            self._ready = [one for one in self._layouts.values() if one.usable and one.match is not None]
            self.learning = any(one.learns for one in self._layouts.values())


def part_of(
    p: bytes, entry: int, tag: int, end: int, name: bytes, new: int, varints: bool, checked: bool, loss: Loss | None
) -> Part | None:
    """The feature whose entry begins at `entry`, whose list's tag stands at `tag`, and which ends at `end`.

    None where a template could not hold it: of no value, of several pieces, of many numbers, or with a tag to be
    changed behind sizes that vary in width.
    """
    listed, at = read_size(p, tag + 1, end)
    if not listed or p[at] != 0x0A:
        return None
    size, at = read_size(p, at + 1, end)
    if size != end - at or not size:
        return None
    if varints and (size > 10 or (checked and size > 4 and size not in _INT32)):
        return None
    if p[tag] != new and (tag - entry != len(name) + 6 or at - tag != 4):
        return None
    return Part(name, p[entry:at], tag - entry, new, size, varints, checked, loss)


_ONE, _TWO = 1 << 3 | LEN, 2 << 3 | LEN
_IN_ONE_PIECE = 1 << 12
"""Payloads below this many bytes are copied whole and changed, larger ones given in pieces."""
_MOST = 1 << 16


class TagChange(NamedTuple):
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
    change: TagChange


class TagRewriter:
    """Remembers what is done with each feature, by its name and its tag.

    `decide` is asked once with a name, the field number of a list and the number of a record; None says that only the
    exact way will do.
    """

    def __init__(self, source: Side, target: Side, decide: Callable[[bytes, int, int], TagChange | None]) -> None:
        self._lists = EXAMPLE_LISTS if source == "example" else OFRECORD_LISTS
        self._wrapped = source == "example"
        self._wraps = target == "example"
        self._decide = decide
        self._layouts_cache = LayoutCache()
        self._changes: dict[tuple[bytes, int], TagChange | None] = {}

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
                whole = self._layouts_cache.convert(p, at, record)
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
        if end < LARGEST and self._layouts_cache.learning:
            self._teach(bytes(p), found)
        return self._parts(p, at, end, [(one.tag, one.change.tag) for one in found if p[one.tag] != one.change.tag])

    def many(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], which: range, first: int
    ) -> list[bytes]:
        """The payloads of the first of some records, as many as are all alike; often none."""
        found = self._layouts_cache.many(view, begins, ends, which, self._wrapped, first)
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
        self._layouts_cache.learn(parts)

    def _learn(self, key: tuple[bytes, int], record: int) -> TagChange | None:
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
