"""Where the indexes of some inputs are."""

from __future__ import annotations

import os
from collections.abc import Sequence

SUFFIX = ".idx"
"""What the name of an index in a directory ends in, as the scripts that NVIDIA DALI comes with call them."""


def index_places(index: str, names: Sequence[str]) -> dict[str, str]:
    """The index of each input: `index` itself, or a file in it, where it is a directory.

    Raises a usage error where several inputs would share one.
    """
    import click

    if not (index.endswith("/") or os.path.isdir(index)):
        if len(names) > 1:
            raise click.UsageError(
                f"--index names one file, and there are {len(names)} inputs: name a directory, such as '{index}/'"
            )
        return dict.fromkeys(names, index)
    places: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        if name == "-":
            raise click.UsageError("standard input has no name to call its index by: say --index FILE, not a directory")
        place = os.path.join(index, os.path.basename(name) + SUFFIX)
        if place in taken:
            raise click.UsageError(
                f"the indexes of '{taken[place]}' and '{name}' would both be '{place}': index them one by one"
            )
        places[name], taken[place] = place, name
    return places
