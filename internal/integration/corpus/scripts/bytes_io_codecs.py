"""io, codecs, mmap-free binary handling, struct-free parsing."""
import codecs
import io
import os
import quopri
import zlib

b = io.BytesIO(b"hello world")
print(b.read(5), b.tell(), b.seek(-5, 2), b.read(), b.getvalue(), len(b.getbuffer()))
b.seek(0)
b.write(b"HELLO")
b.truncate(8)
print(b.getvalue(), b.readable(), b.seekable(), io.BytesIO(b"a\nb\nc").readlines())
s = io.StringIO("line 1\nline 2\r\nline 3", newline=None)
print(s.readlines(), repr(io.StringIO("a\r\nb", newline="").read()))
w = io.TextIOWrapper(io.BytesIO(), encoding="utf-16", newline="\r\n", write_through=True)
w.write("é\n")
print(w.buffer.getvalue(), w.encoding, w.line_buffering)
r = io.BufferedReader(io.BytesIO(bytes(range(20))), buffer_size=8)
print(r.peek(3)[:3], r.read1(4), r.readinto(buf := bytearray(3)), buf, r.tell())
pair = io.BufferedRWPair(io.BytesIO(b"in"), io.BytesIO())
print(pair.read(), pair.write(b"out"))


class Upper(io.RawIOBase):
    """A raw stream that upper-cases what it reads."""

    def __init__(self, inner):
        self.inner = inner

    def readable(self):
        return True

    def readinto(self, target):
        data = self.inner.read(len(target)).upper()
        target[:len(data)] = data
        return len(data)


print(io.TextIOWrapper(io.BufferedReader(Upper(io.BytesIO(b"shout\nloud")))).read())
with open("f.bin", "wb") as f:
    f.write(os.urandom(10))
    f.seek(100)
    f.write(b"end")
with open("f.bin", "rb") as f:
    data = f.read()
    print(len(data), data[10:100] == bytes(90), data[-3:])
with open("t.txt", "w", newline="\r\n") as f:
    print("a", "b", sep="\n", file=f)
print(open("t.txt", "rb").read(), open("t.txt").read(), open("t.txt", newline="").readlines())
with open("t.txt", "a+") as f:
    f.write("c\n")
    f.seek(0)
    print(f.read().split(), f.tell())
for name in ("rot13", "hex", "base64", "zlib", "bz2", "quopri", "uu"):
    try:
        enc = codecs.encode("Hello" if name == "rot13" else b"Hello=\xe9", name)
        print(name, enc if name not in ("zlib", "bz2") else len(enc) > 0, codecs.decode(enc, name))
    except Exception as e:
        print(name, type(e).__name__, e)
print(codecs.getreader("utf-8")(io.BytesIO("ä".encode())).read(), codecs.BOM_UTF8, list(codecs.iterdecode([b"\xc3", b"\xa9"], "utf-8")), quopri.encodestring("a=é".encode()))
print("ünï".encode("punycode"), "bücher.test".encode("idna"), b"xn--bcher-kva.test".decode("idna"), "\u00e9\n".encode("unicode_escape"), rb"\u00e9\x41".decode("unicode_escape"))
ba = bytearray(b"abc")
ba += b"de"
ba[1:3] = b"ZZZ"
ba.insert(0, 33)
del ba[-1]
print(ba, ba.find(b"Z"), bytes(ba).hex(":", 2), ba.translate(None, b"Z"), b"%s=%d" % (b"k", 5), b"a,b".split(b","), b" x ".strip(), b"abc".startswith((b"x", b"ab")))
print(b"\x00\xff\n'\"".__repr__(), bytes(3), bytes([65, 66]), bytes("é", "latin-1"), b"abc"[1], b"abc"[1:2], b"a" + bytearray(b"b"), b"AbC".swapcase(), [*b"hi"])
print(zlib.crc32(memoryview(b"abcdef")[1:4]), int(b"42"), float(b"2.5"), b"x".zfill(3), b"a\tb".expandtabs(4), bytes.maketrans(b"a", b"b")[97])
for act in (lambda: io.BytesIO("x"), lambda: io.StringIO(b"x"), lambda: b.seek(-1), lambda: bytes("x"), lambda: bytearray(-1), lambda: b"a".index(b"z"), lambda: codecs.lookup("nope"), lambda: io.StringIO().fileno()):
    try:
        act()
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
