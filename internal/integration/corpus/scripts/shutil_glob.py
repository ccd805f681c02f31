import fnmatch
import glob
import os
import shutil
from pathlib import Path


def ls(path="."):
    found = []
    for base, dirs, files in os.walk(path):
        dirs.sort()
        found += [os.path.join(base, f) for f in sorted(files)] or ([base + "/"] if not dirs else [])
    return found


os.makedirs("src/sub/deep", exist_ok=True)
for i, name in enumerate(["a.txt", "b.log", "sub/c.txt", "sub/d.pyc", "sub/deep/e.txt"]):
    Path("src", name).write_text(f"file {i}\n" * (i + 1))

print(ls("src"))
shutil.copytree("src", "dst", ignore=shutil.ignore_patterns("*.pyc", "*.log"))
print(ls("dst"))
shutil.copytree("src/sub", "dst/sub", dirs_exist_ok=True)
print(ls("dst/sub"))
print(shutil.copy("src/a.txt", "dst/copy_of_a.txt"), shutil.copy2("src/b.log", "dst"), shutil.copyfile("src/a.txt", "plain"))
print(shutil.move("dst/copy_of_a.txt", "dst/sub/moved.txt"), os.path.exists("dst/copy_of_a.txt"))
shutil.move("dst/sub", "relocated")
print(ls("relocated"), ls("dst"))

print(sorted(glob.glob("src/*.txt")), sorted(glob.glob("src/**/*.txt", recursive=True)), sorted(glob.glob("**/e*", recursive=True)))
print(glob.glob("src/[ab].*", include_hidden=True) != [], glob.escape("we[i]rd*"), sorted(glob.glob("*.txt", root_dir="src")))
print(fnmatch.filter(["x.py", "y.PY", "z.txt"], "*.py"), fnmatch.fnmatch("data12.csv", "data??.csv"), fnmatch.translate("*.t?t"))

for kind in ("zip", "gztar", "bztar", "xztar", "tar"):
    out = shutil.make_archive("backup", kind, root_dir="src")
    target = f"restored-{kind}"
    shutil.unpack_archive(out, target)
    same = [Path(target, p).read_bytes() == Path("src", p).read_bytes() for p in ("a.txt", "sub/deep/e.txt")]
    print(f"{os.path.basename(out):<15} {len(ls(target))} files, same: {same}")
    os.remove(out)
    shutil.rmtree(target)

with open("src/a.txt", "rb") as f, open("merged", "wb") as g:
    for _ in range(3):
        f.seek(0)
        shutil.copyfileobj(f, g, 5)
print(os.path.getsize("merged"), Path("merged").read_text().count("file"))

for label, act in [
    ("copytree", lambda: shutil.copytree("src", "src2/x") and shutil.copytree("src", "src2/x")),
    ("rmtree", lambda: shutil.rmtree("missing")),
    ("same", lambda: shutil.copy("plain", "plain")),
    ("missing", lambda: shutil.copy("nothing", "x")),
    ("move", lambda: shutil.move("plain", "no/such/dir/x")),
    ("format", lambda: shutil.make_archive("b", "rar")),
    ("unpack", lambda: shutil.unpack_archive("plain")),
]:
    try:
        act()
    except Exception as e:
        print(f"{label}: {type(e).__name__}: {e}")
errors = []
shutil.rmtree("missing", onexc=lambda f, p, e: errors.append((p, type(e).__name__)))
shutil.rmtree("missing", ignore_errors=True)
print(errors, shutil.which("no-such-program"), sorted(n for n, _ in shutil.get_archive_formats()))
for d in ("src", "dst", "src2", "relocated"):
    shutil.rmtree(d)
print(sorted(os.listdir()))
