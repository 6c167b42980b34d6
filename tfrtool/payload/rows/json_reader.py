"""Read JSON objects as rows: what `json_writer` writes, and what other programs do."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Callable, Container
from typing import Any

from tfrtool.payload.rows.columns import (
    ROUNDED_TO_DOUBLE,
    Double,
    RowColumn,
    RowSchema,
    coerce_cell,
    decimals_to_float32,
    integers,
)
from tfrtool.payload.rows.row import NO_KIND, Cell, Message, Row, RowChange, RowError
from tfrtool.payload.rows.values import CODES
from tfrtool.payload.wire.example import ListKind
from tfrtool.report import LossKind

NAMED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Floats that JSON has no numbers for."""
EMPTY = LossKind("empty-list", "an empty list of no kind is a feature of no kind", lost=False)
BARE = LossKind("bare-nan", "NaN or an infinity without quotes, which is no JSON, taken for a float", lost=False)
MERGED = LossKind("integers-as-floats", "integers taken for floats, as other values of the feature are", lost=False)
BOOLEAN = LossKind("booleans", "true and false became 1 and 0", lost=False)
_BEARS = {*CODES, "bytes"}
_PARTS = ("context", "feature_lists")


class BadJson(ValueError):
    """A line that is no JSON: `why`, and the `column`, counted from 1, in characters."""

    def __init__(self, why: str, column: int) -> None:
        super().__init__(why)
        self.why = why
        self.column = column


class JsonParser:
    """Makes rows of lines. With a schema its kinds count; without, each value tells its own (see `json_writer`).

    `message` None: that of the schema, else `sequence_example` if the first object has the two parts of one and nothing
    else, else `otherwise`. `double` says what becomes of doubles in an Example. An integer is taken for a float where
    the schema or another number of its list says so; of the features in `merged` that is told. What is not `wanted`, by
    its name, is not looked at.
    """

    def __init__(
        self,
        message: Message | None = None,
        schema: RowSchema | None = None,
        *,
        double: Double = "exact",
        otherwise: Message = "example",
        merged: Container[str] = (),
        wanted: Callable[[str], bool] | None = None,
    ) -> None:
        import json

        self.message = message or (schema.message if schema else None)
        self._schema = schema
        self._double = double
        self._otherwise: Message = otherwise
        self._merged = merged
        self._wanted = wanted
        self._decode = json.JSONDecoder(parse_constant=_Bare, object_pairs_hook=_unique).decode
        self._error = json.JSONDecodeError

    def row(self, line: str, changes: list[RowChange]) -> Row:
        """Return the row of a line; what was read otherwise than it was written is added to `changes`.

        Raises BadJson where the line is no JSON, RowError where it is and no row.
        """
        return self.row_of(self.object(line), changes)

    def object(self, line: str) -> dict[str, Any]:
        """Return the object of a line, not looked into."""
        try:
            value = self._decode(line)
        except self._error as error:
            raise BadJson(error.msg[:1].lower() + error.msg[1:], error.pos + 1) from None
        except RecursionError:
            raise BadJson("it nests too deep", 1) from None
        except RowError:
            raise
        except ValueError:  # Python refuses to read integers of more than 4300 digits
            raise BadJson("a number of too many digits", 1) from None
        if not isinstance(value, dict):
            raise BadJson(f"{_what(value)} where an object is looked for", 1)
        return value

    def row_of(self, value: dict[str, Any], changes: list[RowChange]) -> Row:
        """Return the same of an object that was parsed already."""
        if self.message is None:
            both = all(isinstance(value.get(part), dict) for part in _PARTS) and len(value) == 2
            self.message = "sequence_example" if both else self._otherwise
        row = Row(self.message)
        columns = self._schema.features if self._schema else {}
        if self.message != "sequence_example":
            self._features(value, columns, row.features, changes)
            return row
        for part in value:
            if part not in _PARTS or not isinstance(value[part], dict):
                raise RowError("a SequenceExample is an object of two objects, 'context' and 'feature_lists'", part)
        self._features(value.get("context", {}), columns, row.features, changes)
        columns = self._schema.feature_lists if self._schema else {}
        for name, steps in value.get("feature_lists", {}).items():
            _check_name(name)
            if steps is None or (self._wanted and not self._wanted(name)):
                continue
            if not isinstance(steps, list):
                raise RowError(f"{_what(steps)} where the array of the steps is looked for", name)
            column = columns.get(name)
            row.feature_lists[name] = [self._cell(name, step, column, changes) for step in steps]
        return row

    def _features(
        self, value: dict[str, Any], columns: dict[str, RowColumn], cells: dict[str, Cell], changes: list[RowChange]
    ) -> None:
        for name, item in value.items():
            _check_name(name)
            if item is not None and (self._wanted is None or self._wanted(name)):
                cells[name] = self._cell(name, item, columns.get(name), changes)

    def _cell(self, name: str, value: Any, column: RowColumn | None, changes: list[RowChange]) -> Cell:
        assert self.message is not None
        kind = column.kind if column else None
        if isinstance(value, dict):
            if not value:
                return NO_KIND
            kind, value = _borne(name, value)
            if kind == "bytes":
                return Cell(kind, [_base64(name, item) for item in (value if isinstance(value, list) else [value])])
        items = value if isinstance(value, list) else [value]
        if kind is None:
            if not items:
                changes.append(RowChange(name, EMPTY))
                return NO_KIND
            kind = infer_kind(name, items)
        if kind == "float" and name in self._merged and not any(isinstance(item, float | str) for item in items):
            changes.append(RowChange(name, MERGED))
        return coerce_cell(name, _typed(name, kind, items, changes), self.message, self._double, changes)


