"""The envelopes of a stream: one byte of flags, four bytes of length (big-endian), and a message."""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

from . import _coded
from .errors import ProtocolError

COMPRESSED = 1
END = 2
HEADER = struct.Struct(">BI")
MAX_FRAME = 32 << 20
"""The largest message that is read from a stream, in bytes."""


class Truncated(ProtocolError):
    """The stream ended in the middle of an envelope, or without the one that ends it."""


def envelope(message: Any, flags: int = 0) -> bytes:
    """A message as it is sent."""
    data = json.dumps(message, separators=(",", ":")).encode("ascii")
    return HEADER.pack(flags, len(data)) + data


def data_envelope(data: bytes) -> bytes:
    """The envelope of {"data": data}. It is made by hand since json looks at each character of base64."""
    text = binascii.b2a_base64(data, newline=False)
    return b'%b{"data":"%b"}' % (HEADER.pack(0, len(text) + 11), text)


def read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """size bytes of what read gives. Fewer are Truncated."""
    data = read(size)
    if len(data) == size:
        return data
    parts = [data]
    missing = size - len(data)
    while missing > 0:
        data = read(missing)
        if not data:
            raise Truncated("the stream is cut off")
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


def messages(read: Callable[[int], bytes]) -> Iterator[dict[str, Any]]:
    """Gives the messages of a stream to its end. Raises the error that the stream ends with, Truncated for a stream
    without an end, and ProtocolError for what is no envelope."""
    while True:
        flags, size = HEADER.unpack(read_exactly(read, HEADER.size))
        if flags not in (0, END):
            raise ProtocolError(f"the stream has an envelope with flags {flags:#x}")
        if size > MAX_FRAME:
            raise ProtocolError(f"the stream has a message of {size} bytes, more than the maximum of {MAX_FRAME}")
        message = _coded.parse(read_exactly(read, size))
        if not isinstance(message, dict):
            raise ProtocolError("the stream has a message that is no object")
        if flags == END:
            if read(1):
                raise ProtocolError("the stream goes on after its end")
            if message.get("error") is not None:
                raise _coded.from_json(message["error"])
            return
        yield message
