"""Dead streams, silence and garbage. No error may be taken for an end, and no run be made twice."""

import asyncio
import base64
import contextlib
import os
import queue
import socket
import threading
import time
import unittest

import sandbar
from tests.faulty import Case, Exchange


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def ok(x: Exchange) -> None:
    x.event(exited={"exitCode": 0, "reason": "REASON_EXITED"})
    x.end()


class DeadRuns(Case):
    def lost(self, run: object, **options: object) -> sandbar.Lost:
        session = self.session(self.serve(Run=run), **options)
        process = session.run("x")
        with self.assertRaises(sandbar.Lost) as caught:
            process.communicate()
        self.assertIsNone(process.result)
        self.assertEqual(caught.exception.kinds, ("lost",))
        return caught.exception

    def test_connection_closed(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.event(stdout=b64(b"some\xff"), stderr=b64(b"e"))
            x.connection.shutdown(socket.SHUT_RDWR)

        error = self.lost(run)
        self.assertEqual((error.stdout, error.stderr), (b"some\xff", b"e"))

    def test_connection_reset(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            time.sleep(0.1)
            x.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            os.close(x.connection.detach())

        self.lost(run)

    def test_cut_within_an_envelope(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.chunk(b"\0\0\0\0\x50{")
            x.connection.shutdown(socket.SHUT_RDWR)

        self.lost(run)

    def test_orderly_end_without_the_exited_event(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.end()

        self.lost(run)

    def test_http_end_without_the_end_of_the_stream(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.chunk(b"")

        self.lost(run)

    def test_garbage(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.chunk(b"<html>")

        self.lost(run)

    def test_values_of_the_wrong_kind(self) -> None:
        for event in ({"stdout": 5}, {"stdout": "***"}, {"exited": []}, {"exited": {"exitCode": "x"}}, {"stdoutSkipped": {}}):

            def run(x: Exchange, event: dict = event) -> None:
                x.stream()
                x.started()
                x.event(**event)

            with self.subTest(event):
                self.lost(run)

    def test_the_server_says_that_it_is_lost(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.event(exited={"reason": "REASON_LOST"})
            x.end()

        self.lost(run)

    def test_the_server_says_why(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.end({"error": {"code": "aborted", "details": [{"type": "sandbox.v2.ErrorDetail", "value": "CgEG"}]}})

        self.lost(run)

    def test_silence(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)

        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            over.wait(30)

        error = self.lost(run, heartbeat=1)
        self.assertIn("silent", str(error))

    def test_silence_of_a_server_that_will_close_the_connection(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)

        def run(x: Exchange) -> None:
            x.stream(b"Connection: close\r\n")
            x.started()
            over.wait(30)

        self.lost(run, heartbeat=1)

    def test_heartbeats_keep_a_silent_run(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.event()
            x.started()
            for _ in range(8):
                time.sleep(0.5)
                x.event()
            ok(x)

        session = self.session(self.serve(Run=run), heartbeat=1)
        self.assertEqual(session.exec("x").result.exit_code, 0)

    def test_death_before_the_start(self) -> None:
        def nothing(x: Exchange) -> None:
            x.connection.shutdown(socket.SHUT_RDWR)

        def head(x: Exchange) -> None:
            x.stream()
            x.connection.shutdown(socket.SHUT_RDWR)

        def end(x: Exchange) -> None:
            x.stream()
            x.end()

        for run in (nothing, head, end):
            server = self.serve(Run=run)
            with self.subTest(run.__name__), self.assertRaises(sandbar.Lost) as caught:
                self.session(server).run("x")
            self.assertIn("may have run", str(caught.exception))
            self.assertEqual(server.calls.count("Run"), 1)

    def test_iterators_give_what_there_is_and_raise(self) -> None:
        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            x.event(stdout=b64(b"one\ntw"))
            x.connection.shutdown(socket.SHUT_RDWR)

        process = self.session(self.serve(Run=run)).run("x")
        lines = []
        with self.assertRaises(sandbar.Lost):
            for line in process.iter_stdout_lines():
                lines.append(line)
        self.assertEqual(lines, ["one", "tw"])

    def test_who_writes_to_a_dead_run_is_released(self) -> None:
        released = threading.Event()

        def run(x: Exchange) -> None:
            x.stream()
            x.started()
            released.wait(10)
            x.connection.shutdown(socket.SHUT_RDWR)

        def write(x: Exchange) -> None:
            released.set()
            x.gone()

        session = self.session(self.serve(Run=run, WriteStdin=write))
        process = session.run("x", stdin_pipe=True)
        with self.assertRaises(sandbar.StdinClosed):
            process.write_stdin(b"x")
        with self.assertRaises(sandbar.Lost):
            process.communicate(b"x")


class LocalEnds(Case):
    def test_close_ends_the_connection(self) -> None:
        ends: queue.Queue[bool] = queue.Queue()
        for more in (b"", b"Connection: close\r\n"):

            def run(x: Exchange, more: bytes = more) -> None:
                x.stream(more)
                x.started()
                ends.put(x.gone())

            with self.subTest(more):
                process = self.session(self.serve(Run=run)).run("x")
                process.close()
                process.close()
                with self.assertRaises(sandbar.Closed):
                    process.wait()
                self.assertTrue(ends.get(timeout=10))

    def test_cancelled_tasks_end_the_connection(self) -> None:
        """Whatever a task waits for, also for the start of the run."""

        def before(x: Exchange) -> None:
            ends.put(x.gone())

        def after(x: Exchange) -> None:
            x.stream()
            x.started()
            ends.put(x.gone())

        async def starts(session: sandbar.AsyncSession) -> None:
            await session.run("x")

        async def executes(session: sandbar.AsyncSession) -> None:
            await session.exec("x")

        async def waits(session: sandbar.AsyncSession) -> None:
            await (await session.run("x")).wait()

        async def communicates(session: sandbar.AsyncSession) -> None:
            await (await session.run("x")).communicate()

        async def iterates(session: sandbar.AsyncSession) -> None:
            async for _ in (await session.run("x")).iter_stdout_lines():
                pass

        async def blocks(session: sandbar.AsyncSession) -> None:
            async with session.run("x"):
                await asyncio.sleep(60)

        import queue

        ends: queue.Queue[bool] = queue.Queue()
        for run, job in (
            (before, starts),
            (before, executes),
            (after, executes),
            (after, waits),
            (after, communicates),
            (after, iterates),
            (after, blocks),
        ):

            async def main(run: object = run, job: object = job) -> None:
                server = self.serve(Run=run)
                async with sandbar.AsyncClient(server.url) as client, client.session() as session:
                    task = asyncio.create_task(job(session))
                    while "Run" not in server.calls:
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.1)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
                    gone = await asyncio.to_thread(ends.get, timeout=10)
                    self.assertTrue(gone)

            with self.subTest(f"{job.__name__} {run.__name__} the start"):
                asyncio.run(main())

    def test_a_session_that_nobody_waited_for_is_closed(self) -> None:
        going = threading.Event()

        def open_session(x: Exchange) -> None:
            going.wait(10)
            x.unary({"session": {"sessionId": "s1"}})

        server = self.serve(OpenSession=open_session)

        async def main() -> None:
            client = sandbar.AsyncClient(server.url)
            task = asyncio.ensure_future(client.session().__aenter__())
            while "OpenSession" not in server.calls:
                await asyncio.sleep(0.01)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            going.set()
            for _ in range(500):
                if "CloseSession" in server.calls:
                    return
                await asyncio.sleep(0.01)
            self.fail("not closed")

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
