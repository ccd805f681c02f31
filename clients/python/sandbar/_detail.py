"""Decodes the one protobuf message that comes as bytes in JSON: sandbox.v2.ErrorDetail, which is with each error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Value = int | bytes

_MASK = (1 << 64) - 1


class Malformed(ValueError):
    """The bytes are not a message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Reads a varint at an offset. Returns it, and the offset behind it."""
    value = shift = 0
    while shift < 70:
        if at >= len(data):
            raise Malformed("varint is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
        shift += 7
    raise Malformed("varint is too long")


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Gives the number and the value of each field: an int for a varint, the bytes for all else."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise Malformed("field number 0")
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise Malformed(f"wire type {kind}")
        if size > len(data) - at:
            raise Malformed("field is cut off")
        yield number, data[at : at + size]
        at += size


def _text(value: Value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _raw(value: Value) -> bytes:
    return value if isinstance(value, bytes) else b""


def _int(value: Value) -> int:
    if not isinstance(value, int):
        return 0
    return value - (1 << 64) if value >> 63 else value


def _bool(value: Value) -> bool:
    return value not in (0, b"")


# By the number of the field in ErrorDetail: the name of each field of the message in it, and how it is read.
_PAYLOADS: dict[int, dict[int, tuple[str, Any]]] = {
    2: {1: ("field", _text), 2: ("problem", _text)},
    3: {1: ("path", _text), 2: ("size", _int), 3: ("max", _int)},
    4: {1: ("module", _text), 2: ("imported", _bool), 3: ("line", _int), 4: ("reason", _text)},
    6: {1: ("what", _text), 2: ("max", _int), 3: ("of_principal", _bool)},
}


def _kinds(value: Value) -> list[int]:
    if isinstance(value, int):
        return [value]
    kinds, at = [], 0
    while at < len(value):
        kind, at = varint(value, at)
        kinds.append(kind)
    return kinds


def decode(data: bytes) -> tuple[list[int], dict[str, Any]]:
    """The kinds of an ErrorDetail, and the fields of what is in it, by name. Raises Malformed."""
    kinds: list[int] = []
    found: dict[str, Any] = {}
    for number, value in fields(data):
        if number == 1:
            kinds += _kinds(value)
        elif number == 5:
            paths = tuple(_raw(path) for n, path in fields(_raw(value)) if n == 1)
            found["paths"] = found.get("paths", ()) + paths
        elif number in _PAYLOADS:
            for n, inner in fields(_raw(value)):
                if n in _PAYLOADS[number]:
                    name, read = _PAYLOADS[number][n]
                    found[name] = read(inner)
    return kinds, found
