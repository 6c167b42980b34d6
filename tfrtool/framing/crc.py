"""The checksum of TFRecord: CRC-32C, masked.

The CRC is that of RFC 3720 (Castagnoli, reflected polynomial 0x82F63B78), computed by the `crc32c` package in
hardware where the processor can. It is stored masked, so that the CRC of data that holds CRCs stays a good check
(LevelDB, `util/crc32c.h`). A masked value outside this file is a `Masked`, which shows itself as eight hexadecimal
digits; the kernel alone compares bare ones, in bulk.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, PathFinder
from struct import Struct

Bytes = bytes | bytearray | memoryview

MASK_DELTA = 0xA282EAD8
_LOW = 0xFFFFFFFF
_HEADER = Struct("<8sI")


def _find_crc32c() -> Callable[..., int]:
    """The compiled function of the `crc32c` package, without running the package's `__init__`.

    That `__init__` imports importlib.metadata to learn its own version, which takes 35 ms: as long as counting the
    records of a 100 MB file. Wherever the shortcut does not fit, the ordinary import serves.
    """
    spec = PathFinder.find_spec("crc32c")
    for folder in (spec and spec.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            path = os.path.join(folder, "_crc32c" + suffix)
            if os.path.exists(path):
                try:
                    loader = ExtensionFileLoader("crc32c._crc32c", path)
                    module = loader.create_module(ModuleSpec("crc32c._crc32c", loader, origin=path))
                    loader.exec_module(module)
                    found: Callable[..., int] = module.crc32c
                    if found(b"123456789") == 0xE3069283:
                        return found
                except (ImportError, AttributeError):
                    continue
    from crc32c import crc32c as imported

    return imported


crc32c: Callable[..., int] = _find_crc32c()
"""`crc32c(data, value=0)` is the CRC of `data` after data whose CRC was `value`."""


class Masked(int):
    """A masked CRC: an int that shows itself as the eight hexadecimal digits found in a dump of the file."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"0x{int(self):08x}"

    __repr__ = __str__


def rotated(crc: int) -> int:
    """`crc` rotated right by 15 bits, plus the constant: what masking does to any 32-bit value."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & _LOW


def masked(crc: int) -> Masked:
    """The form in which a CRC is stored."""
    return Masked((((crc >> 15) | (crc << 17)) + MASK_DELTA) & _LOW)


def unmasked(stored: int) -> int:
    """The CRC whose masked form is `stored`."""
    rotated_crc = (stored - MASK_DELTA) & _LOW
    return ((rotated_crc << 15) | (rotated_crc >> 17)) & _LOW


def masked_crc(data: Bytes, value: int = 0) -> Masked:
    """The masked CRC-32C of `data` (after data whose bare CRC was `value`)."""
    return masked(crc32c(data, value))


def header_is_sound(header: Bytes) -> bool:
    """Whether the first 12 bytes are a length and its masked CRC: true by chance once in 2**32."""
    if len(header) < 12:
        return False
    length, stored = _HEADER.unpack_from(header)
    crc = crc32c(length)
    return bool((crc >> 15 | crc << 17) + MASK_DELTA & _LOW == stored)
