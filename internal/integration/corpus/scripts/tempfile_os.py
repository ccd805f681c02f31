"""Work with temporary files and the os module."""
import errno
import io
import os
import stat
import tempfile

with tempfile.TemporaryDirectory(prefix="job-") as tmp:
    print("inside", tempfile.gettempdir(), os.path.basename(tmp).startswith("job-"), os.path.isdir(tmp))
    a = os.path.join(tmp, "a.txt")
    with open(a, "w") as f:
        f.write("one\ntwo\nthree\n")
        print("position:", f.tell())
    with open(a, "r+") as f:
        print(f.readline().strip(), f.read(4).strip(), f.tell() > 0)
        f.seek(0, os.SEEK_END)
        f.write("four\n")
        f.truncate(10)
    print(os.path.getsize(a), open(a).read().split())
    os.makedirs(os.path.join(tmp, "x", "y", "z"))
    os.rename(a, os.path.join(tmp, "x", "b.txt"))
    for base, dirs, files in os.walk(tmp):
        print(" ", os.path.relpath(base, tmp), sorted(dirs), sorted(files))
    with os.scandir(os.path.join(tmp, "x")) as it:
        print(sorted((e.name, e.is_dir(), e.is_file(), e.is_symlink()) for e in it))
    os.symlink("b.txt", os.path.join(tmp, "x", "link"))
    print(os.readlink(os.path.join(tmp, "x", "link")), os.path.islink(os.path.join(tmp, "x", "link")), open(os.path.join(tmp, "x", "link")).read(3))
    os.link(os.path.join(tmp, "x", "b.txt"), os.path.join(tmp, "hard"))
    print("links:", os.stat(os.path.join(tmp, "hard")).st_nlink)
    os.replace(os.path.join(tmp, "hard"), os.path.join(tmp, "x", "b.txt"))
print("gone:", not os.path.exists(tmp))

with tempfile.NamedTemporaryFile("w+", suffix=".csv", delete=True) as f:
    f.write("h1,h2\n1,2\n")
    f.flush()
    f.seek(0)
    print(f.read().splitlines(), os.path.exists(f.name), f.name.endswith(".csv"))
print("deleted:", not os.path.exists(f.name))
with tempfile.TemporaryFile() as f:
    f.write(b"x" * 5000)
    print("anonymous:", f.tell())
with tempfile.SpooledTemporaryFile(max_size=10) as f:
    f.write(b"small")
    print(f._rolled, end=" ")
    f.write(b"now it is big")
    print(f._rolled)
fd, path = tempfile.mkstemp(dir=".")
os.write(fd, b"raw bytes")
os.lseek(fd, 4, os.SEEK_SET)
print(os.read(fd, 100), os.fstat(fd).st_size, stat.S_ISREG(os.fstat(fd).st_mode))
os.close(fd)
os.remove(path)

for label, act in [
    ("ENOENT", lambda: os.stat("missing")),
    ("EEXIST", lambda: os.mkdir("/tmp")),
    ("ENOTDIR", lambda: os.listdir("/dev/null")),
    ("EBADF", lambda: os.write(97, b"x")),
    ("EISDIR", lambda: open("/tmp", "w")),
    ("EINVAL", lambda: io.open("/dev/null").seek(-1)),
    ("closed", lambda: f.read()),
    ("mode", lambda: open("x", "rz")),
    ("null", lambda: open("a\0b")),
]:
    try:
        act()
        print(label, "no error")
    except OSError as e:
        print(label, type(e).__name__, errno.errorcode.get(e.errno), e)
    except ValueError as e:
        print(label, "ValueError", e)
print(os.path.splitext("a/b.c/d.tar.gz"), os.path.normpath("a//b/../c/."), os.path.commonpath(["/a/b/c", "/a/b/d"]), os.path.join("a", "/b", "c"))
print(os.getcwd(), os.sep, os.linesep.encode(), os.curdir, os.devnull, os.name, os.path.expandvars("$USER/$NOPE"), os.environ.get("LANG"))
print(sorted(k for k in os.environ), os.getenv("MISSING", "fallback"))
os.environ["NEW_VAR"] = "set"
print(os.getenv("NEW_VAR"), os.cpu_count() is None or os.cpu_count() > 0, len(os.urandom(16)), os.strerror(errno.ENOENT))
try:
    columns = os.get_terminal_size().columns
except OSError:
    columns = 80
print("columns:", columns)
