"""What `convert` may be told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from tfrtool.errors import OpenError
from tfrtool.payload.mapping_rules import Rules, Side
from tfrtool.payload.sidecar import Known
from tfrtool.payload.where import Condition
from tfrtool.verbs.convert_shards import Shards
from tfrtool.verbs.options import Options
from tfrtool.verbs.targets import Target


@dataclass(frozen=True, slots=True)
class ConvertOptions(Options):
    """How inputs become outputs.

    `to` is the format of the outputs, that of the first input for None; `source` names an input format that is no
    record file. `compress` is the compression of the outputs: under `auto` that of the first input where the format
    stays, else none. `rules` say what happens to features; `auto_integers` makes int32 of each int64 feature all of
    whose values fit, which takes a pass of its own. `skip_damaged` leaves damaged records out, where otherwise
    nothing is written. Records that fulfil all `conditions` are taken, after the first `skip` of them, up to `limit`.
    `schema` is read and `schema_out` written: names and kinds for the way back. `dry_run` writes nothing.
    """

    to: Target | None = None
    source: str | None = None
    compress: Literal["auto", "none", "gzip", "zlib"] = "auto"
    level: int = 6
    shards: Shards = field(default_factory=Shards)
    rules: Rules = field(default_factory=Rules)
    auto_integers: bool = False
    skip_damaged: bool = False
    conditions: tuple[Condition, ...] = ()
    skip: int = 0
    limit: int | None = None
    schema: str | None = None
    schema_out: str | None = None
    force: bool = False
    dry_run: bool = False

    @property
    def edits(self) -> bool:
        """Whether payloads are read and written anew though the format stays."""
        return self.rules.renames or bool(self.rules.types) or self.schema is not None or self.schema_out is not None

    @property
    def counts_by_headers(self) -> bool:
        """Whether headers alone tell how many records there will be."""
        return not (self.conditions or self.skip_damaged or self.rules.empty == "skip")


_MOST = 1 << 26
"""Bytes of the largest schema that is read."""


def with_schema(rules: Rules, path: str, source: Side, target: Side) -> Rules:
    """The rules, and what a schema tells of names and kinds where the rules do not. Raises OpenError."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST + 1)
    except OSError as error:
        from tfrtool.sources.reasons import reason

        raise OpenError(f"the schema '{path}' cannot be read: {reason(error)}") from error
    try:
        if len(data) > _MOST:
            raise ValueError("it is larger than any schema")
        known = Known.from_json(data)
        if (known.source, known.target) != (source, target):
            raise ValueError(
                f"it leads from {known.source} to {known.target}, and this conversion from {source} to {target}"
            )
    except ValueError as error:
        raise OpenError(f"the schema '{path}' cannot be used: {error}") from None
    return replace(rules, types={**known.types, **rules.types}, rename={**known.rename, **rules.rename})
