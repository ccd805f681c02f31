"""Calls, transfers and leases, when the server refuses, dies and talks nonsense."""

import base64
import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import sandbar
from tests.faulty import Case, Exchange, Faulty


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Calls(Case):
    def test_calls_that_change_nothing_are_made_again(self) -> None:
        tries = []

        def health(x: Exchange) -> None:
            tries.append(1)
            if len(tries) == 1:
                x.unary({"code": "unavailable"}, "503 Service Unavailable")
            elif len(tries) == 2:
                x.connection.shutdown(socket.SHUT_RDWR)
            else:
                x.unary({"version": "v"})

        server = self.serve(Health=health)
        self.assertEqual(sandbar.Client(server.url).health().version, "v")
        self.assertEqual(len(tries), 3)

    def test_a_file_is_asked_for_again_until_something_has_come(self) -> None:
        tries = []

        def get(x: Exchange) -> None:
            tries.append(1)
            if len(tries) == 1:
                x.connection.shutdown(socket.SHUT_RDWR)
                return
            x.stream()
            if len(tries) == 2:
                x.end({"error": {"code": "unavailable"}})
                return
            x.chunk(b'\0\0\0\0\x0f{"data":"eHh4"}')
            if len(tries) == 3:
                x.end()
            else:
                x.connection.shutdown(socket.SHUT_RDWR)

        session = self.session(self.serve(GetFile=get))
        self.assertEqual(session.get_bytes("f"), b"xxx")
        with self.assertRaises(sandbar.Unavailable):
            session.get_bytes("f")
        self.assertEqual(len(tries), 4)

    def test_others_are_not(self) -> None:
        def away(x: Exchange) -> None:
            x.unary({"code": "unavailable"}, "503 Service Unavailable")

        server = self.serve(Run=away, PutBytes=away, RemoveFile=away)
        session = self.session(server)
        for call in (
            lambda: session.run("x"),
            lambda: session.exec("x"),
            lambda: session.put_bytes("a", b""),
            lambda: session.remove("a"),
        ):
            server.calls.clear()
            with self.assertRaises(sandbar.Unavailable):
                call()
            self.assertEqual(len(server.calls), 1)

    def test_refused_connections(self) -> None:
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
            began = time.monotonic()
            with self.assertRaises(sandbar.Unavailable) as caught:
                sandbar.Client(url).health()
            self.assertFalse(caught.exception.sent)
            self.assertGreater(time.monotonic() - began, 0.3, "there were no pauses")

    def test_a_server_that_comes_up_late(self) -> None:
        path = os.path.join(self.enterContextOf(tempfile.TemporaryDirectory()), "sock")
        server: list[Faulty] = []

        def begin() -> None:
            server.append(self.serve(unix=path, Health=lambda x: x.unary({})))

        timer = threading.Timer(0.15, begin)
        timer.start()
        self.addCleanup(timer.join)
        sandbar.Client(f"unix://{path}").health()

    def enterContextOf(self, context: contextlib.AbstractContextManager) -> str:  # noqa: N802 - enterContext is of 3.11
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def test_silence_is_a_deadline(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)
        server = self.serve(Health=lambda x: over.wait(30))
        with self.assertRaises(sandbar.DeadlineError):
            sandbar.Client(server.url, timeout=0.2).health()

    def test_garbage(self) -> None:
        rows = {
            "another type": lambda x: x.unary(b"{}", kind="text/html"),
            "no JSON": lambda x: x.unary(b"{"),
            "a list": lambda x: x.unary([]),
            "redirect": lambda x: x.unary(b"", "307 Temporary Redirect"),
            "values": lambda x: x.unary({"version": 5}),
            "endless": endless,
        }
        for name, answer in rows.items():
            with self.subTest(name), self.assertRaises(sandbar.ProtocolError):
                sandbar.Client(self.serve(Health=answer).url).health()

    def test_no_http_at_all(self) -> None:
        with self.assertRaises(sandbar.Unavailable):
            sandbar.Client(self.serve(OpenSession=lambda x: x.send(b"SSH-2.0-x\r\n" * 9)).url, timeout=2).session()

    def test_answers_cut_off(self) -> None:
        def half(x: Exchange) -> None:
            x.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}")
            x.connection.shutdown(socket.SHUT_RDWR)

        with self.assertRaises(sandbar.SandbarError):
            sandbar.Client(self.serve(OpenSession=half).url).session()

    def test_headers(self) -> None:
        server = self.serve(Health=lambda x: x.unary({}))
        sandbar.Client(server.url, "secret", timeout=5).health()
        headers = server.requests[0].headers
        self.assertEqual(headers["authorization"], "Bearer secret")
        self.assertEqual(headers["connect-protocol-version"], "1")
        self.assertEqual(headers["content-type"], "application/json")
        self.assertEqual(headers["connect-timeout-ms"], "5000")

    def test_connections_that_the_server_has_closed_are_not_used(self) -> None:
        def once(x: Exchange) -> None:
            x.unary({})
            x.connection.shutdown(socket.SHUT_RDWR)

        server = self.serve(PutBytes=once)
        session = self.session(server)
        for _ in range(5):
            session.put_bytes("a", b"")
            time.sleep(0.05)
        self.assertEqual(server.calls.count("PutBytes"), 5)

    def test_a_prefix(self) -> None:
        server = self.serve(Health=lambda x: x.unary({}))
        sandbar.Client(server.url + "/under/here/").health()
        self.assertEqual(server.calls, ["Health"])


