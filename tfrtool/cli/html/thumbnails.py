"""Embed images of features in a page, up to limits of size and number."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import chain

from tfrtool.payload.content.media import media_of
from tfrtool.payload.features.view import FeatureListView, FeatureView
from tfrtool.payload.text import Value, size_text

_DRAWN = ("jpeg", "png", "gif", "webp")
"""Formats that every browser displays and that cannot contain scripts."""
LARGEST = 256 << 10
"""Most bytes of one image; a larger one is described instead."""
_ALL = 16 << 20
"""Most bytes of all images of a page."""
_PIXELS = 64 << 20
"""Most pixels of all images of a page: a browser needs four bytes for each, whatever the size of the file."""
_MANY = 16
"""Values of one feature, or steps of a list, that are examined."""


class Thumbnails:
    """Embeds images until the page reaches its limits."""

    def __init__(self) -> None:
        self._bytes, self._pixels = _ALL, _PIXELS
        self.length = 0
        """Characters of all image URLs so far, which contain the bytes."""

    def of(self, view: FeatureView | FeatureListView) -> str:
        """Return the images among the first values of a feature as markup, or an empty string."""
        if isinstance(view, FeatureListView):
            values: Iterable[Value] = chain.from_iterable(step.values(1) for step in view.steps(_MANY))
        else:
            values = view.values(_MANY) if view.kind == "bytes" else ()
        shown = "".join(self._each(values))
        return f'<div class="images">{shown}</div>' if shown else ""

    def _each(self, values: Iterable[Value]) -> Iterator[str]:
        for value in values:
            if isinstance(value, int | float):
                continue
            form, detail = media_of(value) or ("", "")
            if form not in _DRAWN:
                continue
            size = re.match(r"(\d+)x(\d+)", detail)
            if size is None:  # the header is truncated, and a browser could not display it
                continue
            named = f"{form} {detail}, {size_text(len(value))}"
            pixels = int(size[1]) * int(size[2])
            if len(value) > LARGEST:
                yield f'<span class="faint">{escape(named)}: not shown, larger than {size_text(LARGEST)}</span>'
            elif len(value) > self._bytes or pixels > self._pixels:
                yield f'<span class="faint">{escape(named)}: not shown, limit of images reached</span>'
            else:
                self._bytes -= len(value)
                self._pixels -= pixels
                source = f"data:image/{form};base64,{base64.b64encode(value).decode()}"
                self.length += len(source)
                yield f'<img src="{source}" alt="{escape(named)}" title="{escape(named)}" decoding="async">'
