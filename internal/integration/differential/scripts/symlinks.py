import errno, os

os.mkdir("data")
with open("data/real.txt", "w") as f:
    f.write("content")
os.symlink("data/real.txt", "link")
os.symlink("data", "dirlink")
os.symlink("nowhere", "dangling")
os.symlink("b", "a")
os.symlink("a", "b")
print(os.readlink("link"), os.readlink("dirlink"), os.path.islink("link"), os.path.islink("data"))
print(open("link").read(), open("dirlink/real.txt").read())
print(os.path.exists("dangling"), os.path.lexists("dangling"), os.path.isdir("dirlink"), os.path.isfile("link"))
print(os.path.realpath("dirlink/real.txt"), os.path.realpath("dangling"), os.path.samefile("link", "data/real.txt"))
for path in ("a", "dangling", "link/x", "data/real.txt/x"):
    try:
        open(path).close()
    except OSError as e:
        print(path, type(e).__name__, errno.errorcode[e.errno])
with open("dangling", "w") as f:
    f.write("made through the link")
print(open("nowhere").read(), os.lstat("link").st_size, os.stat("link").st_size)
os.unlink("link")
print(os.path.exists("data/real.txt"))
try:
    os.symlink("x", "a")
except OSError as e:
    print(type(e).__name__)
try:
    os.rmdir("dirlink")
except OSError as e:
    print(type(e).__name__, errno.errorcode[e.errno])
try:
    os.readlink("data")
except OSError as e:
    print(type(e).__name__, errno.errorcode[e.errno])
os.symlink("/tmp/sandbox-work/data", "absolute")
print(sorted(os.listdir("absolute")), os.readlink("absolute"))
