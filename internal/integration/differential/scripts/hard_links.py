import errno, os

with open("one", "w") as f:
    f.write("first")
os.link("one", "two")
os.mkdir("sub")
os.link("one", "sub/three")
print(os.stat("one").st_nlink, os.path.samefile("one", "sub/three"), os.stat("one").st_ino == os.stat("two").st_ino)
with open("two", "a") as f:
    f.write(" second")
print(open("sub/three").read())
os.remove("one")
print(os.stat("two").st_nlink, os.path.exists("one"), open("two").read())
for source, target in (("missing", "x"), ("two", "sub/three"), ("sub", "dir"), ("two", "none/x")):
    try:
        os.link(source, target)
    except OSError as e:
        print(source, target, type(e).__name__, errno.errorcode[e.errno])
os.rename("two", "sub/three")
print(sorted(os.listdir(".")), sorted(os.listdir("sub")))
