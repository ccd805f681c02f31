"""The same for asyncio, against a real server."""

import asyncio
import os
import tempfile
import time
import unittest

import sandbar
from tests import live

SLEEP = "import time\nprint('started', flush=True)\ntime.sleep(60)"


@live.needs_server
class Async(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:  # noqa: N802
        asyncio.get_running_loop().slow_callback_duration = 10  # this machine may be busy
        self.client = sandbar.AsyncClient(live.URL, live.TOKEN)
        self.session = await self.client.session()
        self.addAsyncCleanup(self._close)

    async def _close(self) -> None:
        await self.session.close()
        await self.client.close()

    async def running(self) -> list[str]:
        return [run.run_id for run in await self.session.runs() if run.result is None]

    async def no_runs(self) -> None:
        last = time.monotonic() + 10
        while await self.running():
            self.assertLess(time.monotonic(), last, "the run goes on")
            await asyncio.sleep(0.05)

    async def test_all_names(self) -> None:
        """Each method of the synchronous classes is there."""
        for one, other in (
            (sandbar.Client, sandbar.AsyncClient),
            (sandbar.Session, sandbar.AsyncSession),
            (sandbar.Process, sandbar.AsyncProcess),
        ):
            names = {n for n in vars(one) if not n.startswith("_")} - {"add_done_callback"}
            self.assertEqual(names - set(vars(other)), set())

    async def test_calls(self) -> None:
        self.assertFalse((await self.client.health()).draining)
        self.assertIn(self.session.session_id, [s.session_id for s in await self.client.sessions()])
        self.assertEqual(await self.session.run_code("print(2 + 2)"), b"4\n")
        output = await self.session.exec("import sys\nsys.exit(3)")
        self.assertEqual(output.result.exit_code, 3)
        with self.assertRaises(sandbar.ExitError):
            await self.session.run_code("1/0")
        await self.session.put_bytes("f", b"x")
        self.assertEqual(await self.session.get_bytes("f"), b"x")
        self.assertEqual([e.name for e in await self.session.list()], ["f"])
        self.assertEqual((await self.session.stat("f")).size, 1)
        self.assertEqual([c.path for c in await self.session.diff()], ["f"])
        await self.session.mark()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f")
            self.assertEqual(await self.session.get_file("f", path), 1)
            await self.session.put_file("g", path)
        await self.session.remove("f")
        with self.assertRaises(sandbar.NotExist):
            await self.session.get_bytes("f")
        with self.assertRaises(sandbar.SandbarError):
            await self.session.commit()
        await self.session.renew()
        await self.session.reset_interpreter()
        self.assertEqual((await self.session.info()).session_id, self.session.session_id)
        self.assertEqual((await self.session.usage()).runs, 3)
        async with self.client.attach(self.session.reference()) as attached:
            self.assertEqual([e.name for e in await attached.list()], ["g"])

    async def test_snapshot(self) -> None:
        await self.session.run_code("x = 1", interpreter="session")
        snapshot = await self.session.snapshot()
        self.assertIn(snapshot.snapshot_id, [s.snapshot_id for s in await self.client.snapshots()])
        async with self.session.open_from(snapshot) as branch:
            self.assertEqual((await branch.exec("x", interpreter="session")).result.value, "1")
        await self.client.remove_snapshot(snapshot)

    async def test_streams(self) -> None:
        process = await self.session.run("import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)", stdin_pipe=True)
        lines = process.iter_stdout_lines()
        for word in ("one", "two"):
            await process.write_stdin(word + "\n")
            self.assertEqual(await anext(lines), "got " + word)
        await process.close_stdin()
        self.assertEqual([line async for line in lines], [])
        self.assertEqual((await process.wait()).exit_code, 0)
        self.assertEqual(process.result.reason, "exited")

    async def test_break_and_go_on(self) -> None:
        process = await self.session.run("import sys\nfor i in range(3): print(i)\nprint('e', file=sys.stderr)")
        async for line in process.iter_stdout_lines():
            self.assertEqual(line, "0")
            break
        self.assertEqual([line async for line in process.iter_stdout_lines()], ["1", "2"])
        self.assertEqual([line async for line in process.iter_stderr_lines()], ["e"])

    async def test_bytes(self) -> None:
        process = await self.session.run("import sys\nsys.stdout.buffer.write(b'\\xff' * 3000000)")
        self.assertEqual(sum([len(part) async for part in process.iter_stdout()]), 3_000_000)
        process = await self.session.run("import os\nos.write(2, b'e')")
        self.assertEqual([part async for part in process.iter_stderr()], [b"e"])

    async def test_communicate(self) -> None:
        process = await self.session.run("import sys\nprint(len(sys.stdin.read()))", stdin_pipe=True)
        self.assertEqual((await process.communicate(b"x" * 2_000_000)).stdout, b"2000000\n")
        process = await self.session.run("print('é')")
        self.assertEqual((await process.communicate_text()).stdout, "é\n")

    async def test_wait_kill_detach(self) -> None:
        process = await self.session.run(SLEEP, detach=True)
        with self.assertRaises(sandbar.DeadlineError):
            await process.wait(0.1)
        await process.close()
        self.assertEqual(await self.running(), [process.run_id])
        process = await self.session.attach_run(process.run_id)
        await process.kill()
        self.assertEqual((await process.wait()).reason, "cancelled")
        with self.assertRaises(sandbar.InvalidError):
            await process.signal("hup")

    async def test_cancelled_tasks_end_the_run(self) -> None:
        async def waits() -> None:
            await (await self.session.run(SLEEP)).wait()

        async def iterates() -> None:
            async for _ in (await self.session.run(SLEEP)).iter_stdout_lines():
                pass

        async def executes() -> None:
            await self.session.exec(SLEEP)

        async def writes() -> None:
            process = await self.session.run(SLEEP, stdin_pipe=True)
            await process.communicate(b"x" * 5_000_000)

        for job in (waits, iterates, executes, writes):
            with self.subTest(job.__name__):
                task = asyncio.create_task(job())
                while not await self.running():
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await self.no_runs()

    async def test_a_cancelled_task_leaves_a_detached_run(self) -> None:
        process = await self.session.run(SLEEP, detach=True)
        task = asyncio.create_task(process.wait())
        await asyncio.sleep(0.1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        (run,) = await self.session.runs()
        self.assertIsNone(run.result)

    async def test_leaving_a_block_ends_the_run(self) -> None:
        async with self.session.run(SLEEP):
            self.assertEqual(len(await self.running()), 1)
        await self.no_runs()

    async def test_many_at_a_time(self) -> None:
        """More than a pool of threads would have, each waiting; and a call still gets through."""
        sleepers = await asyncio.gather(*(self.session.run("import time\ntime.sleep(60)", stdin_pipe=True) for _ in range(40)))
        writers = [asyncio.create_task(p.communicate(b"x" * 200_000)) for p in sleepers]
        await asyncio.sleep(0.2)
        self.assertEqual(await self.session.run_code("print(1)"), b"1\n")
        await asyncio.gather(*(p.kill() for p in sleepers))
        for output in await asyncio.gather(*writers):
            self.assertEqual(output.result.reason, "cancelled")
        outputs = await asyncio.gather(*(self.session.run_code(f"print({n})") for n in range(100)))
        self.assertEqual(outputs, [b"%d\n" % n for n in range(100)])

    async def test_the_loop_is_not_held_up(self) -> None:
        process = await self.session.run("import time\ntime.sleep(0.5)\nprint('x' * 1000000)")
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticker = asyncio.create_task(tick())
        await process.communicate()
        ticker.cancel()
        self.assertGreater(ticks, 5)


if __name__ == "__main__":
    unittest.main()
