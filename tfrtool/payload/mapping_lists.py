"""The list of one feature on the other side: which kind it becomes, and its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tfrtool.payload.mapping_names import Types
from tfrtool.payload.mapping_numbers import Inexact, OutOfRange, fit_int32, narrowed, packed_ints, widened
from tfrtool.payload.mapping_read import Item, values_of
from tfrtool.payload.mapping_rules import KINDS, TITLES, Losses, Refused, Rules, Side
from tfrtool.payload.mapping_write import Pieces, as_doubles, int64_as_int32, packed, sized
from tfrtool.payload.usual import ListKind
from tfrtool.payload.wire import signed32, varints
from tfrtool.report import LossKind

_ANEW = LossKind("numbers-anew", "numbers spelled otherwise than protobuf spells them, and written as it does", False)
_AS_BYTES = LossKind("double-as-bytes", "double stored as bytes", lost=False)
_AS_FLOAT = LossKind("double-as-float", "double stored as float, exactly", lost=False)
_ROUNDED = LossKind("double-rounded", "double rounded to float")
AS_INT64 = LossKind("int32-as-int64", "int32 stored as int64", lost=False)


class Lists:
    """Writes lists as `target` holds them under the rules; `losses` gathers what changes."""

    def __init__(self, target: Side, rules: Rules, losses: Losses, met: set[bytes]) -> None:
        """`met` learns the names that `rules` give a kind and a feature has."""
        self._target = target
        self._rules = rules
        self._losses = losses
        self._met = met
        self._types = Types(rules)
        self.numbers = KINDS[target]
        """The field of each kind of list."""

    def content(self, view: memoryview, item: Item, name: bytes, record: int) -> tuple[ListKind, Pieces]:
        """The kind in the output of a feature that has one, and the content of its list there; `name` is its new name.

        Raises Refused for values that the kind cannot hold.
        """
        try:
            return self._content(view, item, name, record)
        except OutOfRange as error:
            raise Refused(item.name, str(error), "leave its kind at int64") from None
        except Inexact as error:
            bytes_hint = "{double=bytes} keeps all as they are"
            if self._rules.double != "round":
                bytes_hint = "{double=round} rounds numbers in the range of float, " + bytes_hint
            raise Refused(item.name, str(error), bytes_hint) from None

    def _content(self, view: memoryview, item: Item, name: bytes, record: int) -> tuple[ListKind, Pieces]:
        assert item.kind is not None
        wanted = self.wanted(item, name)
        pieces = partial(values_of, view, item.lists, item.kind)
        if wanted == item.kind:
            return wanted, self._as_it_is(view, item, pieces)
        change = (item.kind, wanted)
        if change == ("int32", "int64"):
            self._losses.add(item.name, AS_INT64, record)
            return wanted, self._anew(view, item, self._int32s(view, item, pieces), record)
        if change == ("int64", "int32"):
            return wanted, self._anew(view, item, packed(int64_as_int32(pieces())), record)
        if change == ("float", "double"):
            return wanted, packed(widened(b"".join(pieces())))
        if change == ("double", "float"):
            return wanted, self._rounded(item.name, b"".join(pieces()), record)
        if change == ("double", "bytes"):
            self._losses.add(item.name, _AS_BYTES, record)
            return wanted, sized(1, [b"".join(pieces())])
        if change == ("bytes", "double"):
            return wanted, packed(as_doubles(item.name, list(pieces())))
        raise Refused(item.name, f"{item.kind} values cannot become {wanted}", "give {types} another kind, or none")

    def wanted(self, item: Item, name: bytes) -> ListKind:
        """The kind in the output of a feature that has one. Raises Refused where the rules name none that it could."""
        rules, kind = self._rules, item.kind
        self.meet(item, name)
        asked = self._types.asked(item.name, name)
        wanted = rules.kinds.get(item.name) if asked is None else rules.types[asked]
        if wanted is not None:
            if wanted not in self.numbers:
                raise Refused(item.name, f"an {TITLES[self._target]} has no {wanted}", "give {types} another kind")
            return wanted
        if kind == "int64" and self._target == "ofrecord":
            return rules.integers
        if kind == "int32" and self._target == "example":
            return "int64"
        if kind == "double" and self._target == "example":
            if rules.double == "refuse":
                raise Refused(
                    item.name,
                    "doubles, which an Example does not have",
                    "{double=exact} takes those that are floats, {double=round} rounds them, {double=bytes} keeps them",
                )
            return "bytes" if rules.double == "bytes" else "float"
        assert kind is not None
        return kind

    def meet(self, item: Item, name: bytes) -> None:
        """Note that there is a feature of this name, under which its kind may have been asked for."""
        if self._rules.types:
            self._met.update({name, item.name} & self._rules.types.keys())

    def _as_it_is(self, view: memoryview, item: Item, pieces: Callable[[], Iterator[memoryview]]) -> Pieces:
        if len(item.lists) == 1 and not (item.within or item.split):
            return [view[begin:end] for begin, end in item.lists]
        if item.kind == "bytes":
            return [part for piece in pieces() for part in sized(1, [piece])]
        return packed(b"".join(pieces()))

    def _int32s(self, view: memoryview, item: Item, pieces: Callable[[], Iterator[memoryview]]) -> Pieces:
        """The list as it is where its numbers mean the same as int64, else read as int32 and written anew."""
        data = b"".join(pieces())
        if fit_int32(data):
            return self._as_it_is(view, item, pieces)
        return packed(packed_ints(map(signed32, varints(data, 0, len(data)))))

    def _anew(self, view: memoryview, item: Item, pieces: Pieces, record: int) -> Pieces:
        """The pieces; where they are not the list as it stood, and nothing else tells that, it is told."""
        if len(item.lists) == 1 and not item.split:
            begin, end = item.lists[0]
            if b"".join(pieces) != view[begin:end]:
                self._losses.add(item.name, _ANEW, record)
        return pieces

    def _rounded(self, name: bytes, raw: bytes, record: int) -> Pieces:
        floats, changed = narrowed(raw, self._rules.double != "round")
        self._losses.add(name, _ROUNDED if changed else _AS_FLOAT, record)
        return packed(floats)
