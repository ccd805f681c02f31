import os, tempfile

print(tempfile.gettempdir(), os.listdir("/tmp") in ([], ["sandbox-work"]))
with tempfile.NamedTemporaryFile("w+", suffix=".txt", delete=False, dir=".") as f:
    f.write("kept")
print(os.path.dirname(f.name), os.path.exists(f.name), f.name.endswith(".txt"))
os.remove(f.name)
with tempfile.NamedTemporaryFile() as f:
    f.write(b"x" * 10000)
    f.flush()
    print(os.path.getsize(f.name), f.name.startswith("/tmp/"))
    name = f.name
print(os.path.exists(name))
with tempfile.TemporaryDirectory() as d:
    os.makedirs(os.path.join(d, "a/b"))
    open(os.path.join(d, "a/b/c"), "w").close()
    print(sorted(os.listdir(d)))
print(os.path.exists(d))
with tempfile.TemporaryFile() as f:
    f.write(b"hidden")
    f.seek(0)
    print(f.read())
with tempfile.SpooledTemporaryFile(max_size=10) as f:
    f.write(b"12345")
    print(f._rolled)
    f.write(b"1234567890")
    print(f._rolled, f.tell())
fd, path = tempfile.mkstemp(prefix="pre-", dir="/tmp")
os.write(fd, b"x")
os.close(fd)
print(os.path.basename(path)[:4], os.stat(path).st_size)
d = tempfile.mkdtemp(dir=".")
print(os.path.isdir(d))
os.rmdir(d)
