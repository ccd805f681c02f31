import io

with open("f", "wb+") as f:
    print(type(f).__name__, f.write(b"0123456789" * 1000), f.tell(), f.seek(5000), f.read(5), f.peek(1)[:1])
    f.seek(10)
    f.write(b"XX")
    buf = bytearray(6)
    f.seek(8)
    print(f.readinto(buf), buf, f.readinto1(buf) > 0)
    view = memoryview(b"abcdef")[2:4]
    print(f.write(view), f.flush())
with open("f", "rb") as f:
    print(f.read(12), f.readline(5), len(f.readlines()), f.read1(10), f.closed)
print(f.closed)
try:
    f.read()
except ValueError as e:
    print(e)
with open("t", "w", buffering=1) as f:
    f.writelines(["a\n", "b\n"])
    print(open("t").read().split(), f.line_buffering, f.newlines)
with open("t", "r+") as f:
    print(f.readline(), f.tell(), f.read(1), f.seek(0, 2), f.write("end"))
    cookie = f.tell()
print(cookie, io.open is open, io.DEFAULT_BUFFER_SIZE >= 8192)
text = io.TextIOWrapper(io.BytesIO(b"a\r\nb\rc\n"), newline=None)
print(text.read(), text.newlines, text.detach().closed)
for mode in ("rw", "", "b", "z", "rbt"):
    try:
        open("t", mode)
    except ValueError as e:
        print(mode, type(e).__name__)
