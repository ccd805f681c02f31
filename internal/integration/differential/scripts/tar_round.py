import os, tarfile, warnings

warnings.simplefilter("ignore")
os.makedirs("in/sub")
with open("in/a.txt", "w") as f:
    f.write("alpha" * 1000)
with open("in/sub/b", "wb") as f:
    f.write(bytes(2000))
os.symlink("a.txt", "in/link")
os.link("in/a.txt", "in/hard")
os.utime("in/a.txt", (1_000_000_000, 1_000_000_000))


def clean(info):
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 1_000_000_000
    info.mode = 0o755 if info.isdir() else 0o644
    return info


for kind in ("", "gz", "bz2", "xz"):
    name = "out.tar" + ("." + kind if kind else "")
    with tarfile.open(name, "w:" + kind) as t:
        for path in ("in", "in/a.txt", "in/hard", "in/link", "in/sub", "in/sub/b"):
            t.add(path, recursive=False, filter=clean)
    with tarfile.open(name) as t:
        print(kind, [(m.name, m.type, m.size, m.linkname) for m in t.getmembers()])
        t.extractall("x" + kind)
    root = "x" + kind + "/in/"
    print(open(root + "a.txt").read() == "alpha" * 1000, os.readlink(root + "link"), os.path.samefile(root + "hard", root + "a.txt"), os.path.getmtime(root + "a.txt"))
    if kind:
        os.remove(name)
with tarfile.open("out.tar") as t:
    print(t.extractfile("in/sub/b").read(3), t.getmember("in/link").issym())
try:
    tarfile.open("in/a.txt")
except tarfile.ReadError as e:
    print(type(e).__name__)
print(tarfile.is_tarfile("out.tar"), os.path.getsize("out.tar"))
