"""System errors in plain words, and paths quoted for the shell."""

from __future__ import annotations

import errno
import os

_WORDS = {
    errno.ENOENT: "no such file or directory",
    errno.EACCES: "permission denied",
    errno.EPERM: "the system does not permit it",
    errno.EISDIR: "it is a directory",
    errno.ENOTDIR: "a part of its path is not a directory",
    errno.ELOOP: "too many symbolic links, or links that go in a circle",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENXIO: "it is a socket, or a device that is not there",
    errno.EMFILE: "too many files are open (see `ulimit -n`)",
    errno.ENFILE: "too many files are open on this machine",
    errno.EIO: "input/output error of the device",
    errno.ESTALE: "the network file system lost the file (stale handle)",
    errno.ENOSPC: "no space is left",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than the system allows (see `ulimit -f`)",
    errno.EROFS: "the file system is read-only",
    errno.EBADF: "it is closed",
    errno.ETXTBSY: "it is a running program",
}


def quoted(name: str) -> str:
    """Return the name of an input for a message."""
    return "standard input" if name == "-" else f"'{name}'"


def input_called(name: str) -> str:
    """Return the name of an input for a message that also names an output."""
    return "the file that standard input reads" if name == "-" else f"the input '{name}'"


def reason(error: OSError | ValueError) -> str:
    """Describe a system error in half a sentence, without the name of the file.

    A `ValueError` is what Python raises for a name that holds a NUL byte.
    """
    if not isinstance(error, OSError):
        return "the name holds a NUL byte"
    if error.errno is None:
        return str(error) or "unknown error of the system"
    return _WORDS.get(error.errno) or os.strerror(error.errno).lower()


_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", "\\": "\\\\"}


def shell_word(path: str) -> str:
    """Quote `path` as one word for bash, zsh and ksh that no command takes for an option.

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