class _Bare(float):
    """A number that JSON does not have, and Python and others write all the same: NaN, Infinity, -Infinity."""


class _Rounded(float):
    """The double nearest to an integer of too many digits."""


def infer_kind(name: str, items: list[Any]) -> ListKind:
    """The kind of a list that is not empty. Raises RowError where numbers and texts mix, or something is neither."""
    types = {float if one is _Bare else one for one in map(type, items)}
    if types <= {int, bool}:
        return "int64"
    if types <= {str, dict}:
        return "bytes"
    if (
        types <= {int, bool, float}
        or types <= {int, float, str}
        and all(item in NAMED for item in items if isinstance(item, str))
    ):
        return "float"
    odd = next((item for item in items if not isinstance(item, int | float | str | dict)), None)
    if odd is not None or type(None) in types:
        raise RowError(f"{_what(odd)} where a value is looked for", name)
    raise RowError("numbers and texts in one list", name)


def _typed(name: str, kind: ListKind, items: list[Any], changes: list[RowChange]) -> Cell:
    if kind == "bytes":
        return Cell(kind, [_bytes(name, item) for item in items])
    types = set(map(type, items))
    if bool in types:
        changes.append(RowChange(name, BOOLEAN))
    if _Bare in types:
        changes.append(RowChange(name, BARE))
    if kind in ("int64", "int32"):
        whole = items if types == {int} else [_integer(name, kind, item) for item in items]
        return Cell(kind, integers(name, kind, whole))
    plain = types == {float} and math.inf not in items and -math.inf not in items
    numbers = items if plain else [_number(name, kind, item) for item in items]
    rounded = any(type(number) is _Rounded for number in numbers)
    if kind == "float":
        return Cell(kind, decimals_to_float32(name, numbers, changes, rounded))
    from array import array

    if rounded:
        changes.append(RowChange(name, ROUNDED_TO_DOUBLE))
    return Cell(kind, array("d", numbers))


def _integer(name: str, kind: str, item: Any) -> int:
    if isinstance(item, int):
        return int(item)
    if isinstance(item, float) and item.is_integer():
        if abs(item) < 2**53:
            return int(item)
        raise RowError(f"{item!r} where {kind} is looked for: from 2^53 on, write it without a point or exponent", name)
    raise RowError(f"{_what(item)} where {kind} is looked for", name)


def _number(name: str, kind: str, item: Any) -> float:
    if isinstance(item, float):
        if math.isinf(item) and type(item) is float:  # a number too large for a double
            raise RowError(f"a number beyond {kind}", name)
        return item
    if isinstance(item, int):
        try:
            number = float(item)
        except OverflowError:
            raise RowError(f"a number beyond {kind}", name) from None
        return number if number == item else _Rounded(number)
    if isinstance(item, str) and item in NAMED:
        return NAMED[item]
    raise RowError(f"{_what(item)} where {kind} is looked for", name)


def _borne(name: str, value: dict[str, Any]) -> tuple[ListKind, Any]:
    """Return the kind that a value bears, and the value."""
    key = next(iter(value))
    if len(value) != 1 or key not in _BEARS:
        known = ", ".join(sorted(_BEARS))
        raise RowError(f"an object with the key {key[:40]!r}; a value may be an object of one key: {known}", name)
    return key, value[key]


def _bytes(name: str, item: Any) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError:
            raise RowError("half a surrogate pair, which is no text", name) from None
    if isinstance(item, dict) and len(item) == 1 and "bytes" in item:
        return _base64(name, item["bytes"])
    raise RowError(f"{_what(item)} where text or bytes are looked for", name)


def _base64(name: str, item: Any) -> bytes:
    if not isinstance(item, str):
        raise RowError(f"{_what(item)} where base64 is looked for", name)
    try:
        return b64decode(item, validate=True)
    except ValueError as error:
        raise RowError(f"no base64: {str(error)[:1].lower()}{str(error)[1:]}", name) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise RowError("the name stands twice in one object", name)
            seen.add(name)
    return found


def _check_name(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise RowError("half a surrogate pair in the name, which is no text", name) from None


def _what(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "an integer", float: "a number", str: "a text", list: "an array"}
    return names.get(type(value), "an object")


def locate(line: str, feature: str | None) -> int:
    """Return the column, counted from 1, of the last key of that name in an object that parses; 1 if there is none.

    The parts of a SequenceExample are looked into.
    """
    if feature is None:
        return 1
    import json

    return _search(line, _skip(line, 0), feature, json.JSONDecoder(parse_constant=str), 2)[0] or 1


def _search(line: str, at: int, feature: str, decoder: Any, depth: int) -> tuple[int, int]:
    """Return the column, 0 for none, and the offset behind the object that begins at `at`."""
    found = 0
    at = _skip(line, at + 1)
    while line[at] == '"':
        key, behind = decoder.raw_decode(line, at)
        if key == feature:
            found = at + 1
        at = _skip(line, _skip(line, behind) + 1)  # behind the colon
        if depth > 1 and key in ("context", "feature_lists") and line[at] == "{":
            inner, at = _search(line, at, feature, decoder, depth - 1)
            found = inner or found
        else:
            at = decoder.raw_decode(line, at)[1]
        at = _skip(line, at)
        if line[at] != ",":
            break
        at = _skip(line, at + 1)
    return found, at + 1


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in " \t\r\n":
        at += 1
    return at
