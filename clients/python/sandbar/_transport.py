"""Calls by the Connect protocol, with JSON over HTTP/1.1."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import _call, _coded, _frames
from . import _values as v
from ._call import Call, ServerStream
from ._endpoint import Connection, Endpoint
from .errors import Closed, InvalidError, ProtocolError, Unavailable

T = TypeVar("T")

SERVICE = "/sandbox.v2.SandboxService/"
QUICK = 60.0
"""How long an answer is waited for, in seconds, when the caller does not say."""
SLOW = 600.0
"""The same for calls that go over all files of a session."""
_ATTEMPTS = 5
_MAX_IDLE = 8


class Transport:
    """Makes the calls. It may be used by several threads at a time."""

    def __init__(self, endpoint: Endpoint, token: str | None, timeout: float | None):
        self.endpoint = endpoint
        self._timeout = timeout
        self._headers = {"Connect-Protocol-Version": "1", "User-Agent": "sandbar-python", "Accept-Encoding": "identity"}
        if token is not None:
            if not token or not all("!" <= c <= "~" for c in token):
                raise InvalidError.of("token", "is empty or has characters that no token has")
            self._headers["Authorization"] = f"Bearer {token}"
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False
        weakref.finalize(self, _close_all, self._idle)

    def unary(self, method: str, message: v.Json, *, retry: bool = False, slow: bool = False) -> v.Json:
        """Calls a method with one message each way. retry is for calls that may be made twice: they are made again when
        the server cannot be reached, or sends them away for now."""
        timeout = self.timeout(slow)
        body = json.dumps(message, separators=(",", ":")).encode("ascii")
        if not retry:
            return self._unary(method, body, timeout)
        return self.again(lambda: self._unary(method, body, timeout), timeout)

    def again(self, call: Callable[[], T], timeout: float) -> T:
        """Makes a call, and makes it again as long as it is Unavailable: a few times, and not after timeout."""
        last = time.monotonic() + timeout
        for attempt in range(_ATTEMPTS - 1):
            try:
                return call()
            except Unavailable:
                pause = 0.1 * 2**attempt * (0.5 + random.random())
                if time.monotonic() + pause > last:
                    raise
                time.sleep(pause)
        return call()

    def timeout(self, slow: bool = False) -> float:
        """How long an answer is waited for, in seconds."""
        if self._timeout is not None:
            return self._timeout
        return SLOW if slow else QUICK

    def _unary(self, method: str, body: bytes, timeout: float | None) -> v.Json:
        headers = {"Content-Type": "application/json"}
        if timeout is not None and timeout < 9_999_999:
            headers["Connect-Timeout-Ms"] = str(max(1, int(timeout * 1000)))
        call = Call(self, method, timeout)
        try:
            # What the server says about its deadline is a better answer than none in time.
            call.connection.set_timeout(None if timeout is None else timeout + 1)
            response = call.begin(body, headers)
            data = call.read_all(response)
            call.end(response)
        except BaseException as error:
            call.drop()
            call.fail(error)
        if response.status != 200:
            raise _coded.from_response(response.status, response.headers.get("Content-Type", ""), data)
        _call.check_type(response, "application/json")
        return _message(_coded.parse(data))

    def unary_unbounded(self, method: str, message: v.Json) -> v.Json:
        """Like unary, and waits for as long as it takes."""
        return self._unary(method, json.dumps(message, separators=(",", ":")).encode("ascii"), None)

    def server_stream(self, method: str, message: v.Json, silence: float | None) -> ServerStream:
        """Calls a method that answers with a stream. silence is the longest wait for the next bytes of it."""
        call = Call(self, method, silence)
        try:
            call.connection.set_timeout(silence)
            response = call.begin(_frames.envelope(message), {"Content-Type": "application/connect+json"})
            call.check_stream(response)
        except BaseException as error:
            call.drop()
            call.fail(error)
        return ServerStream(call, response)

    def client_stream(self, method: str, envelopes: Iterable[bytes]) -> v.Json:
        """Calls a method with a stream of messages. When envelopes raises, the server takes nothing of it."""
        timeout = self.timeout(slow=True)
        call = Call(self, method, timeout)
        try:
            call.connection.set_timeout(timeout)
            call.send(envelopes)
            response = call.response()
            call.check_stream(response)
            answers = list(_frames.messages(response.read))
            call.end(response)
        except BaseException as error:
            call.drop()
            call.fail(error)
        if len(answers) != 1:
            raise ProtocolError(f"{method}: {len(answers)} answers instead of one")
        return answers[0]

    def acquire(self, method: str) -> Connection:
        """An open connection. Raises Unavailable when there is none to be had: then nothing was sent."""
        while True:
            with self._lock:
                if self._closed:
                    raise Closed("the client is closed")
                idle = self._idle.pop() if self._idle else None
            if idle is None:
                break
            if idle.usable():
                return idle
            idle.close()
        try:
            return self.endpoint.connect()
        except (OSError, http.client.HTTPException) as cause:
            raise Unavailable(f"{method}: connect to {self.endpoint.url}: {cause}") from cause

    def release(self, connection: Connection) -> None:
        """Takes back a connection that can be used again."""
        connection.idle_since = time.monotonic()
        with self._lock:
            if not self._closed and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def headers(self, more: dict[str, str]) -> dict[str, str]:
        return self._headers | more

    def path(self, method: str) -> str:
        return self.endpoint.prefix + SERVICE + method

    def close(self) -> None:
        """Closes the connections that are idle, and refuses new calls."""
        with self._lock:
            self._closed = True
            idle = self._idle.copy()
            self._idle.clear()
        _close_all(idle)


def _close_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()


def _message(answer: Any) -> v.Json:
    if not isinstance(answer, dict):
        raise ProtocolError("the answer is no object")
    return answer
