"""What the tests of the sources share: packed data made here, and producers that misbehave on purpose."""

import gzip
import io
import random
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

from tfrtool.framing.encode import footer, header
from tfrtool.framing.stream import ByteStream, MemoryStream
from tfrtool.sources.codecs.container import Container, Gzip
from tfrtool.sources.codecs.decoder import Decoder
from tfrtool.sources.codecs.faults import CodecFault
from tfrtool.sources.spool import Spool


def words(count: int, seed: int = 0) -> bytes:
    """Text that deflate packs with matches and literals, so that codes of every kind occur."""
    some = random.Random(seed)
    vocabulary = [some.randbytes(some.randint(2, 6)).hex().encode() for _ in range(40)]
    return b" ".join(some.choice(vocabulary) for _ in range(count))


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def tarred(data: bytes, name: str = "train.tfrecord") -> bytes:
    """An archive of one file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def frame(payload: bytes) -> bytes:
    return header(len(payload)) + payload + footer(payload)


def records(count: int) -> bytes:
    return b"".join(frame(words(20, seed)) for seed in range(count))


def flipped(data: bytes, at: int, mask: int = 0xFF) -> bytes:
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]


def pieces(data: bytes, sizes: Iterator[int] | list[int] | int) -> Iterator[bytes]:
    """`data` in pieces of the given sizes, over and over."""
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    at = turn = 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        yield data[at : at + size]
        at, turn = at + size, turn + 1


def read_all(data: ByteStream, step: int = 4096) -> bytes:
    """The stream from 0 to its end, forgetting as it goes."""
    out = bytearray()
    view = memoryview(bytearray(step))
    while count := data.read_into(len(out), view):
        out += view[:count]
        data.discard_before(len(out))
    return bytes(out)


def unpack(
    packed: bytes, container: Container = Gzip, sizes: list[int] | int = 0, quick: Any = None
) -> tuple[bytes, list[CodecFault]]:
    """What comes out, and the faults; with `sizes` the packed bytes come through a spool in such pieces."""
    faults: list[CodecFault] = []
    if not sizes:
        return b"".join(Decoder(MemoryStream(packed), container, faults, quick).chunks()), faults
    spool = Spool(pieces(packed, sizes), "packed", memory=64, segment=256)
    try:
        return b"".join(Decoder(spool, container, faults, quick).chunks()), faults
    finally:
        spool.close()


def unpacked_prefix(packed: bytes, wbits: int = 31) -> bytes:
    """What zlib itself gives for the beginning of one member."""
    return zlib.decompressobj(wbits).decompress(packed)
