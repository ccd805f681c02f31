"""Conversions, and what is refused before anything is sent."""

import datetime
import math
import unittest

import sandbar
from sandbar import _answers, _requests
from sandbar import _values as v

RUN = {
    "type": "python",
    "name": None,
    "args": (),
    "env": None,
    "cwd": None,
    "timeout": None,
    "stdin": None,
    "stdin_pipe": False,
    "background": False,
    "interpreter": None,
    "network": None,
    "terminal": None,
    "detach": False,
    "max_output_bytes": None,
}


def run(script: object = "", **options: object) -> dict:
    return _requests.run("id", script, **(RUN | options))


class Durations(unittest.TestCase):
    def test_as_sent(self) -> None:
        rows = {
            0: "0.000000000s",
            1e-9: "0.000000001s",
            1e-300: "0.000000001s",
            0.1: "0.100000000s",
            1.5: "1.500000000s",
            86400 * 365: "31536000.000000000s",
            sandbar.NO_TIMEOUT: "9223372036.854775807s",
            1e308: "9223372036.854775807s",
            10**400: "9223372036.854775807s",
        }
        for value, text in rows.items():
            self.assertEqual(v.duration("timeout", value), text)
        self.assertEqual(v.duration("timeout", datetime.timedelta(milliseconds=2)), "0.002000000s")

    def test_refused(self) -> None:
        for value in (math.nan, math.inf, -math.inf, -1, -1e-9, "1", True, None, [], 1j):
            with self.subTest(value), self.assertRaises(sandbar.InvalidError) as caught:
                v.duration("timeout", value)
            self.assertEqual(caught.exception.field, "timeout")
            self.assertIsInstance(caught.exception, ValueError)

    def test_as_received(self) -> None:
        for text, value in {"1.5s": 1.5, "0s": 0, "-0.25s": -0.25, "3.000000001s": 3.000000001}.items():
            self.assertEqual(v.seconds(text), value)
        self.assertIsNone(v.seconds(None))
        for bad in ("", "s", "1", "1m", "nans", "infs", "1e999s", 5, []):
            with self.subTest(bad), self.assertRaises(sandbar.ProtocolError):
                v.seconds(bad)


class Scalars(unittest.TestCase):
    def test_integers(self) -> None:
        for value, number in {"5497558138880": 5 << 40, 7: 7, "-1": -1}.items():
            self.assertEqual(v.integer(value), number)
        self.assertEqual(v.integer(None), 0)
        self.assertIsNone(v.optional_integer(None))
        for bad in ("x", "", 1.5, True, [], str(1 << 64), "9" * 10_000):
            with self.subTest(str(bad)[:9]), self.assertRaises(sandbar.ProtocolError):
                v.integer(bad)

    def test_bytes(self) -> None:
        every = bytes(range(256))
        self.assertEqual(v.decode(v.encode(every)), every)
        self.assertEqual(v.decode(None), b"")
        for bad in ("a", "****", "é", 5, [], "YQ"):
            with self.subTest(bad), self.assertRaises(sandbar.ProtocolError):
                v.decode(bad)

    def test_timestamps(self) -> None:
        utc = datetime.timezone.utc
        self.assertEqual(
            v.timestamp("2026-11-30T01:43:47.123456789Z"), datetime.datetime(2026, 11, 30, 1, 43, 47, 123456, tzinfo=utc)
        )
        self.assertEqual(v.timestamp("2026-11-30T01:43:47Z"), datetime.datetime(2026, 11, 30, 1, 43, 47, tzinfo=utc))
        self.assertEqual(v.timestamp("2026-11-30T01:43:47.5Z").microsecond, 500_000)
        for bad in ("", "Z", "yesterday", "2026-11-30T01:43:47", "2026-11-30T01:43:47.xZ", "2026-13-01T00:00:00Z", 5):
            with self.subTest(bad), self.assertRaises(sandbar.ProtocolError):
                v.timestamp(bad)

    def test_enums(self) -> None:
        self.assertEqual(v.name("REASON_TIMEOUT", "REASON_"), "timeout")
        for other in (None, 77, "SOMETHING", "REASON_"):
            self.assertEqual(v.name(other, "REASON_"), "")
        with self.assertRaises(sandbar.InvalidError):
            v.choice("network", "closed", "NETWORK_MODE_", ("open",))


