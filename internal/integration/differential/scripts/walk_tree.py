import os

for d in ("t/a/x", "t/b", "t/c/y/z"):
    os.makedirs(d)
for f in ("t/1", "t/a/2", "t/a/x/3", "t/c/y/z/4"):
    with open(f, "w") as out:
        out.write(f)
os.symlink("../a", "t/b/up")
os.symlink("nothing", "t/dead")
os.symlink("1", "t/one")


def show(**options):
    rows = []
    for root, dirs, files in os.walk("t", **options):
        dirs.sort()
        rows.append((root, list(dirs), sorted(files)))
    print(sorted(rows))


show()
show(topdown=False)
show(followlinks=True)
for root, dirs, files in os.walk("t"):
    dirs[:] = sorted(d for d in dirs if d != "c")
    print(root, dirs, sorted(files))
with os.scandir("t") as entries:
    for e in sorted(entries, key=lambda e: e.name):
        print(e.name, e.path, e.is_dir(), e.is_file(), e.is_symlink(), e.is_dir(follow_symlinks=False), e.inode() == os.lstat(e.path).st_ino)
print(list(os.walk("missing")))
errors = []
list(os.walk("missing", onerror=lambda e: errors.append(type(e).__name__)))
print(errors, sum(len(f) for _, _, f in os.walk("t")))
print(sorted(os.path.relpath(os.path.join(r, f), "t") for r, _, fs in os.walk("t") for f in fs))
