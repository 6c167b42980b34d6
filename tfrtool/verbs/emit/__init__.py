"""A schema as other programs take it, one format a module: each turns a `Schema` into text.

What goes into code is quoted as ASCII literals, so that no name can be more than a name. Where a reader cannot take
what the data holds, the text says so in a comment, and `refused` gives the reason where it can take none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrtool.payload.schema.schema import Schema
    from tfrtool.payload.schema.table import Table

TEXTS = ("json", "tf", "pbtxt", "dali", "tfrecord")
"""The formats of one text; `tfds` is two files, which `tfds.write` makes."""


def table_of(schema: Schema, what: str) -> Table | None:
    """The features that a format describes: those of most records or, for a reader of Examples, of Examples.

    None for all.
    """
    return None if what == "json" else schema.table if what == "pbtxt" else schema.examples


def emit(schema: Schema, what: str) -> str:
    """The schema in one of the formats of `TEXTS`. Raises `UnsupportedError` where that cannot hold it."""
    module = import_module(f"tfrtool.verbs.emit.{'as_json' if what == 'json' else what}")
    make: Callable[[Schema], str] = module.emit
    return make(schema)


def notes(schema: Schema, what: str) -> Iterator[str]:
    """What is to be said of features that another program gets otherwise than one may think, or not at all.

    A sentence each, beginning with the name as it is in the data; not yet safe. JSON holds all there is.
    """
    if what != "json":
        module = import_module(f"tfrtool.verbs.emit.{what}")
        said: Iterator[str] = module.notes(schema)
        yield from said
