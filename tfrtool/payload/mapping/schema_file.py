"""Record the names and kinds of features beside an output that cannot hold them, and load them for the way back.

A schema is a JSON object: `tfrtool_schema` (1, the version of this layout), `from` and `to` (`example` or `ofrecord`),
and `features`, of which each has `name` and `kind` in the output and `source_name` and `source_kind` in the input; a
kind is null for a feature without one. What was a feature list has `lengths` too, the name of the feature that has
those of its steps. Names that are not UTF-8 are `{"bytes": "<base64>"}`.
"""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress
from typing import Any

from tfrtool.payload.mapping.rules import KINDS, Refused, Side
from tfrtool.payload.text import json_bytes, text_of
from tfrtool.payload.wire.example import ListKind

_HINT = "a schema cannot carry both: convert without {schema_out}"
_VERSION = 1
Row = tuple[bytes, "ListKind | None", bytes, "ListKind | None"]


class SchemaRecorder:
    """Learns what became of each feature; `note_feature` is the `seen` of a `Mapper`."""

    def __init__(self, source: Side, target: Side) -> None:
        self.source = source
        self.target = target
        self._rows: dict[bytes, Row] = {}
        self._known: set[Row] = set()
        self._lengths: dict[bytes, bytes] = {}

    def note_feature(self, name: bytes, kind: ListKind | None, new: bytes, new_kind: ListKind | None) -> None:
        """Note a feature; raises Refused where one of that name was of another kind, in another record or in this."""
        row = (name, kind, new, new_kind)
        if row in self._known:
            return
        before = self._rows.get(new)
        if before is None or before[1] is None:
            self._rows[new] = row
        elif kind is not None:
            where = "in an earlier record or in this one" if name == before[0] else f"as '{text_of(before[0])}'"
            raise Refused(name, f"it is {before[1]} {where}, and {kind} here", _HINT)
        self._known.add(row)

    def flattened(self, name: bytes, new: bytes, lengths: bytes) -> None:
        """Record a flattened feature list, even if no step of it has a kind."""
        self._rows.setdefault(new, (name, None, new, None))
        self._lengths[new] = lengths

    def to_json(self) -> bytes:
        """Return the schema as a file holds it."""
        import json

        features = [
            {"name": _text(new), "kind": new_kind, "source_name": _text(name), "source_kind": kind}
            | ({"lengths": _text(self._lengths[new])} if new in self._lengths else {})
            for name, kind, new, new_kind in self._rows.values()
        ]
        whole = {"tfrtool_schema": _VERSION, "from": self.source, "to": self.target, "features": features}
        return json.dumps(whole, indent=1).encode() + b"\n"


class LoadedSchema:
    """What a schema tells of the way back: the kind of each feature, and its name, by the name that it has now.

    `lists` has the features that were feature lists, by the name that they get, and the features of their lengths.
    """

    def __init__(self, source: Side, target: Side) -> None:
        self.source = source
        self.target = target
        self.types: dict[bytes, ListKind] = {}
        self.rename: dict[bytes, bytes] = {}
        self.lists: dict[bytes, bytes] = {}

    @classmethod
    def from_json(cls, data: bytes) -> LoadedSchema:
        """Read a schema; raises ValueError, in words, where it is none."""
        import json

        try:
            whole = json.loads(data)
            if whole["tfrtool_schema"] != _VERSION:
                raise ValueError(f"its layout is {whole['tfrtool_schema']!r}, and this version reads {_VERSION}")
            known = cls(_side(whole["to"]), _side(whole["from"]))
            if not isinstance(whole["features"], list):
                raise ValueError("it is no schema that tfrtool wrote: its 'features' are no array")
            for row in whole["features"]:
                name, before, kind = _name(row["name"]), _name(row["source_name"]), row["source_kind"]
                if kind is not None:
                    if kind not in KINDS[known.target]:
                        raise ValueError(f"an {known.target} has no {kind!r}")
                    known.types[name] = kind
                if "lengths" in row:
                    if known.target != "example":
                        raise ValueError(f"an {known.target} has no feature lists")
                    known.lists[before] = _name(row["lengths"])
                if before != name:
                    known.rename[name] = before
        except KeyError as error:
            raise ValueError(f"it is no schema that tfrtool wrote: it has no {error}") from None
        except (TypeError, AttributeError, RecursionError):
            raise ValueError("it is no schema that tfrtool wrote: a part of it is of another kind") from None
        return known


def not_one(data: bytes) -> str | None:
    """Why a file of JSON is no schema of a conversion at all; None where it may be meant to be one."""
    import json

    for text in (data, data[: data.find(b"\n") + 1]):  # all of it, or the first of several lines
        with suppress(ValueError, RecursionError):
            whole = json.loads(text)
            if isinstance(whole, dict) and "tfrtool_schema" in whole:
                return None
            seen = isinstance(whole, dict) and whole.get("type") in ("schema", "file")  # the latter by --json
            said = ", but what the job schema tells of features" if seen else ""
            return f"it is no schema that tfrtool wrote{said}"
    return None


def _side(text: object) -> Side:
    if text == "example":
        return "example"
    if text == "ofrecord":
        return "ofrecord"
    raise ValueError(f"{text!r} is neither example nor ofrecord")


def _text(name: bytes) -> Any:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return json_bytes(name)


def _name(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return b64decode(value["bytes"], validate=True)
