"""Recognize URLs, which cannot be opened yet."""

from __future__ import annotations

from tfrtool.errors import UnsupportedError
from tfrtool.suggestion import Suggestion

_FETCH = {"gs": "gsutil cat", "s3": "aws s3 cp", "http": "curl -fsSL", "https": "curl -fsSL", "hdfs": "hdfs dfs -cat"}
"""What writes the bytes behind a URL to standard output."""


def is_url(name: str) -> bool:
    """Return whether a name is `scheme://…` (RFC 3986: a letter, then letters, digits, `+`, `-` and `.`)."""
    scheme, mark, _ = name.partition("://")
    return bool(mark) and scheme[:1].isalpha() and scheme.isascii() and set(scheme) <= _SCHEME


_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")


def unsupported(name: str) -> UnsupportedError:
    """Return the error that names an alternative."""
    scheme, _, rest = name.partition("://")
    scheme = scheme.lower()
    if scheme == "file":
        return UnsupportedError(f"cannot open '{name}': give the path itself, '{rest}'")
    command = f"{_FETCH.get(scheme, 'FETCH')} '{name}'{' -' if scheme == 's3' else ''}"
    what = f"cannot open '{name}': URLs are not supported yet; copy it here first, or pipe it in"
    return UnsupportedError(what, Suggestion("verify", "-", first=command))
