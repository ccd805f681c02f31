"""A server that does what no sandbox-server does: it falls silent, dies, and talks nonsense.

It is for faults alone. What a server does when all is well is tested with one.
"""

from __future__ import annotations

import json
import os
import socket
import socketserver
import ssl
import struct
import threading
import unittest
from collections.abc import Callable
from typing import Any, BinaryIO

import sandbar

Answer = Callable[["Exchange"], None]


class Exchange:
    """A request that was read, and the connection to answer on."""

    def __init__(self, method: str, headers: dict[str, str], body: bytes, connection: socket.socket):
        self.method, self.headers, self.body, self.connection = method, headers, body, connection

    def message(self) -> Any:
        """The message of the request."""
        if self.headers.get("content-type") == "application/connect+json":
            return json.loads(self.body[5 : 5 + struct.unpack(">I", self.body[1:5])[0]])
        return json.loads(self.body)

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def unary(self, answer: Any, status: str = "200 OK", kind: str = "application/json") -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)

    def stream(self, more: bytes = b"") -> None:
        self.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n")
        self.send(more + b"\r\n")

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def event(self, flags: int = 0, /, **event: Any) -> None:
        data = json.dumps({"event": event}).encode()
        self.chunk(struct.pack(">BI", flags, len(data)) + data)

    def started(self) -> None:
        self.event(started={"runId": "r1", "tier": "TIER_WASM"})

    def end(self, message: Any = None) -> None:
        data = json.dumps(message or {}).encode()
        self.chunk(struct.pack(">BI", 2, len(data)) + data)
        self.chunk(b"")

    def gone(self, timeout: float = 10) -> bool:
        """Waits for the client to close the connection."""
        self.connection.settimeout(timeout)
        try:
            while self.connection.recv(4096):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True


class Faulty:
    """Answers by a function for each method of the service. Sessions can be opened, renewed and closed. calls has the
    methods that were called."""

    def __init__(self, *, unix: str | None = None, tls: ssl.SSLContext | None = None, **answers: Answer):
        self.calls: list[str] = []
        self.requests: list[Exchange] = []
        self.closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._answers: dict[str, Answer] = {
            "OpenSession": lambda x: x.unary({"session": {"sessionId": "s1", "idleTimeout": "600s"}}),
            "RenewSession": lambda x: x.unary({}),
            "CloseSession": lambda x: x.unary({}),
        } | answers
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                outer._serve(self.connection, self.rfile)

        if unix is None:
            server: Any = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
            server.allow_reuse_address = True
            self.url = ""
        else:
            server = socketserver.ThreadingUnixStreamServer(unix, Handler, bind_and_activate=False)
            self.url = f"unix://{unix}"
        server.daemon_threads = True
        server.block_on_close = False
        server.handle_error = lambda *_: None  # broken connections are what this is for
        server.server_bind()
        server.server_activate()
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        if not self.url:
            self.port = server.server_address[1]
            self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        for connection in list(self._connections):
            connection.close()
        if self.url.startswith("unix://"):
            os.unlink(self.url[len("unix://") :])

    def _serve(self, connection: socket.socket, file: BinaryIO) -> None:
        self._connections.add(connection)
        try:
            while (exchange := _read(connection, file)) is not None:
                self.calls.append(exchange.method)
                self.requests.append(exchange)
                self._answers[exchange.method](exchange)
        finally:
            self._connections.discard(connection)


class Case(unittest.TestCase):
    """Has servers and sessions that are given up after the test."""

    def serve(self, **answers: object) -> Faulty:
        server = Faulty(**answers)
        self.addCleanup(server.close)
        return server

    def session(self, server: Faulty, **options: object) -> sandbar.Session:
        client = sandbar.Client(server.url, **options)
        self.addCleanup(client.close)
        session = client.session()
        self.addCleanup(session._lease.set)
        return session


def _read(connection: socket.socket, file: BinaryIO) -> Exchange | None:
    first = file.readline()
    if not first:
        return None
    headers = {}
    while (line := file.readline().strip()) != b"":
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(file.readline(), 16):
            body += file.read(size)
            file.readline()
        file.readline()
    else:
        body = file.read(int(headers.get("content-length", "0")))
    return Exchange(first.split()[1].decode().rsplit("/", 1)[1], headers, body, connection)
