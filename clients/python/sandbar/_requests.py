"""From the arguments of calls to the messages of the protocol. All that is checked here is refused before anything
is sent; the rest is for the server, which knows its policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _answers
from . import _values as v
from .errors import InvalidError
from .types import Limits

_TIERS = ("auto", "wasm", "native")
_MODES = ("blocked", "open", "allowlist")


def session_options(
    *,
    backend: str | None = None,
    work_dir: str | None = None,
    overlay: str | None = None,
    read_only: Any = (),
    read_write: Any = (),
    network: str | None = None,
    python_tier: str | None = None,
    warm: str | None = None,
    gpu: bool = False,
    venv: bool = False,
    env: Mapping[Any, Any] | None = None,
    timeout: float | None = None,
    limits: Limits | None = None,
    best_effort: bool = False,
    max_output_bytes: int | None = None,
    idle_timeout: float | None = None,
    lifetime: float | None = None,
    label: str | None = None,
) -> v.Json:
    """An OpenSessionRequest. Client.session says what the options mean."""
    options: v.Json = {}
    for key, text in (("backend", backend), ("workDir", work_dir), ("overlay", overlay), ("warm", warm)):
        if text:
            options[key] = text
    for key, paths in (("readOnly", read_only), ("readWrite", read_write)):
        if isinstance(paths, (str, bytes)):
            raise InvalidError.of(_snake(key), "is one path, and not a list of them")
        if paths:
            options[key] = [str(path) for path in paths]
    if network is not None:
        options["network"] = v.choice("network", network, "NETWORK_MODE_", _MODES)
    if python_tier is not None:
        options["pythonTier"] = v.choice("python_tier", python_tier, "TIER_", _TIERS)
    for key, flag in (("gpu", gpu), ("venv", venv), ("bestEffort", best_effort)):
        if flag:
            options[key] = True
    v.put_env(options, env or {})
    if timeout is not None:
        options["timeout"] = v.duration("timeout", timeout)
    if limits is not None:
        options["limits"] = limits_message(limits)
    if max_output_bytes:
        options["maxOutputBytes"] = whole("max_output_bytes", max_output_bytes)

    request: v.Json = {"options": options}
    for key, time in (("idleTimeout", idle_timeout), ("lifetime", lifetime)):
        if time is not None:
            request[key] = v.duration(_snake(key), time)
    if label:
        request["label"] = label
    return request


def _snake(key: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in key)


def whole(field: str, value: int) -> str:
    """A number of 64 bits for JSON."""
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63:
        raise InvalidError.of(field, "is not a whole number of 64 bits")
    return str(value)


def limits_message(limits: Limits) -> v.Json:
    message: v.Json = {}
    for field in dataclasses.fields(limits):
        value = getattr(limits, field.name)
        if field.name == "cpu":
            if v.check_seconds("limits.cpu", value):
                message["cpu"] = v.duration("limits.cpu", value)
        elif value:
            message[_answers.camel(field.name)] = whole(f"limits.{field.name}", value)
    return message


def run(
    session_id: str,
    script: v.Text,
    *,
    type: str,
    name: str | None,
    args: Any,
    env: Mapping[Any, Any] | None,
    cwd: v.Text | None,
    timeout: float | None,
    stdin: v.Text | None,
    stdin_pipe: bool,
    background: bool,
    interpreter: str | None,
    network: str | None,
    terminal: tuple[int, int] | None,
    detach: bool,
    max_output_bytes: int | None,
) -> v.Json:
    """A RunRequest. Session.run says what the arguments mean."""
    request: v.Json = {
        "sessionId": session_id,
        "type": v.choice("type", type, "SCRIPT_TYPE_", ("python", "shell")),
    }
    v.put_text(request, "script", script, "script")
    if name:
        request["name"] = name
    v.put_args(request, args)
    v.put_env(request, env or {})
    if cwd is not None:
        v.put_text(request, "cwd", cwd, "cwd")
    if timeout is not None:
        request["timeout"] = v.duration("timeout", timeout)
    if stdin is not None:
        if stdin_pipe:
            raise InvalidError.of("stdin", "is given, and stdin_pipe too")
        if data := v.to_bytes("stdin", stdin):
            request["stdin"] = v.encode(data)
    for key, flag in (("stdinPipe", stdin_pipe), ("background", background), ("detach", detach)):
        if flag:
            request[key] = True
    if interpreter is not None:
        request["interpreter"] = v.choice("interpreter", interpreter, "INTERPRETER_", ("fresh", "session"))
    if network is not None:
        request["network"] = v.choice("network", network, "NETWORK_MODE_", _MODES)
    if terminal is not None:
        request["terminal"] = size(terminal)
    if max_output_bytes:
        request["maxOutputBytes"] = whole("max_output_bytes", max_output_bytes)
    return request


def size(terminal: tuple[int, int]) -> v.Json:
    """A TerminalSize from (rows, cols)."""
    try:
        rows, cols = terminal
    except (TypeError, ValueError):
        raise InvalidError.of("terminal", "is not a pair of rows and columns") from None
    for number in (rows, cols):
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 65535:
            raise InvalidError.of("terminal", "has a size that no terminal has")
    return {"rows": rows, "cols": cols}
