"""Small pictures of the images that features hold: their own bytes, where a browser draws them and they are few."""

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
"""Formats that every browser draws, and none of which can hold a script."""
LARGEST = 256 << 10
"""Bytes of an image; a larger one is named."""
_ALL = 16 << 20
"""Bytes of all images of a page."""
_PIXELS = 64 << 20
"""Pixels of all images of a page: a browser holds four bytes for each, whatever the file takes."""
_MANY = 16
"""Values of one feature, or steps of a list, that are looked at."""


class Thumbnails:
    """Draws images until the page has enough of them."""

    def __init__(self) -> None:
        self._bytes, self._pixels = _ALL, _PIXELS
        self.length = 0
        """Characters of all addresses of images so far, which hold their bytes."""

    def of(self, view: FeatureView | FeatureListView) -> str:
        """The images among the first values of a feature, as markup; empty where there are none."""
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
            if size is None:  # its header is cut off, and a browser would show a torn page
                continue
            named = f"{form} {detail}, {size_text(len(value))}"
            pixels = int(size[1]) * int(size[2])
            if len(value) > LARGEST:
                yield f'<span class="faint">{escape(named)}: larger than {size_text(LARGEST)}, so it is not here</span>'
            elif len(value) > self._bytes or pixels > self._pixels:
                yield f'<span class="faint">{escape(named)}: the page has enough images, so it is not here</span>'
            else:
                self._bytes -= len(value)
                self._pixels -= pixels
                source = f"data:image/{form};base64,{base64.b64encode(value).decode()}"
                self.length += len(source)
                yield f'<img src="{source}" alt="{escape(named)}" title="{escape(named)}" decoding="async">'
