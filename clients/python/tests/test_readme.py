"""What README.md shows does what it says, against a real server."""

import asyncio
import contextlib
import io
import os
import re
import tempfile
import textwrap
import unittest

import sandbar
from tests import live

README = os.path.join(os.path.dirname(__file__), "..", "README.md")


class Readme(live.Case):
    def setUp(self) -> None:
        super().setUp()
        with open(README, encoding="utf-8") as file:
            text = file.read()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        big = os.path.join(folder.name, "big.bin")
        with open(big, "wb") as file:
            file.write(b"big")
        for what, here in (
            ('sandbar.Client("http://127.0.0.1:8700")', "sandbar.Client(url, token)"),
            ("sandbar.AsyncClient(url)", "sandbar.AsyncClient(url, token)"),
            ("/data/big.bin", big),
        ):
            self.assertIn(what, text)
            text = text.replace(what, here)
        self.blocks = re.findall(r"```python\n(.*?)```", text, re.S)

    def run_block(self, block: str) -> str:
        names = {"sandbar": sandbar, "url": live.URL, "token": live.TOKEN, "session": self.open()}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, README, "exec"), names)
            if "main" in names:
                asyncio.run(names["main"]())
        return out.getvalue()

    def test_blocks(self) -> None:
        run, files, talk, aio = self.blocks
        self.assertEqual(self.run_block(run), "b'4\\n'\n3 exited\n")
        self.assertEqual(
            self.run_block(files), "b'ITEM,PRICE\\nTEA,3\\n' ['big.bin', 'out.txt', 'sales.csv']\n"
        )
        self.assertTrue(self.run_block(talk).startswith("got hello\n"))
        self.assertEqual(self.run_block("async def main():\n" + textwrap.indent(aio, "    ")), "x\n")


if __name__ == "__main__":
    unittest.main()
