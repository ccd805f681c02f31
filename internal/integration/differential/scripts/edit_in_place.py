import fileinput, hashlib, linecache, os, sys

with open("in.txt", "w") as f:
    f.write("alpha\nbeta\ngamma\n")
with fileinput.input("in.txt", inplace=True, backup=".bak") as f:
    for line in f:
        print(f"{fileinput.lineno()}: {line}", end="")
print(open("in.txt").read(), open("in.txt.bak").read())
print(linecache.getline("in.txt", 2), [h(open("in.txt", "rb").read()).hexdigest()[:16] for h in (hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.blake2b)])
tmp = "out.txt.tmp"
with open(tmp, "w") as f:
    f.write("new")
    f.flush()
    os.fsync(f.fileno())
os.replace(tmp, "out.txt")
print(open("out.txt").read(), os.path.exists(tmp), linecache.getline(__file__, 1))
with open("in.txt") as a, open("out.txt") as b:
    os.remove("in.txt")
    print(a.read(5), b.read(), os.path.exists("in.txt"), os.fstat(a.fileno()).st_nlink)
