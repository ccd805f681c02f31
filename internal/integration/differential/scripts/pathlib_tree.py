from pathlib import Path
import os

root = Path("proj")
(root / "src" / "pkg").mkdir(parents=True)
(root / "src").mkdir(exist_ok=True)
(root / "README").write_text("héllo\n", encoding="utf-8")
(root / "data.bin").write_bytes(bytes(range(256)))
(root / "src" / "pkg" / "m.py").touch()
print([p.as_posix() for p in sorted(root.rglob("*"))])
print([p.name for p in sorted(root.glob("*/"))][-1], sorted(p.name for p in root.iterdir() if p.is_file()))
p = root / "src" / "pkg" / "m.py"
print(p.stem, p.suffix, p.parent.name, p.parts, p.with_suffix(".txt").name, p.relative_to("proj"), p.exists(), p.stat().st_size)
print(Path.cwd(), Path.home(), Path("~/x").expanduser(), p.resolve(), Path("proj/../proj/README").resolve())
q = p.rename(root / "moved.py")
print(q, p.exists(), q.replace(root / "README"), (root / "README").read_bytes())
(root / "l").symlink_to("data.bin")
print((root / "l").is_symlink(), (root / "l").resolve().name, os.readlink(root / "l"), (root / "l").samefile(root / "data.bin"))
for call in (lambda: root.mkdir(), lambda: root.rmdir(), lambda: (root / "no").unlink(), lambda: (root / "no" / "x").write_text(""), lambda: root.read_text(), lambda: (root / "README" / "x").read_text()):
    try:
        call()
    except OSError as e:
        print(type(e).__name__)
(root / "no").unlink(missing_ok=True)
with (root / "lines").open("w", newline="\r\n") as f:
    f.write("a\nb\n")
print((root / "lines").read_bytes(), (root / "lines").read_text())
print(Path("/etc").is_dir() in (True, False), Path("x/./y//z/").as_posix(), Path("a") / "/b", sorted(Path(".").glob("**/*.bin")))
