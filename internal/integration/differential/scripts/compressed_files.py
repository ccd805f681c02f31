import bz2, gzip, io, lzma, os, zlib

data = b"".join(b"line %d of the text\n" % i for i in range(5000))
for module, name in ((gzip, "t.gz"), (bz2, "t.bz2"), (lzma, "t.xz")):
    with module.open(name, "wb") as f:
        f.write(data)
    with module.open(name, "rt") as f:
        first = f.readline()
        count = 1 + sum(1 for _ in f)
    print(name, first, count, os.path.getsize(name) < len(data) // 3, module.decompress(open(name, "rb").read()) == data)
    with open(name, "rb") as f:
        cut = f.read()[:-20]
    try:
        module.open(io.BytesIO(cut)).read()
    except (EOFError, OSError, lzma.LZMAError) as e:
        print(type(e).__name__)
    os.remove(name)
print(zlib.crc32(data), zlib.adler32(data), zlib.decompress(zlib.compress(data, 9)) == data)
try:
    zlib.decompress(b"nonsense")
except zlib.error as e:
    print(type(e).__name__)
with gzip.open("multi.gz", "wb") as f:
    f.write(b"one")
with gzip.open("multi.gz", "ab") as f:
    f.write(b"two")
print(gzip.open("multi.gz").read())
os.remove("multi.gz")
