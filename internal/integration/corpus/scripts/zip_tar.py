"""Archives: write, list, read back, and some hostile names."""
import io
import os
import tarfile
import zipfile
from pathlib import Path

Path("in/sub").mkdir(parents=True)
Path("in/a.txt").write_text("alpha\n" * 200)
Path("in/sub/b.bin").write_bytes(bytes(range(256)))
Path("in/ü.txt").write_text("naïve")

with zipfile.ZipFile("out.zip", "w", compression=zipfile.ZIP_DEFLATED) as z:
    for p in sorted(Path("in").rglob("*")):
        if p.is_file():
            z.write(p, p.relative_to("in"))
    info = zipfile.ZipInfo("made/up.txt", date_time=(2024, 2, 29, 12, 30, 58))
    info.compress_type = zipfile.ZIP_LZMA
    z.writestr(info, "from a string")
    z.writestr(zipfile.ZipInfo("bz.txt"), b"z" * 1000, compress_type=zipfile.ZIP_BZIP2)
    z.comment = b"the end"

with zipfile.ZipFile("out.zip") as z:
    print("test:", z.testzip(), "comment:", z.comment)
    for i in z.infolist():
        print(f"{i.filename:<12} {i.file_size:>6} smaller={i.compress_size < i.file_size} crc={i.CRC:08x} type={i.compress_type}")
    print(z.getinfo("made/up.txt").date_time, z.read("made/up.txt"), z.read("ü.txt").decode())
    with z.open("a.txt") as f:
        print(f.readline(), len(f.read()))
    z.extractall("unzipped")
    try:
        z.read("nope")
    except KeyError as e:
        print("KeyError:", e)
print(sorted(str(p.relative_to("unzipped")) for p in Path("unzipped").rglob("*")))
root = zipfile.Path("out.zip")
print(sorted(x.name for x in root.iterdir()), (root / "sub" / "b.bin").read_bytes()[:4])

evil = io.BytesIO()
with zipfile.ZipFile(evil, "w") as z:
    z.writestr("../../escape.txt", "x")
    z.writestr("/abs.txt", "y")
with zipfile.ZipFile(evil) as z:
    z.extractall("safe")
print(sorted(str(p) for p in Path("safe").rglob("*")), os.path.exists("../../escape.txt"))
try:
    zipfile.ZipFile(io.BytesIO(b"not a zip at all"))
except zipfile.BadZipFile as e:
    print("BadZipFile:", e)
print(zipfile.is_zipfile("out.zip"), zipfile.is_zipfile("in/a.txt"))

for mode in ("w", "w:gz", "w:bz2", "w:xz"):
    buf = io.BytesIO()
    with tarfile.open(fileobj=buf, mode=mode) as t:
        for name, data in (("one.txt", b"1" * 100), ("dir/two.txt", b"22")):
            ti = tarfile.TarInfo(name)
            ti.size, ti.mtime, ti.mode, ti.uname = len(data), 1_700_000_000, 0o640, "ann"
            t.addfile(ti, io.BytesIO(data))
        link = tarfile.TarInfo("lnk")
        link.type, link.linkname = tarfile.SYMTYPE, "one.txt"
        t.addfile(link)
    buf.seek(0)
    with tarfile.open(fileobj=buf) as t:
        print(mode, [(m.name, m.size, oct(m.mode), m.issym()) for m in t], t.extractfile("dir/two.txt").read())

with tarfile.open("t.tar", "w") as t:
    t.add("in", arcname="renamed", filter=lambda ti: None if ti.name.endswith(".bin") else ti)
with tarfile.open("t.tar") as t:
    print(sorted(t.getnames()))
    t.extractall("untar", filter="data")
print(Path("untar/renamed/a.txt").read_text() == Path("in/a.txt").read_text())

buf = io.BytesIO()
with tarfile.open(fileobj=buf, mode="w") as t:
    bad = tarfile.TarInfo("../evil")
    bad.size = 1
    t.addfile(bad, io.BytesIO(b"x"))
buf.seek(0)
with tarfile.open(fileobj=buf) as t:
    try:
        t.extractall("untar", filter="data")
    except tarfile.FilterError as e:
        print(type(e).__name__, str(e).split(",")[0])
try:
    tarfile.open(fileobj=io.BytesIO(b"junk" * 200))
except tarfile.ReadError as e:
    print("ReadError")
