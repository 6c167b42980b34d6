"""A path as a word of a shell command, for hints that can be pasted."""

from __future__ import annotations

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", "\\": "\\\\"}


def shell_word(path: str) -> str:
    """`path` as one word for bash, zsh and ksh, which no command takes for an option.

    What a terminal would take for a command, and bytes that are not UTF-8, are written as `$'…'` has them.
    """
    if path.startswith("-") and path != "-":
        path = f"./{path}"
    plain = path.isascii() and path.replace("-", "a").replace("_", "a").replace(".", "a").replace("/", "a").isalnum()
    if plain or path == "-":
        return path
    if path.isprintable():
        return "'" + path.replace("'", "'\\''") + "'"
    return "$'" + "".join(_NAMED.get(c) or (c if c.isprintable() else _escaped(c)) for c in path) + "'"


def _escaped(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
