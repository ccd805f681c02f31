"""Conversions between Python's values and those of the protocol's JSON.

64-bit numbers are strings, bytes are base64, durations are "1.5s", enums are names, and a field that is absent has its
default. Text that may not be UTF-8 has two fields, of which one is set: "path" and "pathRaw", say.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import InvalidError, ProtocolError

Text = str | bytes
Json = dict[str, Any]

NO_TIMEOUT = 9223372036.854775807
"""As a timeout: none. Its 292 years are the most that the protocol has; larger values mean the same."""

_NO_TIMEOUT_TEXT = "9223372036.854775807s"


def check_seconds(field: str, value: float) -> float:
    """Refuses what is no time to wait: NaN, infinite, negative, and what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidError.of(field, "is not a number of seconds")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidError.of(field, "is not a finite number of seconds")
    if value < 0:
        raise InvalidError.of(field, "is negative")
    return value


def duration(field: str, value: float | datetime.timedelta) -> str:
    """Seconds as the protocol has them, rounded up to whole nanoseconds. Raises InvalidError."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if check_seconds(field, value) >= 9223372036:
        return _NO_TIMEOUT_TEXT
    nanos = int((decimal.Decimal(str(value)) * 10**9).to_integral_value(decimal.ROUND_CEILING))
    return f"{nanos // 10**9}.{nanos % 10**9:09d}s"


def seconds(value: Any) -> float | None:
    """A duration of the protocol in seconds. None if it is absent."""
    if value is None:
        return None
    try:
        if not isinstance(value, str) or not value.endswith("s"):
            raise ValueError
        number = float(value[:-1])
        if not math.isfinite(number):
            raise ValueError
    except ValueError:
        raise ProtocolError("the answer has a duration that is none") from None
    return number


def integer(value: Any) -> int:
    """A number of 32 or 64 bits. 0 if it is absent."""
    number = optional_integer(value)
    return 0 if number is None else number


def optional_integer(value: Any) -> int | None:
    """Like integer, and None if it is absent."""
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError
        number = int(value)
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError
    except ValueError:
        raise ProtocolError("the answer has a number that is none") from None
    return number


def encode(data: bytes | bytearray | memoryview) -> str:
    """Bytes for JSON."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode(value: Any) -> bytes:
    """Bytes from JSON. Empty if they are absent."""
    if value is None:
        return b""
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, TypeError):
        raise ProtocolError("the answer has bytes that are not base64") from None


def timestamp(value: Any) -> datetime.datetime | None:
    """A time of the protocol, in UTC and to the microsecond. None if it is absent."""
    if value is None:
        return None
    try:
        if not isinstance(value, str) or not value.endswith("Z"):
            raise ValueError
        whole, _, fraction = value[:-1].partition(".")
        if fraction and not (fraction.isascii() and fraction.isdigit()):
            raise ValueError
        at = datetime.datetime.fromisoformat(whole)
        return at.replace(microsecond=int(fraction[:6].ljust(6, "0") or "0"), tzinfo=datetime.timezone.utc)
    except ValueError:
        raise ProtocolError("the answer has a time that is none") from None


def name(value: Any, prefix: str) -> str:
    """The value of an enum in lower case, without its prefix. Empty if it is absent or not known by name."""
    return value[len(prefix) :].lower() if isinstance(value, str) and value.startswith(prefix) else ""


def choice(field: str, value: str, prefix: str, choices: Iterable[str]) -> str:
    """A value for an enum of the protocol. Raises InvalidError for one that is not among the choices."""
    if value not in choices:
        raise InvalidError.of(field, f"is {value!r}, and not one of {', '.join(sorted(choices))}")
    return prefix + value.upper()


def to_bytes(field: str, value: Text | os.PathLike[Any]) -> bytes:
    """Text as bytes: UTF-8, and the bytes that os.fsdecode has made surrogates of as they were."""
    if not isinstance(value, (str, bytes)):
        try:
            value = os.fspath(value)
        except TypeError:
            raise InvalidError.of(field, "is neither str nor bytes") from None
    if isinstance(value, bytes):
        return value
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidError.of(field, "has characters that cannot be encoded") from None


def put_text(message: Json, key: str, value: Text | os.PathLike[Any], field: str) -> None:
    """Sets message[key], or its twin for bytes when the value is not UTF-8."""
    raw = to_bytes(field, value)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        message[key + "Raw"] = encode(raw)
    else:
        if text:
            message[key] = text


def get_text(message: Mapping[str, Any], key: str) -> str:
    """message[key], or its twin for bytes, with surrogates for what is not UTF-8: os.fsencode gives the bytes."""
    raw = message.get(key + "Raw")
    if raw:
        return decode(raw).decode("utf-8", "surrogateescape")
    return string(message.get(key))


def string(value: Any) -> str:
    """Text from JSON. Empty if it is absent."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ProtocolError("the answer has a text that is none")
    return value


def put_args(message: Json, args: Iterable[Text]) -> None:
    """Sets args, or argsRaw when one of them is not UTF-8."""
    if isinstance(args, (str, bytes)):
        raise InvalidError.of("args", "is one text, and not a list of them")
    raw = [to_bytes("args", arg) for arg in args]
    try:
        texts = [arg.decode("utf-8") for arg in raw]
    except UnicodeDecodeError:
        message["argsRaw"] = [encode(arg) for arg in raw]
    else:
        if texts:
            message["args"] = texts


def put_env(message: Json, env: Mapping[Any, Any]) -> None:
    """Sets env, and envRaw for the variables that are not UTF-8."""
    for variable, value in env.items():
        key, content = to_bytes("env", variable), to_bytes("env", value)
        try:
            message.setdefault("env", {})[key.decode("utf-8")] = content.decode("utf-8")
        except UnicodeDecodeError:
            message.setdefault("envRaw", []).append({"name": encode(key), "value": encode(content)})
    if not message.get("env"):
        message.pop("env", None)


def objects(value: Any) -> list[Json]:
    """A list of messages. Empty if it is absent."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ProtocolError("the answer has a list that is none")
    return value


def strings(value: Any) -> tuple[str, ...]:
    """A list of texts. Empty if it is absent."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ProtocolError("the answer has a list that is none")
    return tuple(string(item) for item in value)


def obj(value: Any) -> Json:
    """A message. Empty if it is absent."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ProtocolError("the answer has a message that is none")
    return value
