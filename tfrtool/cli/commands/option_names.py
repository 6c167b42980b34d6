"""Values of options that hold names of features. A name may hold any character: it stands in quotes where it must."""

from __future__ import annotations

import click


def names(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names, several of them separated by commas."""
    from tfrtool.payload.filter import split_outside_quotes

    found = tuple(name for value in values for name in split_outside_quotes(value, ",") if name)
    if values and not found:
        raise click.BadParameter("it names no feature")
    return found


def renames(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Two names each, with = between them."""
    from tfrtool.payload.filter import split_outside_quotes

    pairs: dict[str, str] = {}
    for value in values:
        parts = split_outside_quotes(value, "=")
        if len(parts) > 2:
            quoted = "put a name that holds one in quotes, as in \"'a=b'=c\""
            raise click.BadParameter(f"{value!r} has more than one =: {quoted}")
        _add(pairs, value, parameter, parts)
    return pairs


def kinds(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """A name and a kind each, with = between them: the last one, since no kind holds any."""
    from tfrtool.payload.filter import unquoted_if_quoted

    pairs: dict[str, str] = {}
    for value in values:
        name, equals, kind = value.rpartition("=")
        _add(pairs, value, parameter, [unquoted_if_quoted(name), kind] if equals else [value])
    return pairs


def _add(pairs: dict[str, str], value: str, parameter: click.Parameter, parts: list[str]) -> None:
    if len(parts) < 2:
        raise click.BadParameter(f"{value!r} has no =, as in {parameter.metavar}")
    left, right = parts
    if pairs.setdefault(left, right) != right:
        raise click.BadParameter(f"{left!r} is to be {pairs[left]!r} and {right!r} too: leave one out")