class Texts(unittest.TestCase):
    def test_paths(self) -> None:
        rows = [
            ("a/é", {"path": "a/é"}),
            (b"a/\xc3\xa9", {"path": "a/é"}),
            (b"\xff\x00", {"pathRaw": "/wA="}),
            ("\udcff", {"pathRaw": "/w=="}),
            ("", {}),
            ("x" * 5000, {"path": "x" * 5000}),
        ]
        for path, want in rows:
            message: dict = {}
            v.put_text(message, "path", path, "path")
            self.assertEqual(message, want)
            again = v.get_text(message, "path")
            self.assertEqual(again.encode("utf-8", "surrogateescape"), v.to_bytes("path", path))

    def test_what_is_no_path(self) -> None:
        for bad in (None, 5, "\ud800", object()):
            with self.subTest(bad), self.assertRaises(sandbar.InvalidError):
                v.put_text({}, "path", bad, "path")

    def test_args_and_env(self) -> None:
        self.assertEqual(run(args=["a", b"b"])["args"], ["a", "b"])
        self.assertEqual(run(args=["a", b"\xff"])["argsRaw"], ["YQ==", "/w=="])
        message = run(env={"A": "1", b"B": b"\xff", "C": "2"})
        self.assertEqual(message["env"], {"A": "1", "C": "2"})
        self.assertEqual(message["envRaw"], [{"name": "Qg==", "value": "/w=="}])
        with self.assertRaises(sandbar.InvalidError):
            run(args="one text")

    def test_file_info(self) -> None:
        info = _answers.file_info({"nameRaw": "//4=", "sizeBytes": "12", "type": "FILE_TYPE_REGULAR", "mode": 420})
        self.assertEqual((info.name, info.name_bytes, info.size, info.mode), ("\udcff\udcfe", b"\xff\xfe", 12, 0o644))


class Requests(unittest.TestCase):
    def test_defaults_are_not_sent(self) -> None:
        self.assertEqual(run("x"), {"sessionId": "id", "type": "SCRIPT_TYPE_PYTHON", "script": "x"})
        self.assertEqual(_requests.session_options(), {"options": {}})

    def test_all_is_sent(self) -> None:
        message = run(
            b"\xff",
            type="shell",
            name="a.sh",
            cwd=b"d",
            timeout=0.5,
            stdin="in",
            background=True,
            interpreter="session",
            network="blocked",
            terminal=(24, 80),
            detach=True,
            max_output_bytes=-1,
        )
        self.assertEqual(
            message,
            {
                "sessionId": "id",
                "type": "SCRIPT_TYPE_SHELL",
                "scriptRaw": "/w==",
                "name": "a.sh",
                "cwd": "d",
                "timeout": "0.500000000s",
                "stdin": "aW4=",
                "background": True,
                "interpreter": "INTERPRETER_SESSION",
                "network": "NETWORK_MODE_BLOCKED",
                "terminal": {"rows": 24, "cols": 80},
                "detach": True,
                "maxOutputBytes": "-1",
            },
        )
        limits = sandbar.Limits(memory_bytes=1 << 30, cpu=1.5, disk_files=7)
        message = _requests.session_options(limits=limits, read_only=["/a"], python_tier="wasm", label="l", lifetime=9)
        self.assertEqual(
            message,
            {
                "options": {
                    "readOnly": ["/a"],
                    "pythonTier": "TIER_WASM",
                    "limits": {"memoryBytes": "1073741824", "cpu": "1.500000000s", "diskFiles": "7"},
                },
                "label": "l",
                "lifetime": "9.000000000s",
            },
        )

    def test_refused_before_anything_is_sent(self) -> None:
        rows = {
            "type": {"type": "perl"},
            "timeout": {"timeout": math.nan},
            "stdin": {"stdin": b"x", "stdin_pipe": True},
            "interpreter": {"interpreter": "old"},
            "network": {"network": "some"},
            "terminal": {"terminal": (0, 80)},
            "max_output_bytes": {"max_output_bytes": 1 << 63},
        }
        for field, options in rows.items():
            with self.subTest(field), self.assertRaises(sandbar.InvalidError) as caught:
                run("", **options)
            self.assertEqual(caught.exception.field, field)
        for options in ({"limits": sandbar.Limits(cpu=-1)}, {"idle_timeout": math.inf}, {"read_only": "/a"}):
            with self.subTest(options), self.assertRaises(sandbar.InvalidError):
                _requests.session_options(**options)

    def test_client_arguments(self) -> None:
        rows = [
            ("localhost:80", {}),
            ("ftp://x", {}),
            ("http://", {}),
            ("http://user:secret@x", {}),
            ("http://x?q", {}),
            ("http://x:99999", {}),
            ("unix://relative", {}),
            ("unix:///", {"ca_file": "x"}),
            ("http://x", {"token": ""}),
            ("http://x", {"token": "two\r\nlines"}),
            ("http://x", {"timeout": math.inf}),
            ("http://x", {"heartbeat": 0.5}),
            ("https://x", {"ca_file": "/nowhere"}),
            ("http://x", {"ca_file": "/nowhere"}),
            (None, {}),
        ]
        for url, options in rows:
            with self.subTest(url, **options), self.assertRaises(sandbar.InvalidError) as caught:
                sandbar.Client(url, **options)
            self.assertNotIn("two", str(caught.exception))
            self.assertNotIn("secret", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
