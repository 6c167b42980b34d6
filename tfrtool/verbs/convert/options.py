"""Define and check the options of `convert`."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import realpath
from typing import Any, Literal

from tfrtool.errors import OptionError
from tfrtool.payload.filter import Condition
from tfrtool.payload.mapping.rules import KINDS, Rules, Side
from tfrtool.payload.wire.example import ListKind
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.convert.shards import MOST_SHARDS, Shards
from tfrtool.verbs.formats.base import ROWS, SUFFIXES, Target
from tfrtool.verbs.options import Options


@dataclass(frozen=True)
class ConvertOptions(Options):
    """How inputs become outputs.

    `to` is the output format; None means by the name of the output, else the format of the first input. `source` is the
    format of row inputs; None detects it. `compress` is the compression of the outputs; `auto` means by the name of the
    output, else that of the first input if the format stays the same, else none. `rules` define how features are
    mapped. `auto_integers` writes int32 for each int64 feature whose values all fit, which takes a separate pass.
    `skip_damaged` leaves damaged records out; without it, damage means that nothing is written. With `payload`, a
    record whose payload is not of the kind of its file counts as damaged. Records must match all `conditions`; the
    first `skip` matches are skipped, and at most `limit` are taken. `schema` is read and `schema_out` written: names
    and kinds, to restore the original. `dry_run` writes nothing. `asked` has the options that were given explicitly
    with their default value, which is then enforced where it otherwise has no effect.
    """

    to: Target | None = None
    source: str | None = None
    compress: CompressionChoice = "auto"
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
    asked: frozenset[str] = frozenset()

    def edits(self, to: Side, of_rows: bool) -> bool:
        """Whether payloads are rewritten although the message type stays. `of_rows`: the input or the output is rows.

        A mapper does not use a schema of rows, and rows omit unknown fields.
        """
        rules = self.rules
        asked = rules.renames or rules.types or rules.no_kind != "keep"
        integers = to == "ofrecord" and (rules.integers != "int64" or self.auto_integers)
        schema = self.schema is not None or self.schema_out is not None or rules.unknown != "refuse"
        return bool(asked) or integers or (schema and not of_rows)

    @property
    def gates(self) -> bool:
        """Whether payloads that are copied unchanged must be checked for unknown fields."""
        return self.rules.unknown == "refuse" and "unknown" in self.asked

    @property
    def counts_by_headers(self) -> bool:
        """Whether headers are enough to count the output records."""
        return not (self.conditions or self.skip_damaged or self.rules.empty == "skip")


def refuse_unfit(options: ConvertOptions, target: Target | None) -> None:
    """Raise OptionError for options that have no effect with the output format."""
    if target is None:
        return
    for name, why in _misfits(options, target):
        raise OptionError(f"{name} cannot be combined with {{to={target}}}: {why}")


def _misfits(options: ConvertOptions, target: Target) -> Iterator[tuple[str, str]]:
    rules = options.rules
    integers, doubles = rules.integers != "int64" or options.auto_integers, rules.double != "exact"
    empties = rules.empty != "refuse" or "empty" in options.asked
    if target == "ofrecord":
        if doubles:
            yield "{double}", "it is about Examples; an OFRecord holds doubles as they are"
    elif target == "tfrecord":
        if integers:
            yield "{int}", "it is about OFRecord; an Example has no int32"
        if empties:
            yield "{empty}", "it is about OFRecord; an Example may be empty"
    else:
        if integers:
            yield "{int}", "it is about OFRecord; rows keep each kind"
        if doubles:
            yield "{double}", "rows hold doubles as they are"
        if empties:
            yield "{empty}", "it is about OFRecord; a row may be empty"
        if rules.unknown == "keep":
            yield "{unknown=keep}", "a row has no place for them; {unknown=drop} leaves them out"
        if target == "parquet" and options.compress not in ("auto", "none"):
            yield "{compress}", "a Parquet file packs its columns itself"


def convert_options(
    *,
    to: Target | None = None,
    source: str | None = None,
    compress: CompressionChoice = "auto",
    shards: int | None = None,
    records_per_shard: int | None = None,
    shard_size: int | None = None,
    double: Literal["refuse", "exact", "round", "bytes"] = "exact",
    int: Literal["int64", "int32", "auto"] = "int64",
    types: Mapping[str, ListKind] | None = None,
    no_kind: Literal["keep", "drop", "refuse"] = "keep",
    empty: Literal["refuse", "skip", "keep"] | None = None,
    unknown: Literal["refuse", "keep", "drop"] | None = None,
    sequence: Literal["refuse", "flatten"] = "refuse",
    select: Iterable[str] = (),
    drop: Iterable[str] = (),
    rename: Mapping[str, str] | None = None,
    strip_prefix: str = "",
    where: Iterable[str] = (),
    skip: builtins.int = 0,
    n: builtins.int | None = None,
    skip_damaged: bool = False,
    payload: bool = False,
    schema: PathLike | None = None,
    schema_out: PathLike | None = None,
    force: bool = False,
    dry_run: bool = False,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
) -> ConvertOptions:
    """Return options from the names of the command line. Raises ValueError or TypeError for invalid values.

    `empty` and `unknown` of None are `refuse` where they matter. `unknown="refuse"` has payloads looked at for it that
    would go out as they came in.
    """
    from tfrtool.verbs.options import path_or_none

    _refuse_values(locals())
    schema, schema_out = path_or_none("schema", schema), path_or_none("schema_out", schema_out)
    select, drop, where = (_texts(*one) for one in (("select", select), ("drop", drop), ("where", where)))
    if sum(one is not None for one in (shards, records_per_shard, shard_size)) > 1:
        raise ValueError("a number of shards, records in each and bytes in each exclude one another: give one")
    if source is not None and format != "auto":
        raise ValueError(f"the inputs are {source} or {format}, not both: leave one out")
    if schema_out == "-":
        raise OptionError("{schema_out} names a file: standard output is for records and reports")
    if schema is not None and schema_out is not None and realpath(schema) == realpath(schema_out):
        raise OptionError("{schema_out} would replace the schema that {schema} reads: give it another name")
    if shards is not None and shards > MOST_SHARDS:
        raise ValueError(f"at most {MOST_SHARDS:,} shards can be written")
    for kind in (types or {}).values():
        if kind not in KINDS["ofrecord"]:
            raise ValueError(f"{kind!r} is no kind: {', '.join(KINDS['ofrecord'])}")
    rules = Rules(
        double=double,
        integers="int64" if int == "auto" else int,
        types={_name(name): kind for name, kind in (types or {}).items()},
        no_kind=no_kind,
        empty=empty or "refuse",
        unknown=unknown or "refuse",
        sequence=sequence,
        select=select,
        drop=drop,
        rename={_name(old): _name(new) for old, new in (rename or {}).items()},
        strip_prefix=_name(strip_prefix),
    )
    return ConvertOptions(
        format=format,
        compression=compression,
        to=to,
        source=source,
        compress=compress,
        shards=Shards(shards, records_per_shard, shard_size),
        rules=rules,
        auto_integers=int == "auto",
        skip_damaged=skip_damaged,
        payload=payload,
        conditions=tuple(map(Condition.parse, where)),
        skip=skip,
        limit=n,
        schema=schema,
        schema_out=schema_out,
        force=force,
        dry_run=dry_run,
        asked=frozenset(name for name, given in (("empty", empty), ("unknown", unknown)) if given is not None),
    )


def _texts(option: str, given: Iterable[str]) -> tuple[str, ...]:
    texts = tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{option} is a list of texts, and {text!r} is none")
    return texts


def _name(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


_CHOICES: dict[str, tuple[str | None, ...]] = {
    "to": (None, *SUFFIXES),
    "source": (None, *ROWS),
    "compress": ("auto", "none", "gzip", "zlib"),
    "double": ("refuse", "exact", "round", "bytes"),
    "int": ("int64", "int32", "auto"),
    "no_kind": ("keep", "drop", "refuse"),
    "empty": (None, "refuse", "skip", "keep"),
    "unknown": (None, "refuse", "keep", "drop"),
    "sequence": ("refuse", "flatten"),
}
_SWITCHES = ("skip_damaged", "payload", "force", "dry_run")
_LEAST = {"skip": 0, "n": 0, "shards": 1, "records_per_shard": 1, "shard_size": 1}


def _refuse_values(given: Mapping[str, Any]) -> None:
    """Raise ValueError or TypeError for the first invalid value, as Click does on the command line."""
    from tfrtool.verbs.options import refuse_options, whole_number

    refuse_options(**{option: given[option] for option in ("format", "compression", *_SWITCHES)})
    for option, allowed in _CHOICES.items():
        if given[option] not in allowed:
            raise ValueError(f"{option} is {' or '.join(filter(None, allowed))}, not {given[option]!r}")
    for option in ("select", "drop", "where"):
        if isinstance(given[option], str | bytes):
            raise ValueError(f"{option} is a list, as in {option}=[{given[option]!r}], not one text")
        if not isinstance(given[option], Iterable):
            raise TypeError(f"{option} is a list of texts, not {given[option]!r}")
    for option, least in _LEAST.items():
        if given[option] is None and option == "skip":
            raise TypeError("skip is a whole number of 0 or more, not None")
        if given[option] is not None:
            try:
                whole_number(option, given[option], least)
            except TypeError as error:
                raise ValueError(str(error)) from None
    for option in ("types", "rename"):
        pairs = given[option]
        if pairs is not None and not isinstance(pairs, Mapping):
            raise TypeError(f"{option} is a mapping of texts to texts, as in {option}={{'a': 'b'}}, not {pairs!r}")
        if not all(isinstance(text, str) for pair in (pairs or {}).items() for text in pair):
            raise ValueError(f"{option} is a mapping of texts to texts")
    if not isinstance(given["strip_prefix"], str):
        raise TypeError(f"strip_prefix is a text, not {given['strip_prefix']!r}")
