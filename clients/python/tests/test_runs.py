"""The contract about runs, against a real server."""

import json
import signal
import sys
import threading
import time
import unittest

import sandbar
from tests import live


class Runs(live.Case):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.open()

    def test_exec(self) -> None:
        output = self.session.exec("import sys\nprint('out')\nsys.stderr.write('err')\nsys.exit(3)")
        self.assertEqual((output.stdout, output.stderr), (b"out\n", b"err"))
        result = output.result
        self.assertEqual((result.exit_code, result.reason, result.signal, result.tier), (3, "exited", 0, "wasm"))
        self.assertEqual((result.stdout_bytes, result.stderr_bytes, result.truncated), (4, 3, False))
        self.assertGreater(result.wall_time, 0)
        self.assertGreater(result.peak_memory_bytes, 1 << 20)
        self.assertTrue(result.route)

    def test_run_code(self) -> None:
        self.assertEqual(self.session.run_code("print(2 + 2)"), b"4\n")
        with self.assertRaises(sandbar.ExitError) as caught:
            self.session.run_code("print('before')\nraise ValueError('no')")
        self.assertEqual((caught.exception.stdout, caught.exception.result.exit_code), (b"before\n", 1))
        self.assertTrue(str(caught.exception).endswith("ValueError: no"), caught.exception)

    def test_arguments(self) -> None:
        script = """
import json, os, sys
raw = [os.fsencode(a).hex() for a in sys.argv[1:]]
print(json.dumps([os.path.basename(__file__), raw, os.environb[b"A"].hex(), os.environ["B"], os.getcwd(), sys.stdin.read()]))
"""
        self.session.put_bytes("dir/f", b"")
        stdout = self.session.run_code(
            script,
            name="a name.py",
            args=["é", b"\xff\xfe", ""],
            env={"A": b"\xff", "B": "ü"},
            cwd="dir",
            stdin="in\n",
        )
        self.assertEqual(
            json.loads(stdout),
            ["a name.py", ["c3a9", "fffe", ""], "ff", "ü", "/tmp/sandbox-work/dir", "in\n"],
        )

    def test_arguments_are_checked(self) -> None:
        for options in (
            {"cwd": "missing"},
            {"cwd": "../.."},
            {"name": "a/b"},
            {"env": {"": "x"}},
            {"args": ["a\0b"]},
            {"network": "open"},
        ):
            with self.subTest(options), self.assertRaises(sandbar.SandbarError) as caught:
                self.session.run("1", **options)
            self.assertNotIsInstance(caught.exception, sandbar.Lost)
        with self.assertRaises(TypeError):
            self.session.exec("1", colour="red")

    def test_output_is_exact(self) -> None:
        data = bytes(range(256)) * 3 + b"\r\n\0no newline"
        output = self.session.exec("import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=data)
        self.assertEqual(output.stdout, data)

    def test_a_large_script(self) -> None:
        self.assertEqual(self.session.run_code("#" + "x" * 5_000_000 + "\nprint('ok')"), b"ok\n")

    def test_communicate(self) -> None:
        process = self.session.run("import sys\nd = sys.stdin.read()\nprint(len(d), end='')", stdin_pipe=True)
        self.assertTrue(process.run_id)
        self.assertEqual(process.tier, "wasm")
        self.assertIsNone(process.result)
        output = process.communicate(b"x" * 3_000_000)
        self.assertEqual(output.stdout, b"3000000")
        self.assertEqual(process.result, output.result)
        self.assertEqual(process.communicate().stdout, b"")

    def test_communicate_text(self) -> None:
        process = self.session.run("import os\nos.write(1, b'a\\xffb')\nos.write(2, 'é'.encode())")
        output = process.communicate_text()
        self.assertEqual((output.stdout, output.stderr), ("a\ufffdb", "é"))
        with self.assertRaises(sandbar.InvalidError):
            self.session.run("1").communicate("input")

    def test_a_script_that_does_not_read_its_stdin(self) -> None:
        process = self.session.run("print('done')", stdin_pipe=True)
        self.assertEqual(process.communicate(b"x" * 1_000_000).stdout, b"done\n")

    def test_stdin_in_turns(self) -> None:
        process = self.session.run("for line in __import__('sys').stdin:\n print('got', line, end='', flush=True)", stdin_pipe=True)
        lines = process.iter_stdout_lines()
        for word in ("one", "two"):
            process.write_stdin(word + "\n")
            self.assertEqual(next(lines), "got " + word)
        process.close_stdin()
        process.close_stdin()
        self.assertEqual(list(lines), [])
        self.assertEqual(process.wait().exit_code, 0)
        with self.assertRaises(sandbar.StdinClosed):
            process.write_stdin("late")
        with self.assertRaises(sandbar.InvalidError):
            self.session.run("1").write_stdin("x")

    def test_streams(self) -> None:
        process = self.session.run("import sys\nfor i in range(3):\n print(i); print('e', i, file=sys.stderr)\nprint('last', end='')")
        first = process.iter_stdout_lines()
        self.assertEqual(next(first), "0")
        first.close()
        self.assertEqual(list(process.iter_stdout_lines()), ["1", "2", "last"])
        self.assertEqual(list(process.iter_stderr_lines()), ["e 0", "e 1", "e 2"])
        self.assertEqual(process.communicate().stderr, b"")
        self.assertEqual(process.result.exit_code, 0)

    def test_bytes_as_they_come(self) -> None:
        process = self.session.run("import sys\nsys.stdout.buffer.write(b'\\xff' * 100000)")
        self.assertEqual(b"".join(process.iter_stdout()), b"\xff" * 100_000)
        process = self.session.run("import os\nos.write(2, b'\\xfe' * 10)")
        self.assertEqual(b"".join(process.iter_stderr()), b"\xfe" * 10)

    def test_neither_stream_blocks_the_other(self) -> None:
        script = "import sys\nfor _ in range(300):\n sys.stderr.write('e' * 10000)\n sys.stdout.write('o' * 10000)\n"
        output = self.session.run(script).communicate()
        self.assertEqual((len(output.stdout), len(output.stderr)), (3_000_000, 3_000_000))
        process = self.session.run(script, max_output_bytes=1000)
        self.assertEqual(sum(map(len, process.iter_stdout())), 3_000_000)
        output = process.communicate()
        self.assertEqual((output.stderr, output.result.truncated), (b"e" * 1000, True))

    def test_kept_output_is_capped(self) -> None:
        script = "print('x' * 3000000, end='')"
        for output in (
            self.session.exec(script, max_output_bytes=1000),
            self.session.run(script, max_output_bytes=1000).communicate(),
        ):
            self.assertEqual((len(output.stdout), output.result.truncated), (1000, True))
            self.assertEqual(output.result.stdout_bytes, 3_000_000)
        output = self.session.exec("print('x' * 9000000, end='')", max_output_bytes=-1)
        self.assertEqual((len(output.stdout), output.result.truncated), (9_000_000, False))
        output = self.session.exec("print('x' * 9000000, end='')")
        self.assertEqual((len(output.stdout), output.result.truncated), (8 << 20, True))

    def test_a_streamed_script_waits_for_the_reader(self) -> None:
        process = self.session.run(
            "import sys\nfor i in range(4000):\n sys.stdout.write('x' * 9999 + '\\n')\nopen('done', 'w').close()"
        )
        lines = process.iter_stdout_lines()
        next(lines)
        time.sleep(0.5)
        self.assertIsNone(process.result)
        self.assertRaises(sandbar.NotExist, self.session.stat, "done")
        self.assertEqual(sum(1 for _ in lines), 3999)
        self.assertFalse(process.wait().truncated)

    def test_timeout(self) -> None:
        output = self.session.exec("print('before')\nwhile True: pass", timeout=0.3)
        self.assertEqual((output.result.reason, output.result.exit_code, output.stdout), ("timeout", 124, b"before\n"))
        self.assertEqual(self.session.exec("print(1)", timeout=sandbar.NO_TIMEOUT).result.exit_code, 0)
        self.assertEqual(self.session.exec("print(1)", timeout=0).result.exit_code, 0)

    def test_a_run_that_is_ended_does_not_wait_for_its_reader(self) -> None:
        process = self.session.run("while True: print('x' * 1000)", timeout=1)
        lines = process.iter_stdout_lines()
        next(lines)
        result = process.wait(20)
        self.assertEqual((result.reason, result.truncated), ("timeout", True))
        self.assertGreater(sum(1 for _ in lines), 100)

    def test_wait(self) -> None:
        process = self.session.run("import time\ntime.sleep(60)")
        with self.assertRaises(sandbar.DeadlineError):
            process.wait(0.1)
        process.kill()
        result = process.wait(10)
        self.assertEqual((result.reason, result.exit_code), ("cancelled", 137))
        process.kill()
        process.signal("interrupt")

    def test_signals(self) -> None:
        script = "import time\nprint('ready', flush=True)\ntry:\n time.sleep(60)\nexcept KeyboardInterrupt:\n print('interrupted')"
        for number in ("interrupt", signal.SIGINT):
            process = self.session.run(script)
            lines = process.iter_stdout_lines()
            self.assertEqual(next(lines), "ready")
            process.signal(number)
            self.assertEqual(list(lines), ["interrupted"])
            self.assertEqual(process.wait(10).exit_code, 0)
        for number in ("kill", "terminate", signal.SIGTERM):
            process = self.session.run(script)
            process.signal(number)
            self.assertEqual(process.wait(10).reason, "cancelled")
        with self.assertRaises(sandbar.InvalidError):
            process.signal("hup")

    def test_leaving_a_process_ends_the_run(self) -> None:
        with self.session.run("import time\ntime.sleep(60)") as process:
            self.assertEqual(live.running(self.session), [process.run_id])
        live.until(lambda: not live.running(self.session))

    def test_closing_the_session_ends_its_runs(self) -> None:
        process = self.session.run("import time\ntime.sleep(60)")
        self.session.close()
        self.assertEqual(process.wait(10).reason, "cancelled")

    def test_detached(self) -> None:
        process = self.session.run("import sys, time\nprint('one', flush=True)\ntime.sleep(1)\nprint('two')", detach=True)
        self.assertEqual(next(process.iter_stdout_lines()), "one")
        process.close()
        (run,) = self.session.runs()
        self.assertEqual((run.run_id, run.detached, run.result), (process.run_id, True, None))
        again = self.session.attach_run(process.run_id)
        self.assertEqual(again.communicate().stdout, b"one\ntwo\n")
        self.assertEqual(self.session.runs()[0].result.exit_code, 0)
        rest = self.session.attach_run(process.run_id, stdout_offset=4)
        self.assertEqual((rest.communicate().stdout, rest.stdout_skipped), (b"two\n", 0))
        with self.assertRaises(sandbar.NotFound):
            self.session.attach_run("none such")

    def test_what_the_server_no_longer_has_of_a_detached_run_is_skipped(self) -> None:
        process = self.session.run("print('x' * 5000000)", detach=True)
        process.wait()
        again = self.session.attach_run(process.run_id, stdout_offset=1)
        output = again.communicate()
        self.assertEqual(1 + again.stdout_skipped + len(output.stdout), 5_000_001)
        self.assertGreater(again.stdout_skipped, 0)
        self.assertTrue(output.result.truncated)

    def test_live_interpreter(self) -> None:
        self.session.run_code("x = 41", interpreter="session")
        output = self.session.exec("x += 1\nx", interpreter="session")
        self.assertEqual((output.result.value, output.result.interpreter_lost), ("42", False))
        self.session.reset_interpreter()
        output = self.session.exec("x", interpreter="session")
        self.assertIn(b"NameError", output.stderr)
        output = self.session.exec("while True: pass", interpreter="session", timeout=0.2)
        self.assertTrue(output.result.interpreter_lost)

    def test_usage(self) -> None:
        self.session.run_code("print(1)")
        self.session.exec("raise SystemExit(1)")
        usage = self.session.usage()
        self.assertEqual((usage.runs, usage.running, usage.stdout_bytes), (2, 0, 2))
        self.assertEqual((usage.by_tier, usage.by_reason), ({"wasm": 2}, {"exited": 2}))
        self.assertGreater(usage.wall_time, 0)

    def test_needs_native(self) -> None:
        session = self.open(python_tier="wasm")
        with self.assertRaises(sandbar.NeedsNativeError) as caught:
            session.run("import os\nimport subprocess")
        self.assertIsInstance(caught.exception, sandbar.NotStarted)
        self.assertEqual((caught.exception.module, caught.exception.line), ("subprocess", 2))

    def test_many_at_a_time(self) -> None:
        wrong = []

        def work(n: int) -> None:
            for i in range(10):
                size = 65537 + n * 10 + i
                out = self.session.exec(f"import sys\nsys.stdout.write('x' * {size} + 'TAIL')").stdout
                if len(out) != size + 4 or not out.endswith(b"TAIL"):
                    wrong.append((n, i, len(out)))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


@live.needs_native
class Native(live.Case):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.native()

    def test_shell(self) -> None:
        output = self.session.exec("printf 'ok\\377'; printf err >&2; kill -TERM $$", type="shell")
        self.assertEqual((output.stdout, output.stderr), (b"ok\xff", b"err"))
        result = output.result
        self.assertEqual((result.tier, result.backend), ("native", live.BACKEND))
        self.assertEqual((result.reason, result.signal, result.exit_code), ("signaled", 15, 143))

    def test_background(self) -> None:
        process = self.session.run("(sleep 0.5; echo later) & echo now", type="shell", background=True)
        self.assertEqual(list(process.iter_stdout_lines()), ["now", "later"])

    def test_terminal(self) -> None:
        process = self.session.run("stty size; read x; stty size", type="shell", terminal=(24, 80), stdin_pipe=True)
        lines = process.iter_stdout_lines()
        self.assertEqual(next(lines), "24 80\r")
        process.resize(30, 100)
        process.write_stdin("\n")
        self.assertEqual([line for line in lines if line.strip()], ["30 100\r"])

    def test_both_tiers_have_the_same_files(self) -> None:
        self.session.run_code("open('f', 'w').write('from python')")
        self.assertEqual(self.session.run_code("cat f", type="shell"), b"from python")

    def test_more_output_than_memory_may_take(self) -> None:
        output = self.session.exec("head -c 50000000 /dev/zero | tr '\\0' x", type="shell")
        self.assertEqual((len(output.stdout), output.result.truncated), (8 << 20, True))
        self.assertEqual(output.result.stdout_bytes, 50_000_000)


if __name__ == "__main__":
    unittest.main()
