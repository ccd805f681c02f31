"""The content of files on its way to the server and back, in pieces."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from collections.abc import Iterator
from typing import IO, Any

from . import _frames
from . import _values as v
from ._transport import Transport
from .errors import InvalidError, ProtocolError

PIECE = 512 << 10
"""How much of a file is in one message, in bytes."""

Source = str | bytes | os.PathLike[Any] | IO[bytes]


def pieces(source: IO[bytes]) -> Iterator[bytes]:
    """What a binary file has, from where it stands to its end."""
    while data := source.read(PIECE):
        if not isinstance(data, (bytes, bytearray)):
            raise InvalidError.of("source", "is not a binary file")
        yield bytes(data)


def cut(data: bytes) -> Iterator[bytes]:
    """Bytes in pieces."""
    view = memoryview(data)
    for at in range(0, len(view), PIECE):
        yield bytes(view[at : at + PIECE])


@contextlib.contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """A file to read: one that is open stays open."""
    if isinstance(source, (str, bytes, os.PathLike)):
        with open(source, "rb") as file:
            yield file
    else:
        yield source


def put(transport: Transport, method: str, header: v.Json, content: Iterator[bytes]) -> v.Json:
    """Streams content after a header."""

    def envelopes() -> Iterator[bytes]:
        yield _frames.envelope(header)
        for data in content:
            yield _frames.data_envelope(data)

    return transport.client_stream(method, envelopes())


def get(transport: Transport, method: str, request: v.Json) -> Iterator[bytes]:
    """Gives what the server streams. Raises what it ends with: only then has all come. Until something has come the call
    is made again, as those are that change nothing."""
    timeout = transport.timeout(slow=True)

    def begin() -> Iterator[v.Json]:
        messages = iter(transport.server_stream(method, request, timeout))
        return itertools.chain([next(messages, {})], messages)

    for message in transport.again(begin, timeout):
        if data := v.decode(message.get("data")):
            yield data


def save(content: Iterator[bytes], destination: Source, most: int | None = None) -> int:
    """Writes content to a file that is open, or to one of that name, which appears complete or not at all."""
    if not isinstance(destination, (str, bytes, os.PathLike)):
        return _write(content, destination, most)
    path = os.fsdecode(destination)
    part = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with open(part, "xb") as file:
            size = _write(content, file, most)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    return size


def _write(content: Iterator[bytes], file: IO[bytes], most: int | None) -> int:
    size = 0
    for data in content:
        size += len(data)
        if most is not None and size > most:
            raise ProtocolError("the server sends more than was asked for")
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
    return size
