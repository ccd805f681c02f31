"""Calls that can be given up from another thread."""

from __future__ import annotations

import threading
from typing import Any

from ._endpoint import Connection
from .errors import Closed

_current = threading.local()


class Scope:
    """While a thread is in a scope, the connections of its calls can be broken off by abort, from any thread. A call
    that begins after that is refused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: set[Connection] = set()
        self._aborted = False

    def __enter__(self) -> Scope:
        _stack().append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _stack().pop()

    def add(self, connection: Connection) -> None:
        """Takes a connection in. Raises Closed when the scope was aborted."""
        with self._lock:
            if not self._aborted:
                self._connections.add(connection)
                return
        connection.close()
        raise Closed("the call was given up")

    def remove(self, connection: Connection) -> None:
        with self._lock:
            self._connections.discard(connection)

    def abort(self) -> None:
        """Breaks off what is under way, and all that comes."""
        with self._lock:
            self._aborted = True
            for connection in self._connections:
                connection.abort()


def current() -> Scope | None:
    """The innermost scope that this thread is in."""
    stack = _stack()
    return stack[-1] if stack else None


def _stack() -> list[Scope]:
    if not hasattr(_current, "stack"):
        _current.stack = []
    stack: list[Scope] = _current.stack
    return stack
