"""What records mean: wire reading, the kinds of messages, their features, and what bytes values hold.

Read it in this order: `outline` (the messages, written down once), `wire` (reading them in place), `strict` and `kinds`
(which message a payload is), `features` (what it holds, for showing) and `features_read`, `usual` (the short way
through it). Then there are families of files: `schema/` gathers what many records have in common; `mapping*` turns
OFRecord into Example and back on the wire; `rows*` turns records into the rows of JSON and tables and back; `content`,
`media` and `tensors` say what a bytes value is; `values` and `preview` put values into words. `messages` makes protobuf
classes, for few.

Each name is imported when it is first used, so that learning a kind does not load what only showing needs; protobuf is
not imported before a message class is asked for. `preview` is imported at once, since the module of that name, imported
later, would take the place of the function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tfrtool.payload.preview import preview, preview_list, value_text

if TYPE_CHECKING:
    from tfrtool.payload.content import Content, content_of, describe_value
    from tfrtool.payload.features import FeatureListView, Features, FeatureView
    from tfrtool.payload.features_read import read_features
    from tfrtool.payload.kinds import KindVote, fits, kind_of, kind_of_file, plausible_ofrecord
    from tfrtool.payload.strict import Misfit
    from tfrtool.payload.values import size_text, text_of
    from tfrtool.payload.wire import WireError

__all__ = [
    "Content",
    "FeatureListView",
    "FeatureView",
    "Features",
    "KindVote",
    "Misfit",
    "WireError",
    "content_of",
    "describe_value",
    "fits",
    "kind_of",
    "kind_of_file",
    "plausible_ofrecord",
    "preview",
    "preview_list",
    "read_features",
    "size_text",
    "text_of",
    "value_text",
]

_HOMES = {
    "content": ("Content", "content_of", "describe_value"),
    "features": ("FeatureListView", "FeatureView", "Features"),
    "features_read": ("read_features",),
    "kinds": ("KindVote", "fits", "kind_of", "kind_of_file", "plausible_ofrecord"),
    "strict": ("Misfit",),
    "values": ("size_text", "text_of"),
    "wire": ("WireError",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
