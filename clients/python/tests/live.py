"""Access to a real server, for the second half of the tests.

SANDBAR_TEST_URL: where it is; without it these tests are skipped. SANDBAR_TEST_TOKEN: the token, if it wants one.
SANDBAR_TEST_BACKEND: the backend for native runs; without it the tests that need one are skipped.
SANDBAR_TEST_OWNER: set if the policy allows directories of the host, and the host is this machine.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import unittest
import urllib.parse
from collections.abc import Callable
from typing import Any

import sandbar

URL = os.environ.get("SANDBAR_TEST_URL", "")
TOKEN = os.environ.get("SANDBAR_TEST_TOKEN") or None
BACKEND = os.environ.get("SANDBAR_TEST_BACKEND", "")

needs_server = unittest.skipUnless(URL, "SANDBAR_TEST_URL is not set")
needs_native = unittest.skipUnless(URL and BACKEND, "SANDBAR_TEST_BACKEND is not set")
needs_owner = unittest.skipUnless(URL and os.environ.get("SANDBAR_TEST_OWNER"), "SANDBAR_TEST_OWNER is not set")


def client(url: str = URL, **options: Any) -> sandbar.Client:
    return sandbar.Client(url, TOKEN, **options)


@needs_server
class Case(unittest.TestCase):
    """Has a client, and sessions that are closed after the test."""

    def setUp(self) -> None:
        self.client = client()
        self.addCleanup(self.client.close)

    def open(self, **options: Any) -> sandbar.Session:
        session = self.client.session(**options)
        self.addCleanup(session.close)
        return session

    def native(self, **options: Any) -> sandbar.Session:
        return self.open(backend=BACKEND, **options)


def running(session: sandbar.Session) -> list[str]:
    """The ids of the runs that are under way."""
    return [run.run_id for run in session.runs() if run.result is None]


def until(condition: Callable[[], Any], seconds: float = 10) -> Any:
    """Waits until a condition holds, and returns what it says."""
    last = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > last:
            raise AssertionError("it did not come about")
        time.sleep(0.02)
    return value


class Relay:
    """Passes connections on to the server, until they are cut or frozen: a network that fails."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._sockets: list[socket.socket] = []
        self._flowing = threading.Event()
        self._flowing.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends all connections."""
        for sock in self._sockets:
            _shut(sock)

    def freeze(self) -> None:
        """Passes nothing on any more."""
        self._flowing.clear()

    def close(self) -> None:
        self._listener.close()
        self.cut()
        self._flowing.set()
        for sock in self._sockets:
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = _connect()
            self._sockets += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(a, b), daemon=True).start()

    def _pass(self, a: socket.socket, b: socket.socket) -> None:
        try:
            while data := a.recv(65536):
                self._flowing.wait()
                b.sendall(data)
        except OSError:
            pass
        _shut(b)


def _shut(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _connect() -> socket.socket:
    parts = urllib.parse.urlsplit(URL)
    if parts.scheme == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(parts.path)
        return sock
    return socket.create_connection((parts.hostname, parts.port))
