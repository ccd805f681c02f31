"""Envelopes, good and hostile."""

import base64
import io
import struct
import unittest

from sandbar import InvalidError, NotStarted, ProtocolError, SandbarError, _frames


def raw(flags: int, body: bytes) -> bytes:
    return struct.pack(">BI", flags, len(body)) + body


def read(data: bytes) -> list:
    return list(_frames.messages(io.BytesIO(data).read))


class Drip(io.BytesIO):
    """Gives a byte at a time, as a slow network does."""

    def read(self, size: int = -1) -> bytes:
        return super().read(min(size, 1))


class Frames(unittest.TestCase):
    def test_round_trip(self) -> None:
        sent = [{}, {"a": 1}, {"text": "é\u0000\ud800"}]
        data = b"".join(_frames.envelope(m) for m in sent) + raw(2, b"{}")
        self.assertEqual(read(data), sent)
        self.assertEqual(list(_frames.messages(Drip(data).read)), sent)

    def test_envelope_is_as_documented(self) -> None:
        self.assertEqual(_frames.envelope({"a": 1}), b"\x00\x00\x00\x00\x07" + b'{"a":1}')

    def test_data_envelope_is_the_same(self) -> None:
        for size in range(5):
            data = bytes(range(250, 250 + size))
            text = base64.b64encode(data).decode()
            self.assertEqual(_frames.data_envelope(data), _frames.envelope({"data": text}))

    def test_error_at_end(self) -> None:
        # kinds 1 and 5, field "Timeout".
        detail = {"type": "sandbox.v2.ErrorDetail", "value": "CgIBBRIJCgdUaW1lb3V0"}
        end = _frames.envelope({"error": {"code": "invalid_argument", "message": "no", "details": [detail]}}, 2)
        got = []
        with self.assertRaises(InvalidError) as caught:
            for message in _frames.messages(io.BytesIO(raw(0, b"{}") + end).read):
                got.append(message)
        self.assertEqual(got, [{}])
        self.assertIsInstance(caught.exception, NotStarted)
        self.assertEqual((caught.exception.field, caught.exception.code), ("Timeout", "invalid_argument"))

    def test_truncated_anywhere(self) -> None:
        data = raw(0, b'{"a":1}') + raw(2, b"{}")
        for size in range(len(data)):
            with self.subTest(size=size), self.assertRaises(_frames.Truncated):
                read(data[:size])

    def test_huge_length_is_refused_before_it_is_read(self) -> None:
        asked = []

        def source(size: int) -> bytes:
            asked.append(size)
            return b"\x00\xff\xff\xff\xff"[:size]

        with self.assertRaises(ProtocolError):
            list(_frames.messages(source))
        self.assertEqual(asked, [5])

    def test_garbage(self) -> None:
        rows = {
            "compressed": raw(1, b"{}"),
            "unknown flags": raw(0x80, b"{}"),
            "no JSON": raw(0, b"}{"),
            "not UTF-8": raw(0, b'"\xff"'),
            "empty message": raw(0, b""),
            "a list": raw(0, b"[]"),
            "a number": raw(0, b"1"),
            "NaN": raw(0, b'{"a":NaN}'),
            "deep": raw(0, b"[" * 100_000),
            "huge number": raw(0, b"9" * 10_000),
            "end is a list": raw(2, b"[]"),
            "error is a text": raw(2, b'{"error":"x"}'),
            "error without a code": raw(2, b'{"error":{}}'),
            "more behind the end": raw(2, b"{}") + b"x",
            "HTML": b"<html><body>502 Bad Gateway</body></html>",
        }
        for name, data in rows.items():
            with self.subTest(name), self.assertRaises(ProtocolError) as caught:
                read(data)
            self.assertIsInstance(caught.exception, SandbarError)


if __name__ == "__main__":
    unittest.main()
