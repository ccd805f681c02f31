"""Where a server is, and connections to it."""

from __future__ import annotations

import contextlib
import http.client
import os
import select
import socket
import ssl
import time
import urllib.parse

from .errors import InvalidError

CONNECT_TIMEOUT = 10.0
"""How long it may take to connect, in seconds."""
IDLE = 15.0
"""How long a connection that is not used is kept, in seconds: shorter than a server keeps it."""


class Connection:
    """An HTTP/1.1 connection. It is for one thread, except for abort."""

    def __init__(self, http_connection: http.client.HTTPConnection):
        self.http = http_connection
        # http.client lets go of the socket when the server says that it will close the connection, and reads on.
        self._sock: socket.socket = http_connection.sock
        self.idle_since = 0.0

    def set_timeout(self, seconds: float | None) -> None:
        """Bounds each wait for the server from now on."""
        self._sock.settimeout(seconds)

    def usable(self) -> bool:
        """Whether an idle connection can take a call: the server has not closed it, and is not about to."""
        if self.http.sock is None or time.monotonic() - self.idle_since > IDLE:
            return False
        return not self._readable()

    def answered(self) -> bool:
        """Whether the server has answered, or closed the connection, while a request is being sent. With TLS that is not
        known: what there is to read may be its own."""
        return not isinstance(self._sock, ssl.SSLSocket) and self._readable()

    def _readable(self) -> bool:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([self._sock], [], [], 0)[0])

    def abort(self) -> None:
        """Breaks the connection off, from any thread: a call that waits on it then fails."""
        # That of the plain socket: the one of a TLS socket takes its state away from under the thread that reads.
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the connection, from the thread that uses it."""
        self.http.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self._path)
        except BaseException:
            sock.close()
            raise
        self.sock = sock


class Endpoint:
    """A server's address: http://host:port, https://host:port, both with a path if the server is under one, or
    unix:///path/of/socket. Variables for proxies are not looked at."""

    def __init__(self, url: str, ca_file: str | None, cert_file: str | None, key_file: str | None):
        try:
            parts = urllib.parse.urlsplit(url)
            self._host, self._port = parts.hostname, parts.port
        except (ValueError, TypeError, AttributeError) as cause:
            raise InvalidError.of("url", "is not a URL") from cause
        if parts.username or parts.password or parts.query or parts.fragment:
            raise InvalidError.of("url", "has more than a scheme, a host, a port and a path")
        self.url = url
        self._unix = self._tls = None
        self.prefix = ""
        if parts.scheme == "unix":
            self._unix = urllib.parse.unquote(parts.path)
            if parts.netloc or not os.path.isabs(self._unix):
                raise InvalidError.of("url", "of a unix socket is unix:// and an absolute path")
            if not hasattr(socket, "AF_UNIX"):
                raise InvalidError.of("url", "is of a unix socket, which this platform does not have")
        elif parts.scheme in ("http", "https") and self._host:
            self.prefix = parts.path.rstrip("/")
        else:
            raise InvalidError.of("url", "is neither http://, https:// nor unix://")
        if parts.scheme == "https":
            self._tls = _tls(ca_file, cert_file, key_file)
        elif ca_file or cert_file or key_file:
            raise InvalidError.of("url", "is not https, but there are files for TLS")

    def connect(self) -> Connection:
        """Makes a connection. Raises OSError: then nothing was sent."""
        connection: http.client.HTTPConnection
        if self._unix is not None:
            connection = _UnixConnection(self._unix, CONNECT_TIMEOUT)
        elif self._tls is not None:
            connection = http.client.HTTPSConnection(
                self._host or "", self._port, timeout=CONNECT_TIMEOUT, context=self._tls
            )
        else:
            connection = http.client.HTTPConnection(self._host or "", self._port, timeout=CONNECT_TIMEOUT)
        connection.connect()
        return Connection(connection)


def _tls(ca_file: str | None, cert_file: str | None, key_file: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as cause:
        raise InvalidError.of("ca_file", f"cannot be read: {cause}") from cause
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cert_file or key_file:
        if not cert_file:
            raise InvalidError.of("cert_file", "is missing, and there is a key_file")
        try:
            context.load_cert_chain(cert_file, key_file)
        except (OSError, ssl.SSLError) as cause:
            raise InvalidError.of("cert_file", f"cannot be used: {cause}") from cause
    return context
