"""Parse options that hold feature names, which may contain any character and are quoted where necessary."""

from __future__ import annotations

import click


def names(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Parse names separated by commas."""
    from tfrtool.payload.filter import split_outside_quotes

    found = tuple(name for value in values for name in split_outside_quotes(value, ",") if name)
    if values and not found:
        raise click.BadParameter("no feature is named")
    return found


def renames(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse pairs of names with = between them."""
    from tfrtool.payload.filter import split_outside_quotes

    pairs: dict[str, str] = {}
    for value in values:
        parts = split_outside_quotes(value, "=")
        if len(parts) > 2:
            quoted = "quote a name that contains one, as in \"'a=b'=c\""
            raise click.BadParameter(f"{value!r} has more than one =: {quoted}")
        _add(pairs, value, parameter, parts)
    return pairs


def kinds(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse pairs of a name and a kind; the last = separates them, since no kind contains one."""
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
        raise click.BadParameter(f"{left!r} cannot be both {pairs[left]!r} and {right!r}")
