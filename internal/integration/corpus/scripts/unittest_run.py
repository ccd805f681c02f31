"""Run a unittest suite in the script and report on stdout."""
import io
import re
import sys
import unittest
from unittest import mock


class Stack:
    def __init__(self):
        self._items = []

    def push(self, x):
        self._items.append(x)

    def pop(self):
        if not self._items:
            raise IndexError("pop from empty stack")
        return self._items.pop()

    def __len__(self):
        return len(self._items)


class TestStack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print("setUpClass")

    def setUp(self):
        self.stack = Stack()
        self.addCleanup(lambda: None)

    def test_push_pop(self):
        self.stack.push(1)
        self.assertEqual(self.stack.pop(), 1)
        self.assertEqual(len(self.stack), 0)

    def test_pop_empty(self):
        with self.assertRaisesRegex(IndexError, "empty"):
            self.stack.pop()

    def test_wrong(self):
        """This one fails on purpose."""
        self.assertEqual({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]})

    def test_error(self):
        self.stack.nothing()

    @unittest.skip("not ready")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("known bug")

    def test_subtests(self):
        for i in range(4):
            with self.subTest(i=i):
                self.assertLess(i, 2)

    def test_multiline(self):
        self.assertMultiLineEqual("one\ntwo\n", "one\n2\n")

    def test_misc(self):
        self.assertAlmostEqual(0.1 + 0.2, 0.3)
        self.assertCountEqual([3, 1, 2], [1, 2, 3])
        self.assertIsNone(None)
        with self.assertLogs("x", "INFO") as cm:
            __import__("logging").getLogger("x").info("hey")
        self.assertEqual(cm.output, ["INFO:x:hey"])


class TestMock(unittest.TestCase):
    def test_mock(self):
        m = mock.Mock(return_value=5)
        self.assertEqual(m(1, k=2), 5)
        m.assert_called_once_with(1, k=2)
        m.side_effect = [1, ValueError("boom")]
        self.assertEqual(m(), 1)
        self.assertRaises(ValueError, m)

    @mock.patch("os.getcwd", return_value="/patched")
    def test_patch(self, fake):
        import os
        self.assertEqual(os.getcwd(), "/patched")

    def test_call_mismatch(self):
        m = mock.MagicMock(name="svc")
        m.send("a")
        m.send.assert_called_with("b")


def run(verbosity):
    stream = io.StringIO()
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=stream, verbosity=verbosity).run(suite)
    print(re.sub(r"in \d+\.\d+s", "in N s", stream.getvalue()))
    return result


r = run(2)
print("ran", r.testsRun, "failures", len(r.failures), "errors", len(r.errors), "skipped", len(r.skipped), "ok", r.wasSuccessful())
sys.exit(not r.wasSuccessful())
