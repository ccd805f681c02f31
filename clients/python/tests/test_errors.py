"""Errors as they come over the wire. The details were marshalled by the Go library of protobuf."""

import base64
import json
import pickle
import random
import unittest

import sandbar
from sandbar import _coded, _detail, errors

DETAILS = {
    # {kinds: [INVALID], invalid: {field: "Timeout", problem: "is négative"}}
    "CgEBEhcKB1RpbWVvdXQSDGlzIG7DqWdhdGl2ZQ": (sandbar.InvalidError, {"field": "Timeout", "problem": "is négative"}),
    # {kinds: [TOO_LARGE], too_large: {path: "big", size: 5 << 40, max: 1}}
    "CgEHGg8KA2JpZxCAgICAgKABGAE": (sandbar.TooLargeError, {"path": "big", "size": 5 << 40, "max": 1}),
    # {kinds: [NOT_STARTED, NEEDS_NATIVE], needs_native: {...}}
    "CgIFDiIZCgxudW1weS5saW5hbGcQARisAiIEbm8gQw": (
        sandbar.NeedsNativeError,
        {"module": "numpy.linalg", "imported": True, "line": 300, "reason": "no C"},
    ),
    # {kinds: [CONFLICT], conflict: {paths: ["a", "\xff\xfe", ""]}}
    "CgESKgkKAWEKAv/+CgA": (sandbar.ConflictError, {"paths": (b"a", b"\xff\xfe", b"")}),
    # {kinds: [LIMIT], limit: {what: "sessions", max: -1, of_principal: true}}
    "CgEUMhcKCHNlc3Npb25zEP///////////wEYAQ": (
        sandbar.LimitError,
        {"what": "sessions", "max": -1, "of_principal": True},
    ),
    # {kinds: [DRAINING]}
    "CgEX": (sandbar.Draining, {}),
}


def coded(detail: str, code: str = "internal", message: str = "text") -> sandbar.SandbarError:
    return _coded.from_json(
        {"code": code, "message": message, "details": [{"type": "sandbox.v2.ErrorDetail", "value": detail}]}
    )


class Details(unittest.TestCase):
    def test_made_by_go(self) -> None:
        for detail, (cls, fields) in DETAILS.items():
            for padding in ("", "=" * (-len(detail) % 4)):
                with self.subTest(cls.__name__, padding=padding):
                    error = coded(detail + padding)
                    self.assertIsInstance(error, cls)
                    self.assertEqual(str(error), "text")
                    for name, value in fields.items():
                        self.assertEqual(getattr(error, name), value)

    def test_every_kind_has_its_class(self) -> None:
        classes = set()
        for number, (name, cls) in errors.KINDS.items():
            error = coded(base64.b64encode(bytes([8, number])).decode())
            self.assertIs(type(error), cls)
            self.assertEqual(error.kinds, (name,))
            self.assertTrue(issubclass(cls, sandbar.SandbarError))
            self.assertTrue(hasattr(sandbar, cls.__name__))
            classes.add(cls)
        self.assertEqual(len(classes), len(errors.KINDS))

    def test_several_kinds(self) -> None:
        error = coded(base64.b64encode(b"\n\x02\x05\x02").decode())
        for cls in (sandbar.NotStarted, sandbar.NotAvailable):
            with self.assertRaises(cls):
                raise error
        again = pickle.loads(pickle.dumps(error))
        self.assertIsInstance(again, sandbar.NotAvailable)
        self.assertEqual((str(again), again.code, again.kinds), ("text", "internal", ("not_started", "not_available")))

    def test_every_pair_of_kinds_can_be_made(self) -> None:
        for a in errors.KINDS.values():
            for b in errors.KINDS.values():
                error = errors.class_of((a[0], b[0]))("text")
                self.assertIsInstance(error, a[1])
                self.assertIsInstance(error, b[1])
                self.assertEqual(str(error), "text")

    def test_builtin_twins(self) -> None:
        self.assertTrue(issubclass(sandbar.InvalidError, ValueError))
        self.assertTrue(issubclass(sandbar.NotExist, FileNotFoundError))
        self.assertTrue(issubclass(sandbar.DeadlineError, TimeoutError))
        self.assertTrue(issubclass(sandbar.StdinClosed, BrokenPipeError))

    def test_without_a_detail_the_code_counts(self) -> None:
        rows = {
            "unauthenticated": sandbar.Unauthenticated,
            "permission_denied": sandbar.Denied,
            "unavailable": sandbar.Unavailable,
            "resource_exhausted": sandbar.LimitError,
            "something new": sandbar.SandbarError,
        }
        for code, cls in rows.items():
            self.assertIs(type(_coded.from_json({"code": code})), cls)

    def test_what_cannot_be_decoded_is_left_out(self) -> None:
        for detail in ("!", "A", "CgEBEhc", "/////////////////w", "CwEB", "Aw", "EgA", "CgH/", "wrong\u20ac"):
            with self.subTest(detail):
                self.assertIsInstance(coded(detail, code="not_found"), sandbar.SandbarError)
        for details in (None, 1, "x", [1], [{}], [{"type": "sandbox.v2.ErrorDetail"}], [{"type": "other", "value": "CgEB"}]):
            error = _coded.from_json({"code": "not_found", "message": 7, "details": details})
            self.assertIs(type(error), sandbar.NotFound)

    def test_a_new_kind_and_a_new_field_do_no_harm(self) -> None:
        # kinds 99 and 9, a field 15 of each wire type.
        raw = b"\n\x02\x63\x09" + b"\x78\x01" + b"\x7a\x01x" + b"\x7d\0\0\0\0" + b"\x79" + b"\0" * 8
        self.assertIs(type(coded(base64.b64encode(raw).decode())), sandbar.NotExist)

    def test_random_bytes(self) -> None:
        rng = random.Random(1)
        for _ in range(20_000):
            data = rng.randbytes(rng.randrange(24))
            try:
                kinds, _fields = _detail.decode(data)
            except _detail.Malformed:
                continue
            self.assertTrue(all(isinstance(kind, int) for kind in kinds))

    def test_long_message_is_cut(self) -> None:
        self.assertEqual(len(str(_coded.from_json({"code": "internal", "message": "x" * 10_000_000}))), 4096)


class Responses(unittest.TestCase):
    def test_connect_error(self) -> None:
        body = json.dumps({"code": "not_found", "message": "no such session"}).encode()
        error = _coded.from_response(404, "application/json; charset=utf-8", body)
        self.assertIs(type(error), sandbar.NotFound)

    def test_of_others(self) -> None:
        rows = [
            (401, "text/plain", b"", sandbar.Unauthenticated),
            (403, "text/html", b"<html>", sandbar.Denied),
            (503, "application/json", b"{", sandbar.Unavailable),
            (502, "", b"", sandbar.Unavailable),
            (404, "text/plain", b"404 page not found", sandbar.ProtocolError),
            (302, "", b"", sandbar.ProtocolError),
            (500, "application/json", b"[]", sandbar.ProtocolError),
        ]
        for status, kind, body, cls in rows:
            with self.subTest(status):
                self.assertIs(type(_coded.from_response(status, kind, body)), cls)


if __name__ == "__main__":
    unittest.main()