def endless(x: Exchange) -> None:
    x.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    with contextlib.suppress(OSError):
        while True:
            x.chunk(b" " * (1 << 20))


class Transfers(Case):
    def test_get_file_is_complete_or_not_there(self) -> None:
        def get(x: Exchange) -> None:
            x.stream()
            data = b'{"data":"' + b64(b"half").encode() + b'"}'
            x.chunk(b"\0\0\0\0" + bytes([len(data)]) + data)
            x.connection.shutdown(socket.SHUT_RDWR)

        session = self.session(self.serve(GetFile=get))
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "f")
            with self.assertRaises(sandbar.Unavailable):
                session.get_file("f", target)
            self.assertEqual(os.listdir(folder), [])

    def test_more_than_was_asked_for(self) -> None:
        def get(x: Exchange) -> None:
            x.stream()
            data = b'{"data":"' + b64(b"12345").encode() + b'"}'
            x.chunk(b"\0\0\0\0" + bytes([len(data)]) + data)
            x.end()

        session = self.session(self.serve(GetFile=get))
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(sandbar.ProtocolError):
            session.get_file("f", os.path.join(folder, "f"), max_bytes=4)

    def test_a_source_that_fails_is_not_ended_in_an_orderly_way(self) -> None:
        class Bad:
            calls = 0

            def read(self, size: int) -> bytes:
                self.calls += 1
                if self.calls > 2:
                    raise OSError("disk on fire")
                return b"x" * size

        server = self.serve()
        with self.assertRaisesRegex(OSError, "disk on fire"):
            self.session(server).put_file("f", Bad())
        self.assertNotIn("PutFile", server.calls)

    def test_an_early_answer_ends_the_upload(self) -> None:
        """It is read, although the server closes the connection and the client is still sending."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        body = b'{"code":"invalid_argument","message":"no"}'

        def refuse() -> None:
            for answer in (
                b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n{"session":{"sessionId":"s1"}}\n',
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body),
            ):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    time.sleep(0.3)

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        client = sandbar.Client(f"http://127.0.0.1:{listener.getsockname()[1]}")
        session = client.session()
        session._lease.set()
        client._transport._idle.pop().close()
        sent = []

        class Slow:
            def read(self, size: int) -> bytes:
                time.sleep(0.01)
                sent.append(size)
                return b"x" * size

        with self.assertRaises(sandbar.InvalidError):
            session.put_file("f", Slow())
        self.assertLess(len(sent), 10_000)


class Transports(Case):
    def test_unix_socket(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            server = Faulty(unix=os.path.join(folder, "a%20socket"), Health=lambda x: x.unary({"version": "u"}))
            try:
                url = server.url.replace("%", "%25")
                self.assertEqual(sandbar.Client(url).health().version, "u")
            finally:
                server.close()

    @unittest.skipUnless(shutil.which("openssl"), "needs openssl")
    def test_tls(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cert, key = os.path.join(folder, "cert"), os.path.join(folder, "key")
            command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test"
            names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert]
            subprocess.run(command.split() + names, check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)

            def put(x: Exchange) -> None:
                x.stream()
                x.chunk(b"\0\0\0\0\2{}")
                x.end()

            def run(x: Exchange) -> None:
                x.stream()
                x.started()
                x.gone()

            server = self.serve(tls=context, Health=lambda x: x.unary({"version": "t"}), PutFile=put, Run=run)
            client = sandbar.Client(server.url, ca_file=cert)
            self.assertEqual(client.health().version, "t")
            self.assertEqual(client.health().version, "t")
            with client.session() as session:
                session.put_bytes("f", b"x" * 5_000_000)
                self.assertGreater(len(server.requests[-1].body), 5_000_000)
                process = session.run("x")
                process.close()
                with self.assertRaises(sandbar.Closed):
                    process.wait(10)
            self.assertEqual(len({id(x.connection) for x in server.requests[:2]}), 1, "the connection was not used again")
            with self.assertRaises(sandbar.Unavailable):
                sandbar.Client(server.url).session()


class Leases(Case):
    def test_renewed_while_open_and_not_after(self) -> None:
        server = self.serve(OpenSession=lambda x: x.unary({"session": {"sessionId": "s1", "idleTimeout": "0.6s"}}))
        session = sandbar.Client(server.url).session()
        deadline = time.monotonic() + 10
        while server.calls.count("RenewSession") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        session.close()
        session.close()
        self.assertEqual(server.calls.count("CloseSession"), 1)
        count = server.calls.count("RenewSession")
        self.assertGreaterEqual(count, 2)
        time.sleep(0.5)
        self.assertLessEqual(server.calls.count("RenewSession"), count + 1)
        with self.assertRaises(sandbar.Closed):
            session.run("x")

    def test_a_session_that_is_forgotten_is_not_renewed(self) -> None:
        session = sandbar.Client(self.serve().url).session()
        lease = session._lease
        del session
        self.assertTrue(lease.is_set())

    def test_ends_when_the_session_is_gone(self) -> None:
        def gone(x: Exchange) -> None:
            x.unary({"code": "not_found"}, "404 Not Found")

        server = self.serve(
            OpenSession=lambda x: x.unary({"session": {"sessionId": "s1", "idleTimeout": "0.3s"}}),
            RenewSession=gone,
            CloseSession=gone,
        )
        session = sandbar.Client(server.url).session()
        time.sleep(1)
        self.assertEqual(server.calls.count("RenewSession"), 1)
        session.close()  # what is not there any more is closed


if __name__ == "__main__":
    unittest.main()
