"""One request and its response, on a connection of its own."""

from __future__ import annotations

import http.client
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NoReturn

from . import _coded, _frames, _scope
from . import _values as v
from .errors import DeadlineError, ProtocolError, SandbarError, Unavailable

if TYPE_CHECKING:
    from ._transport import Transport

MAX_ANSWER = 64 << 20
"""The largest answer that is read, in bytes, except for streams."""
_PIECE = 256 << 10

_BROKEN = (OSError, http.client.HTTPException, ValueError)
"""What http.client raises when a connection breaks; the last for a chunk without a size."""


class Call:
    """One request, on a connection that is its own until end or drop."""

    def __init__(self, transport: Transport, method: str, timeout: float | None):
        self.transport = transport
        self.method = method
        self._timeout = timeout
        self.connection = transport.acquire(method)
        self._response: http.client.HTTPResponse | None = None
        self._whole = True  # what was to be sent was sent
        self._scope = _scope.current()
        if self._scope is not None:
            self._scope.add(self.connection)

    def begin(self, body: bytes, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Sends the request and gives the response, of which the head has come."""
        request = self.connection.http
        try:
            request.request("POST", self.transport.path(self.method), body, self.transport.headers(headers))
        except (BrokenPipeError, ConnectionResetError):
            # The server may have answered before it had read all, and closed the connection.
            self._whole = False
        return self.response()

    def response(self) -> http.client.HTTPResponse:
        self._response = self.connection.http.getresponse()
        return self._response

    def send(self, envelopes: Iterable[bytes]) -> None:
        """Sends a stream of envelopes, and stops when the server answers before it has them all."""
        request = self.connection.http
        headers = {"Content-Type": "application/connect+json", "Transfer-Encoding": "chunked"}
        request.putrequest("POST", self.transport.path(self.method), skip_accept_encoding=True)
        for name, value in self.transport.headers(headers).items():
            request.putheader(name, value)
        request.endheaders()
        # What envelopes raises is the caller's own, and must not be taken for a broken connection.
        source = iter(envelopes)
        while True:
            try:
                data = next(source)
            except StopIteration:
                break
            except Exception as error:
                raise _OfCaller(error) from error
            try:
                if self.connection.answered():
                    raise BrokenPipeError
                request.send(b"%x\r\n%b\r\n" % (len(data), data))
            except (BrokenPipeError, ConnectionResetError):
                self._whole = False
                return
        request.send(b"0\r\n\r\n")

    def check_stream(self, response: http.client.HTTPResponse) -> None:
        """Raises what a response says that has no stream."""
        if response.status == 200:
            check_type(response, "application/connect+json")
            return
        data = self.read_all(response)
        raise _coded.from_response(response.status, response.headers.get("Content-Type", ""), data)

    def read_all(self, response: http.client.HTTPResponse) -> bytes:
        parts, size = [], 0
        while part := response.read(_PIECE):
            size += len(part)
            if size > MAX_ANSWER:
                raise ProtocolError(f"{self.method}: an answer of more than {MAX_ANSWER} bytes")
            parts.append(part)
        if response.length:
            raise _frames.Truncated(f"{self.method}: the answer is cut off")
        return b"".join(parts)

    def end(self, response: http.client.HTTPResponse) -> None:
        """Gives the connection back, when the response was read to its end."""
        if self._scope is not None:
            self._scope.remove(self.connection)
        if self._whole and response.isclosed() and not response.will_close and self.connection.http.sock is not None:
            self.transport.release(self.connection)
        else:
            self.drop()

    def drop(self) -> None:
        """Closes the connection."""
        if self._scope is not None:
            self._scope.remove(self.connection)
        self.connection.close()
        if self._response is not None:
            self._response.close()

    def fail(self, error: BaseException) -> NoReturn:
        """Raises an error of this call as one of this package."""
        if isinstance(error, _OfCaller):
            raise error.error
        if isinstance(error, SandbarError):
            raise error
        if isinstance(error, TimeoutError):
            raise DeadlineError(f"{self.method}: no answer within {self._timeout:g} s") from error
        if isinstance(error, _BROKEN):
            message = f"{self.method}: the connection broke after the call was sent: {error}"
            raise Unavailable(message, sent=True) from error
        raise error


class ServerStream:
    """A stream of messages from the server. One thread iterates over it; abort is for any."""

    def __init__(self, call: Call, response: http.client.HTTPResponse):
        self._call = call
        self._response = response
        self._open = True

    def __iter__(self) -> Iterator[v.Json]:
        """Gives the messages. Raises what the stream ends with, or what befell the connection."""
        try:
            yield from _frames.messages(self._response.read)
            self._open = False
            self._call.end(self._response)
        except GeneratorExit:
            self.close()
            raise
        except BaseException as error:
            self.close()
            self._call.fail(error)

    def set_silence(self, seconds: float) -> None:
        """Bounds each wait for the next bytes from now on."""
        self._call.connection.set_timeout(seconds)

    def abort(self) -> None:
        """Breaks the stream off: for a run the server then ends it."""
        self._call.connection.abort()

    def close(self) -> None:
        """Gives the stream up, from the thread that reads it. It may be called again."""
        if self._open:
            self._open = False
            self._call.drop()


class _OfCaller(Exception):
    def __init__(self, error: Exception):
        super().__init__()
        self.error = error


def check_type(response: http.client.HTTPResponse, wanted: str) -> None:
    """Refuses a response of another content type."""
    got = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if got != wanted:
        raise ProtocolError(f"the answer is {got[:100]!r} and not {wanted}: there is no sandbox-server at this address")
