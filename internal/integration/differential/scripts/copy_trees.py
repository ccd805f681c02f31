import filecmp, os, shutil

os.makedirs("src/sub/deep")
for path, text in (("src/a.txt", "a"), ("src/sub/b.log", "b" * 5000), ("src/sub/deep/c", "")):
    with open(path, "w") as f:
        f.write(text)
os.symlink("a.txt", "src/link")
os.symlink("sub", "src/dirlink")
os.utime("src/a.txt", (1_000_000_000, 1_100_000_000))
shutil.copytree("src", "deref")
shutil.copytree("src", "links", symlinks=True)
shutil.copytree("src", "ignored", ignore=shutil.ignore_patterns("*.log", "deep"))
shutil.copytree("src/sub", "links/sub", dirs_exist_ok=True)
print(sorted(os.listdir("deref")), os.path.islink("deref/link"), os.path.islink("links/link"), os.readlink("links/dirlink"))
print(sorted(os.listdir("ignored/sub")), os.path.getmtime("deref/a.txt"))
print(filecmp.cmp("src/sub/b.log", "deref/sub/b.log", shallow=False), filecmp.dircmp("src", "links").diff_files)
print(shutil.copy("src/a.txt", "copied"), shutil.copy2("src/a.txt", "deref/sub"), shutil.copyfile("src/link", "copied2"))
print(os.path.getmtime("deref/sub/a.txt"), os.path.islink("copied2"))
shutil.move("ignored", "moved")
shutil.move("copied", "moved/sub")
print(sorted(os.listdir("moved")), sorted(os.listdir("moved/sub")))
for call in (lambda: shutil.copytree("src", "links"), lambda: shutil.rmtree("gone"), lambda: shutil.copy("src", "x"), lambda: shutil.rmtree("src/link")):
    try:
        call()
    except (OSError, shutil.Error) as e:
        print(type(e).__name__)
shutil.rmtree("deref")
shutil.rmtree("gone", ignore_errors=True)
print(sorted(os.listdir(".")), shutil.which("no-such-program"))
