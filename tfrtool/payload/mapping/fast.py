"""Map records in the common form by changing tags in place and copying all else.

What has another form, or needs more than other tags, is left to `Mapper.exactly`; both give the same bytes.

Small records take a shorter way still: one regular expression a layout, learnt from records that were read before.
Records of a data set hold the same features in the same order, and differ in few sizes. What is between the values of
such a record is then one of few byte strings, so that one match proves its whole structure, and its groups are what is
between the tags that change. A layout knows only what it has read, so that it never takes what `TagRewriter` would not;
a record that fits none is read entry by entry.

A tag that changes is behind a look-ahead, which fixes the sizes up to the values, and between two groups: the text up
to the tag, and the list behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.payload.mapping.lists import fit_int32
from tfrtool.payload.text import is_utf8
from tfrtool.payload.wire.example import PACKED, TAGS, Column, HeaderCache, entries_within, is_shortest, sized
from tfrtool.payload.wire.reader import LEN, Buffer, WireError, check_varints, read_size, varint

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
        """Return the features of the record in `p[at:]` with their new tags, or None where no layout fits."""
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
    """Return the feature whose entry begins at `entry`, whose list has its tag at `tag`, and which ends at `end`.

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


_ONE = 1 << 3 | LEN
_IN_ONE_PIECE = 1 << 12
"""Payloads below this many bytes are copied whole and changed, larger ones given in pieces."""


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
        self._tags = TAGS[source]
        self._cache = HeaderCache(source)
        self._wrapped = source == "example"
        self._wraps = target == "example"
        self._decide = decide
        self._layouts_cache = LayoutCache()

    def convert(self, view: memoryview, record: int) -> list[bytes | memoryview] | None:
        """Return the payload on the other side, in parts that may be views of it; None where it takes the exact way."""
        small = len(view) < _IN_ONE_PIECE
        p = bytes(view) if small else view  # bytes are twice as fast to look into
        try:
            end, at = len(p), 0
            if self._wrapped:
                stop, at = sized(p, 0, end, _ONE)
                if stop != end or not is_shortest(p, 0, at):
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
        """Return the payloads of the first of some records, as many as are all alike; often none."""
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
        """Return each feature and what becomes of it; None where one needs the exact way.

        Raise IndexError or WireError for another form.
        """
        features: list[_Found] = []
        for entry, header in entries_within(p, at, end, self._cache):
            column = header.column
            change = column.note
            if change is None:
                change = column.note = self._decided(column, record) or False
            if change is False or not header.shortest:
                return None
            begin, stop = entry + header.head, entry + header.total
            if header.count == PACKED:
                check_varints(p, begin, stop)
                if change.checked and stop - begin > 4 and not fit_int32(p[begin:stop]):
                    return None
            features.append(_Found(entry, entry + header.tag, stop, column.name, change))
        return features

    def _teach(self, p: bytes, found: list[_Found]) -> None:
        """Let the templates learn from a record that was read."""
        parts = []
        for entry, tag, end, name, change in found:
            varints = self._tags[p[tag]] in ("int64", "int32")
            part = part_of(p, entry, tag, end, name, change.tag, varints, change.checked, change.loss)
            if part is None:
                return
            parts.append(part)
        self._layouts_cache.learn(parts)

    def _decided(self, column: Column, record: int) -> TagChange | None:
        number = next((tag >> 3 for tag, kind in self._tags.items() if kind == column.kind), None)
        return None if number is None or not is_utf8(column.name, True) else self._decide(column.name, number, record)
