"""Files that are not closed are flushed at exit; the script reads its own leftovers first."""
import os
import sys

f = open("a.txt", "w")
f.write("buffered text, not flushed\n")
print("size before flush:", os.path.getsize("a.txt"))
f.flush()
print("size after flush:", os.path.getsize("a.txt"))


def leak():
    g = open("b.txt", "w")
    g.write("closed by the reference count")


leak()
print(open("b.txt").read())
h = open("c.txt", "a")
for i in range(3):
    h.write(f"{i}\n")
    print("tell", h.tell())
h.close()
try:
    h.write("x")
except ValueError as e:
    print("ValueError:", e)
r = open("c.txt")
try:
    r.write("x")
except OSError as e:
    print(type(e).__name__, e)
print(r.readlines(), r.readable(), r.writable(), r.name, r.mode, r.closed, r.newlines)
with open("d.bin", "wb", buffering=0) as raw:
    print(raw.write(b"unbuffered"), os.path.getsize("d.bin"))
with open("d.bin", "r+b") as rw:
    rw.seek(3)
    rw.write(b"XYZ")
    rw.seek(0)
    print(rw.read(), rw.peek() if hasattr(rw, "peek") else None)
sys.stdout.write("stdout without newline, ")
print("stderr line", file=sys.stderr)
sys.stderr.write("stderr without newline")
sys.stdout.write("and the end")
