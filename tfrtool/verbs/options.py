"""What every job may be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tfrtool.fields import Fields


class Options(Fields, frozen=True):
    """How inputs are read.

    `format` and `compression` are told by the content unless named. `quick` looks at length checksums and structure
    only, `payload` also parses every payload. `index` is an index of the input: `verify` holds it against the file,
    `head` finds a record by it. `progress` is called with the number of bytes on disk read since the last call.
    """

    format: Literal["auto", "tfrecord", "ofrecord"] = "auto"
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto"
    quick: bool = False
    payload: bool = False
    index: str | None = None
    progress: Callable[[int], None] | None = None
