from pathlib import Path, PurePosixPath, PureWindowsPath
import os

root = Path("project")
for name, text in {
    "README.md": "# Title\n\nSome *text*.\n",
    "src/main.py": "print('hi')\n",
    "src/pkg/__init__.py": "",
    "src/pkg/util.py": "def f():\n    return 1\n",
    "data/ünïcode näme.txt": "ä\nö\n",
    "data/a.b.tar.gz": "x" * 1000,
    "data/.hidden": "secret",
}.items():
    p = root / name
    p.parent.mkdir(parents=True, exist_ok=True)
    p.write_text(text, encoding="utf-8")


def tree(path, indent=0):
    for child in sorted(path.iterdir(), key=lambda c: (c.is_file(), c.name)):
        size = f" ({child.stat().st_size} B)" if child.is_file() else "/"
        print("  " * indent + child.name + size)
        if child.is_dir():
            tree(child, indent + 1)


tree(root)
print("py files:", sorted(str(p) for p in root.rglob("*.py")))
print("glob:", sorted(p.name for p in root.glob("*/*.*")), sorted(p.name for p in (root / "data").glob("[!.]*")))
print("lines:", {p.name: len(p.read_text().splitlines()) for p in sorted(root.glob("src/**/*.py"))})

p = root / "data" / "a.b.tar.gz"
print(p.name, p.stem, p.suffix, p.suffixes, p.parent, p.parts, p.with_suffix(".zip").name, p.with_name("new").name, p.with_stem("q").name)
print(p.relative_to(root), p.is_relative_to("elsewhere"), Path("a/../b/./c"), Path("/a") / "/b", Path("x") / "", Path("~").expanduser() == Path(os.environ["HOME"]))
print(p.resolve(), Path.cwd(), Path("nope").exists(), Path(".").resolve() == Path.cwd(), p.samefile(root / "src/../data/a.b.tar.gz"))
print(PurePosixPath("/usr/lib/x.so").parents[1], PureWindowsPath(r"C:\Users\me\f.txt").parts, PureWindowsPath("c:/A") == PureWindowsPath("C:\\a"))
print(PurePosixPath("a/b/c.py").match("b/*.py"), PurePosixPath("a/b/c.py").full_match("a/**/*.py"), PurePosixPath("/etc").as_uri(), repr(Path("q")))

new = p.rename(root / "data" / "renamed.bin")
print(new, new.exists(), p.exists())
copy = root / "copy.bin"
copy.write_bytes(new.read_bytes()[:10])
with copy.open("ab") as f:
    f.write(b"END")
print(copy.read_bytes(), copy.stat().st_size)
copy.touch()
(root / "empty").touch()
print((root / "empty").read_text() == "")

for label, action in [
    ("missing", lambda: Path("nope.txt").read_text()),
    ("mkdir", lambda: root.mkdir()),
    ("rmdir", lambda: root.rmdir()),
    ("isdir", lambda: root.read_text()),
    ("unlink", lambda: (root / "gone").unlink()),
    ("notdir", lambda: (root / "README.md" / "x").read_text()),
    ("relative", lambda: p.relative_to("other")),
    ("suffix", lambda: p.with_suffix("bad")),
    ("exclusive", lambda: copy.open("x")),
    ("decode", lambda: (root / "data" / "ünïcode näme.txt").read_text("ascii")),
]:
    try:
        action()
        print(label, "ok")
    except Exception as e:
        print(f"{label:<9} {type(e).__name__}: {e}")
(root / "gone").unlink(missing_ok=True)
for path, dirs, files in root.walk(top_down=False):
    for f in files:
        (path / f).unlink()
    for d in dirs:
        (path / d).rmdir()
root.rmdir()
print("left:", list(Path(".").iterdir()))
