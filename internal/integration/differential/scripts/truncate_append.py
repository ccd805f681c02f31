import os

with open("log.txt", "w") as f:
    f.write("0123456789")
with open("log.txt", "a") as f:
    print(f.tell())
    f.seek(0)
    f.write("AB")
with open("log.txt", "a+") as f:
    f.seek(0)
    print(f.read())
    f.write("CD")
    f.seek(3)
    print(f.read(), f.tell())
with open("log.txt", "r+") as f:
    print(f.truncate(5), f.read())
with open("log.txt", "r+") as f:
    f.truncate(8)
    print(repr(f.read()))
os.truncate("log.txt", 3)
print(open("log.txt").read(), os.path.getsize("log.txt"))
with open("log.txt", "r+b", buffering=0) as f:
    print(f.write(b"xy"), f.tell(), f.readall())
with open("log.txt", "w+") as f:
    print(repr(f.read()), f.write("new"), f.seek(0), f.read())
two, one = open("log.txt", "ab", buffering=0), open("log.txt", "ab", buffering=0)
one.write(b"1"), two.write(b"2"), one.write(b"3")
one.close(), two.close()
print(open("log.txt").read())
try:
    open("log.txt", "x")
except FileExistsError as e:
    print(type(e).__name__, e.filename)
try:
    open("log.txt", "r").write("x")
except OSError as e:
    print(type(e).__name__, e)
