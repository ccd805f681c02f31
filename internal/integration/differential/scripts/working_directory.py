import errno, os

print(os.getcwd(), os.path.abspath("x"), os.curdir, os.getcwdb())
os.makedirs("a/b")
os.chdir("a")
with open("b/f", "w") as f:
    f.write("in b")
print(os.getcwd(), os.listdir("."), os.path.exists("../a"), open("b/f").read())
os.chdir("b")
print(os.getcwd(), os.path.relpath("/tmp/sandbox-work"), os.path.abspath(".."))
os.chdir("/tmp/sandbox-work")
os.symlink("a/b", "l")
os.chdir("l")
print(os.listdir("."))
os.chdir("/tmp/sandbox-work")
for bad in ("missing", "a/b/f"):
    try:
        os.chdir(bad)
    except OSError as e:
        print(bad, type(e).__name__, errno.errorcode[e.errno])
os.chdir("/")
print(os.getcwd(), os.path.exists("tmp"))
os.chdir("/tmp")
print("sandbox-work" in os.listdir("."))
