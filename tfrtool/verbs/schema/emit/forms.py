"""List the emit formats by name, and import the module of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from tfrtool.payload.schema.dataset import Schema
    from tfrtool.payload.schema.table import Table

Form = Literal["json", "tf", "pbtxt", "tfds", "dali", "tfrecord"]
FORMS: tuple[Form, ...] = get_args(Form)


def table_of(schema: Schema, what: str) -> Table | None:
    """Return the features that a format describes: those of most records or, for a reader of Examples, of Examples.

    None means all.
    """
    return None if what == "json" else schema.table if what == "pbtxt" else schema.examples


def emit(schema: Schema, form: Form) -> str:
    """Return a schema as the text that `tfrtool schema --emit FORM` writes.

    `tfds`, which writes two files, gives one JSON object of both by their names. Raises `UnsupportedError` if the
    format cannot hold the schema, ValueError for an unknown format.
    """
    if form not in FORMS:
        raise ValueError(f"form is {', '.join(FORMS[:-1])} or {FORMS[-1]}, not {form!r}")
    module = import_module(f"tfrtool.verbs.schema.emit.{'as_json' if form == 'json' else form}")
    make: Callable[[Schema], str] = module.emit
    return make(schema)


def notes(schema: Schema, what: str) -> Iterator[str]:
    """Yield a remark for each feature that the other program cannot read, or reads differently than expected.

    Each is a sentence that begins with the name as it is in the data, not escaped. JSON needs none.
    """
    if what != "json":
        module = import_module(f"tfrtool.verbs.schema.emit.{what}")
        said: Iterator[str] = module.notes(schema)
        yield from said
