"""What is kept, dropped and waited for of the output of a run."""

import threading
import time
import unittest

from sandbar._output import WINDOW, Ended, Output
from sandbar._texts import last_line


def writer(output: Output, *parts: bytes) -> threading.Thread:
    def write() -> None:
        for part in parts:
            output.write(part)
        output.end()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def blocked(thread: threading.Thread) -> bool:
    thread.join(0.1)
    return thread.is_alive()


class Keeping(unittest.TestCase):
    def test_kept_up_to_the_limit_then_dropped(self) -> None:
        output = Output(5)
        output.keep()
        writer(output, b"abc", b"defg", b"h").join(5)
        self.assertTrue(output.truncated)
        self.assertEqual(output.take_all(), b"abcde")

    def test_the_limit_itself_is_not_truncated(self) -> None:
        output = Output(5)
        output.keep()
        writer(output, b"abcde").join(5)
        self.assertFalse(output.truncated)

    def test_nobody_yet_waits_and_loses_nothing(self) -> None:
        output = Output(5)
        thread = writer(output, b"abcdefghij")
        self.assertTrue(blocked(thread))
        output.claim()
        self.assertEqual(output.read() + output.read(), b"abcdefghij")
        self.assertEqual(output.read(), b"")
        self.assertFalse(output.truncated)

    def test_streaming_has_a_bound_and_loses_nothing(self) -> None:
        output = Output(5)
        output.claim()
        thread = writer(output, *[b"x" * 1000] * (WINDOW // 500))
        self.assertTrue(blocked(thread))
        self.assertLessEqual(output._size, WINDOW)
        total = 0
        while data := output.read():
            total += len(data)
        self.assertEqual(total, WINDOW // 500 * 1000)
        self.assertFalse(output.truncated)

    def test_no_limit(self) -> None:
        output = Output(None)
        writer(output, b"x" * (WINDOW * 3)).join(5)
        self.assertEqual(len(output.take_all()), WINDOW * 3)

    def test_a_run_that_is_being_stopped_does_not_wait(self) -> None:
        output = Output(5)
        output.claim()
        thread = writer(output, b"x" * (WINDOW + 1))
        self.assertTrue(blocked(thread))
        output.stop()
        thread.join(5)
        self.assertFalse(thread.is_alive())
        self.assertTrue(output.truncated)


    def test_a_stuck_writer_says_so_once(self) -> None:
        calls = []
        output = Output(5, lambda: calls.append(1))
        output.keep()
        output.write(b"x" * 10)
        self.assertEqual(calls, [])
        output.claim()
        thread = writer(output, b"x" * (2 * WINDOW))
        while not calls:
            time.sleep(0.01)
        self.assertTrue(blocked(thread))
        while output.read():
            pass
        self.assertEqual(calls, [1])


class Reading(unittest.TestCase):
    def lines(self, *parts: bytes, limit: int | None = None) -> list[str]:
        output = Output(limit)
        output.claim()
        writer(output, *parts)
        got = []
        while (line := output.line()) is not None:
            got.append(line)
        return got

    def test_lines(self) -> None:
        rows = [
            ((b"a\nb\n",), ["a", "b"]),
            ((b"a\nb",), ["a", "b"]),
            ((b"\n\n",), ["", ""]),
            ((b"",), []),
            ((b"\xc3", b"\xa9\r\n"), ["é\r"]),
            ((b"\xff\xfe\n",), ["\ufffd\ufffd"]),
            ((b"a\0b\x0bc\x1cd\xe2\x80\xa8e\n",), ["a\0b\x0bc\x1cd\u2028e"]),
            (tuple(bytes([c]) for c in b"one\ntwo"), ["one", "two"]),
        ]
        for parts, want in rows:
            with self.subTest(parts):
                self.assertEqual(self.lines(*parts), want)

    def test_a_long_line_comes_in_pieces(self) -> None:
        self.assertEqual(self.lines(b"abcdefgh\nij\n", limit=3), ["abc", "def", "gh", "ij"])
        self.assertEqual(self.lines(b"abc\n", limit=3), ["abc"])

    def test_a_line_longer_than_the_window(self) -> None:
        (line,) = self.lines(*[b"x" * 1000] * (WINDOW // 250), limit=8 << 20)
        self.assertEqual(len(line), WINDOW // 250 * 1000)

    def test_bytes_after_lines(self) -> None:
        output = Output(None)
        output.write(b"one\ntwo\nthr")
        self.assertEqual(output.line(), "one")
        self.assertEqual(output.read(), b"two\nthr")
        output.write(b"ee\n")
        self.assertEqual(output.line(), "ee")

    def test_poll(self) -> None:
        output = Output(None)
        self.assertEqual(output.poll(), b"")
        self.assertIsNone(output.poll_line())
        called = threading.Event()
        output.when_ready(called.set)
        self.assertFalse(called.is_set())
        output.write(b"a")
        self.assertTrue(called.is_set())
        self.assertIsNone(output.poll_line())
        called.clear()
        output.when_ready(called.set)  # there is nothing new
        self.assertFalse(called.is_set())
        output.end()
        self.assertTrue(called.is_set())
        self.assertEqual(output.poll_line(), "a")
        with self.assertRaises(Ended):
            output.poll_line()
        with self.assertRaises(Ended):
            output.poll()

    def test_many_readers_and_writers_in_turn(self) -> None:
        output = Output(1000)
        output.claim()
        data = bytes(range(256)) * 5000
        writer(output, *(data[i : i + 777] for i in range(0, len(data), 777)))
        got = bytearray()
        while part := output.read():
            got += part
            if len(got) % 50 == 0:
                time.sleep(0.0005)
        self.assertEqual(bytes(got), data)


class LastLine(unittest.TestCase):
    def test_is_fit_for_a_message(self) -> None:
        self.assertEqual(last_line(b"Traceback\n  File\nValueError: x\n\n"), "ValueError: x")
        self.assertEqual(last_line(b"\x1b[31mred\x07"), "\ufffd[31mred\ufffd")
        self.assertEqual(last_line(b""), "")
        self.assertEqual(len(last_line(b"x" * 1_000_000)), 200)


if __name__ == "__main__":
    unittest.main()
