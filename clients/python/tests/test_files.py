"""The contract about files, changes and snapshots, against a real server."""

import hashlib
import io
import os
import resource
import tempfile
import unittest

import sandbar
from tests import live


class Files(live.Case):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.open()

    def test_bytes(self) -> None:
        every = bytes(range(256))
        for size in (0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 4_194_304, 4_194_305, 17_000_000):
            with self.subTest(size):
                data = (every * (size // 256 + 1))[:size]
                self.session.put_bytes("d/f", data)
                self.assertEqual(self.session.get_bytes("d/f", max_bytes=max(size, 1)), data)
                self.assertEqual(self.session.stat("d/f").size, size)
        self.assertEqual(self.session.get_bytes("/tmp/sandbox-work/d/f", max_bytes=20_000_000), data)

    def test_too_large(self) -> None:
        self.session.put_bytes("f", b"x" * 17_000_000)
        for options, most in (({}, 16 << 20), ({"max_bytes": 10}, 10), ({"max_bytes": 5_000_000}, 5_000_000)):
            with self.subTest(options), self.assertRaises(sandbar.TooLargeError) as caught:
                self.session.get_bytes("f", **options)
            self.assertEqual((caught.exception.size, caught.exception.max), (17_000_000, most))

    def test_modes(self) -> None:
        self.session.put_bytes("a", b"")
        self.session.put_bytes("b", b"", mode=0o750)
        self.session.put_file("c", io.BytesIO(b""), mode=0o600)
        self.assertEqual([self.session.stat(name).mode for name in "abc"], [0o644, 0o750, 0o600])

    def test_list_and_stat(self) -> None:
        self.session.run_code("import os\nos.makedirs('d/sub')\nos.symlink('f', 'd/link')")
        self.session.put_bytes("d/f", b"12345")
        entries = self.session.list("d")
        self.assertEqual(
            [(e.name, e.type, e.is_dir) for e in entries],
            [("f", "regular", False), ("link", "symlink", False), ("sub", "directory", True)],
        )
        info = self.session.stat("d/link")
        self.assertEqual((info.type, info.size), ("regular", 5))
        self.assertEqual(info.modified_at.tzinfo.utcoffset(None).total_seconds(), 0)
        self.assertEqual([e.name for e in self.session.list()], ["d"])

    def test_names_are_bytes(self) -> None:
        for name in (b"\xff\xfe", "é", b"new\nline", "a b", "-"):
            with self.subTest(name):
                self.session.put_bytes(name, b"x")
                (entry,) = self.session.list()
                raw = name if isinstance(name, bytes) else name.encode()
                self.assertEqual(entry.name_bytes, raw)
                self.assertEqual(self.session.get_bytes(entry.name), b"x")
                self.session.remove(entry.name)

    def test_many_entries(self) -> None:
        self.session.run_code("for i in range(10500): open(f'{i:05}', 'w').close()", timeout=60)
        self.assertEqual([e.name for e in self.session.list()], [f"{i:05}" for i in range(10500)])

    def test_remove(self) -> None:
        self.session.put_bytes("d/e/f", b"")
        with self.assertRaises(sandbar.SandbarError):
            self.session.remove("d")
        self.session.remove("d/e/f")
        with self.assertRaises(sandbar.NotExist):
            self.session.remove("d/e/f")
        self.session.remove("d", recursive=True)
        self.session.remove("d", recursive=True)
        self.assertEqual(self.session.list(), [])

    def test_refusals(self) -> None:
        self.session.run_code("import os\nos.mkdir('d')\nos.symlink('/etc', 'out')\nopen('f', 'w').close()")
        rows = [
            ("nothing", sandbar.NotExist),
            ("d", sandbar.IsDirectory),
            ("f/child", sandbar.NotDirectory),
            ("out/hostname", sandbar.Escapes),
            ("../x", sandbar.SandbarError),
            ("/etc/passwd", sandbar.SandbarError),
            ("a\0b", sandbar.InvalidError),
        ]
        for path, cls in rows:
            with self.subTest(path), self.assertRaises(cls):
                self.session.get_bytes(path)
            with self.subTest(path), self.assertRaises(sandbar.SandbarError), tempfile.TemporaryDirectory() as folder:
                self.session.get_file(path, os.path.join(folder, "f"))
        for path, cls in rows[1:]:
            with self.subTest(path), self.assertRaises(cls):
                self.session.put_bytes(path, b"x")
            with self.subTest(path), self.assertRaises(cls):
                self.session.put_file(path, io.BytesIO(b"x" * 3_000_000))

    def test_files_of_this_machine(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
            with open(source, "wb") as file:
                file.write(b"content")
            self.session.put_file("f", source)
            self.assertEqual(self.session.get_file("f", target), 7)
            with open(target, "rb") as file:
                self.assertEqual(file.read(), b"content")
            with self.assertRaises(sandbar.NotExist):
                self.session.get_file("nothing", target)
            with self.assertRaises(sandbar.TooLargeError):
                self.session.get_file("f", target, max_bytes=6)
            with open(target, "rb") as file:
                self.assertEqual(file.read(), b"content", "what was there is gone")
            self.assertEqual(sorted(os.listdir(folder)), ["source", "target"])
            with self.assertRaises(FileNotFoundError):
                self.session.put_file("f", os.path.join(folder, "nothing"))

    def test_a_source_that_fails_changes_nothing(self) -> None:
        class Bad(io.BytesIO):
            calls = 0

            def read(self, size: int = -1) -> bytes:
                self.calls += 1
                if self.calls > 3:
                    raise OSError("disk on fire")
                return b"x" * size

        self.session.put_bytes("f", b"before")
        with self.assertRaisesRegex(OSError, "disk on fire"):
            self.session.put_file("f", Bad())
        self.assertEqual(self.session.get_bytes("f"), b"before")
        live.until(lambda: [e.name for e in self.session.list()] == ["f"])

    def test_large_files_are_not_held_in_memory(self) -> None:
        size = 100 << 20
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
            digest = hashlib.sha256()
            with open(source, "wb") as file:
                for i in range(100):
                    piece = bytes([i]) * (1 << 20)
                    digest.update(piece)
                    file.write(piece)
            self.session.put_file("f", source)
            self.assertEqual(self.session.stat("f").size, size)
            self.assertEqual(self.session.get_file("f", target), size)
            with open(target, "rb") as file:
                self.assertEqual(_digest(file), digest.digest())
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        self.assertLess(grown, 40 << 20)


def _digest(file: io.BufferedReader) -> bytes:
    digest = hashlib.sha256()
    while data := file.read(1 << 20):
        digest.update(data)
    return digest.digest()


class Changes(live.Case):
    def test_diff_and_mark(self) -> None:
        session = self.open()
        session.put_bytes("a", b"1")
        session.put_bytes(b"\xff", b"2")
        (a, b) = session.diff()
        self.assertEqual((a.path, a.kind, a.type, a.size, a.mode), ("a", "added", "regular", 1, 0o644))
        self.assertEqual(a.sha256, hashlib.sha256(b"1").hexdigest())
        self.assertEqual(b.path_bytes, b"\xff")
        session.mark()
        self.assertEqual(session.diff(), [])
        session.put_bytes("a", b"changed")
        session.remove(b"\xff")
        (a, b) = session.diff()
        self.assertEqual((a.kind, a.old_size, a.size), ("changed", 1, 7))
        self.assertEqual((b.kind, b.type, b.old_type), ("removed", "", "regular"))

    def test_commit_needs_an_overlay(self) -> None:
        with self.assertRaises(sandbar.SandbarError):
            self.open().commit()

    @live.needs_owner
    def test_commit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f")
            with open(path, "w") as file:
                file.write("old")
            session = self.open(overlay=folder)
            session.run_code("open('f', 'a').write(' and new')\nopen('g', 'w').close()")
            with open(path) as file:
                self.assertEqual(file.read(), "old")
            self.assertEqual([(c.path, c.kind) for c in session.commit()], [("f", "changed"), ("g", "added")])
            with open(path) as file:
                self.assertEqual(file.read(), "old and new")
            session.put_bytes("f", b"mine")
            with open(path, "w") as file:
                file.write("theirs")
            with self.assertRaises(sandbar.ConflictError) as caught:
                session.commit()
            self.assertEqual(caught.exception.paths, (b"f",))

    @live.needs_owner
    def test_no_mark(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.open(work_dir=folder) as session:
            with self.assertRaises(sandbar.NoMark):
                session.diff()
            session.mark()
            self.assertEqual(session.diff(), [])


class Snapshots(live.Case):
    def test_branches(self) -> None:
        session = self.open()
        session.run_code("x = 1", interpreter="session")
        session.put_bytes("f", b"file")
        snapshot = session.snapshot()
        self.addCleanup(self.client.remove_snapshot, snapshot)
        self.assertGreater(snapshot.memory_bytes, 0)
        self.assertIn(snapshot.snapshot_id, [s.snapshot_id for s in self.client.snapshots()])
        for branch in (session.open_from(snapshot), self.client.open_from(snapshot.snapshot_id, label="b")):
            with branch:
                self.assertEqual(branch.exec("x += 1\nx", interpreter="session").result.value, "2")
                self.assertEqual(branch.get_bytes("f"), b"file")
        self.assertEqual(session.exec("x", interpreter="session").result.value, "1")

    def test_as_a_file(self) -> None:
        session = self.open()
        session.run_code("x = 7", interpreter="session")
        snapshot = session.snapshot()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot")
            self.assertGreater(self.client.get_snapshot(snapshot, path), 1000)
            self.client.remove_snapshot(snapshot)
            with self.assertRaises(sandbar.NotFound):
                self.client.open_from(snapshot)
            again = self.client.put_snapshot(path)
        with self.client.open_from(again) as branch:
            self.assertEqual(branch.exec("x", interpreter="session").result.value, "7")
        self.client.remove_snapshot(again)
        with self.assertRaises(sandbar.SnapshotError):
            self.client.put_snapshot(io.BytesIO(b"no snapshot"))


if __name__ == "__main__":
    unittest.main()
