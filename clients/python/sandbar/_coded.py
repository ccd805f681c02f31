"""From an error as it comes over the wire to an exception."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from . import _detail
from .errors import (
    KINDS,
    DeadlineError,
    Denied,
    InvalidError,
    LimitError,
    NotFound,
    ProtocolError,
    SandbarError,
    Unauthenticated,
    Unavailable,
    class_of,
)

DETAIL_TYPE = "sandbox.v2.ErrorDetail"
MAX_MESSAGE = 4096
"""The longest message of an error that is kept, in characters."""

# For errors without a detail, which something before the service has sent: what checks credentials, or a proxy.
_BY_CODE: dict[str, type[SandbarError]] = {
    "invalid_argument": InvalidError,
    "deadline_exceeded": DeadlineError,
    "not_found": NotFound,
    "permission_denied": Denied,
    "resource_exhausted": LimitError,
    "unavailable": Unavailable,
    "unauthenticated": Unauthenticated,
}

_CODE_OF_STATUS = {
    401: "unauthenticated",
    403: "permission_denied",
    408: "deadline_exceeded",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


def parse(data: bytes) -> Any:
    """JSON as the protocol has it. Raises ProtocolError."""
    try:
        return json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as cause:
        raise ProtocolError("the answer is not JSON") from cause


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def from_json(answer: Any) -> SandbarError:
    """The exception for {"code": ..., "message": ..., "details": [...]}. It never fails: what is not understood of it
    is left out."""
    if not isinstance(answer, dict):
        return ProtocolError("the answer is an error without a code")
    code, message = answer.get("code"), answer.get("message", "")
    if not isinstance(code, str):
        return ProtocolError("the answer is an error without a code")
    text = message[:MAX_MESSAGE] if isinstance(message, str) and message else code
    numbers, fields = _find_detail(answer.get("details"))
    kinds = tuple(KINDS[n][0] for n in numbers if n in KINDS)
    cls = class_of(kinds) if kinds else _BY_CODE.get(code, SandbarError)
    return cls(text, code=code, kinds=kinds, **fields)


def _find_detail(details: Any) -> tuple[list[int], dict[str, Any]]:
    for detail in details if isinstance(details, list) else ():
        if not isinstance(detail, dict) or detail.get("type") != DETAIL_TYPE:
            continue
        value = detail.get("value")
        if not isinstance(value, str):
            continue
        try:
            # The protocol leaves the padding out.
            raw = base64.b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4), validate=True)
            return _detail.decode(raw)
        except (binascii.Error, ValueError):
            continue
    return [], {}


def from_response(status: int, content_type: str, body: bytes) -> SandbarError:
    """The exception for a response that is not 200."""
    if content_type.split(";")[0].strip().lower() == "application/json":
        try:
            error = from_json(parse(body))
        except ProtocolError:
            pass
        else:
            if not isinstance(error, ProtocolError):
                return error
    code = _CODE_OF_STATUS.get(status)
    if code is None:
        return ProtocolError(f"HTTP status {status}: there is no sandbox-server at this address")
    return _BY_CODE[code](f"HTTP status {status}", code=code)
