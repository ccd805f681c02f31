"""A network that fails between this client and a real server, and a client that dies."""

import subprocess
import sys
import unittest

import sandbar
from tests import live


class Failures(live.Case):
    """A network that fails, and programs that die."""

    def setUp(self) -> None:
        super().setUp()
        self.owner = self.open()
        self.relay = live.Relay()
        self.addCleanup(self.relay.close)
        self.far = live.client(self.relay.url, heartbeat=1, timeout=5)
        self.addCleanup(self.far.close)
        self.session = self.far.attach(self.owner.reference())
        self.addCleanup(self.session.close)

    def started(self, **options: object) -> sandbar.Process:
        process = self.session.run("import time\nprint('started', flush=True)\ntime.sleep(60)", **options)
        self.assertEqual(next(process.iter_stdout_lines()), "started")
        return process

    def test_a_cut_connection_is_lost_and_ends_the_run(self) -> None:
        process = self.started()
        self.relay.cut()
        with self.assertRaises(sandbar.Lost):
            process.wait(10)
        self.assertIsNone(process.result)
        live.until(lambda: not live.running(self.owner))

    def test_a_frozen_connection_is_lost(self) -> None:
        process = self.started()
        self.relay.freeze()
        with self.assertRaises(sandbar.Lost) as caught:
            process.wait(20)
        self.assertIn("silent", str(caught.exception))

    def test_a_silent_script_is_not_lost(self) -> None:
        output = self.session.exec("import time\ntime.sleep(5)\nprint('ok')")
        self.assertEqual(output.stdout, b"ok\n")

    def test_a_detached_run_outlives_its_connection(self) -> None:
        process = self.started(detach=True)
        self.relay.cut()
        with self.assertRaises(sandbar.Lost):
            process.wait(10)
        again = self.owner.attach_run(process.run_id)
        self.assertEqual(next(again.iter_stdout_lines()), "started")
        again.kill()
        self.assertEqual(again.wait(10).reason, "cancelled")

    def test_a_killed_client_ends_its_run(self) -> None:
        code = (
            "import sys, sandbar\n"
            "session = sandbar.Client(sys.argv[1], sys.argv[2] or None).attach({'name': sys.argv[3]})\n"
            "process = session.run('import time; time.sleep(60)')\n"
            "print(process.run_id, flush=True)\n"
            "process.wait()\n"
        )
        child = subprocess.Popen(
            [sys.executable, "-B", "-c", code, live.URL, live.TOKEN or "", self.owner.session_id],
            stdout=subprocess.PIPE,
            text=True,
        )
        with child:
            run_id = child.stdout.readline().strip()
            self.assertEqual(live.running(self.owner), [run_id])
            child.kill()
        live.until(lambda: not live.running(self.owner))


if __name__ == "__main__":
    unittest.main()
