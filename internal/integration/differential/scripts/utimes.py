import os, time

open("f", "w").close()
before = time.time()
os.utime("f")
print(abs(os.path.getmtime("f") - before) < 60)
for ns in (0, 1, 1_000_000_000_000_000_000, 4_000_000_000_000_000_000):
    os.utime("f", ns=(ns, ns))
    print(ns, os.stat("f").st_mtime_ns)
os.utime("f", (1.5, 2.25))
print(os.path.getatime("f"), os.path.getmtime("f"))
os.symlink("f", "l")
os.utime("l", (100, 100), follow_symlinks=False)
print(os.lstat("l").st_mtime, os.stat("l").st_mtime)
os.mkdir("d")
os.utime("d", (7, 8))
print(os.path.getmtime("d"))
open("d/x", "w").close()
print(os.path.getmtime("d") > 1000)
mtime = os.path.getmtime("f")
with open("f") as f:
    f.read()
print(os.path.getmtime("f") == mtime)
with open("f", "a") as f:
    f.write("x")
print(os.path.getmtime("f") > mtime)
try:
    os.utime("missing")
except OSError as e:
    print(type(e).__name__)
