import os, shutil

for name in (b"caf\xe9", b"\xff\xfe", b"\x80abc", b"good"):
    with open(name, "wb") as f:
        f.write(name)
names = sorted(os.listdir("."))
print([ascii(n) for n in names])
print(sorted(os.listdir(b".")))
print([os.fsencode(n) for n in names], [open(n, "rb").read() for n in names])
os.mkdir(b"dir\xc3")
shutil.copy(os.fsdecode(b"caf\xe9"), os.fsdecode(b"dir\xc3"))
print(os.listdir(b"dir\xc3"), [(ascii(d), [ascii(x) for x in s], [ascii(x) for x in f]) for d, s, f in os.walk("dir\udcc3")])
os.rename(b"\xff\xfe", b"\xfe\xff")
print(os.path.exists(b"\xff\xfe"), os.path.exists("\udcfe\udcff"))
try:
    open("lone \ud800", "w")
except UnicodeEncodeError as e:
    print(type(e).__name__, e.reason)
os.symlink(b"\x80abc", b"l\x81")
print(os.readlink(b"l\x81"), ascii(os.readlink("l\udc81")))
