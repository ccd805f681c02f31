import bz2
import gzip
import io
import lzma
import zlib

text = ("It was the best of times, it was the worst of times. " * 400).encode()
noise = bytes((i * 7919 + i * i * 104729) >> 3 & 0xFF for i in range(5000))

print(f"{'codec':<6}{'text':>8}{'empty':>8}{'ok':>6}")
for name, mod in (("zlib", zlib), ("gzip", gzip), ("bz2", bz2), ("lzma", lzma)):
    small = mod.compress(text)
    print(f"{name:<6}{'<5%' if len(small) < len(text) / 20 else 'big':>8}{len(mod.decompress(mod.compress(b''))):>8}{str(mod.decompress(small) == text and mod.decompress(mod.compress(noise)) == noise):>6}")

print("crc32", hex(zlib.crc32(text)), "adler32", hex(zlib.adler32(text)), zlib.crc32(b"b", zlib.crc32(b"a")) == zlib.crc32(b"ab"))
print("levels shrink:", [len(zlib.compress(noise, lv)) >= len(noise) for lv in (0, 6)], len(zlib.compress(text, 9)) <= len(zlib.compress(text, 1)))

c = zlib.compressobj(level=6, wbits=-15)
raw = c.compress(text[:1000]) + c.compress(text[1000:]) + c.flush()
d = zlib.decompressobj(wbits=-15)
out = b"".join(d.decompress(raw[i:i + 17]) for i in range(0, len(raw), 17)) + d.flush()
print("raw deflate:", out == text, d.eof)
d = zlib.decompressobj()
first = d.decompress(zlib.compress(text) + b"trailing", 10)
print(first, len(d.unconsumed_tail) > 0, d.eof)
d = zlib.decompressobj()
d.decompress(zlib.compress(b"abc") + b"trailing")
print(d.unused_data, d.eof)
z = zlib.compressobj(zdict=b"best of times worst of times")
with_dict = z.compress(b"the worst of times") + z.flush()
print(zlib.decompressobj(zdict=b"best of times worst of times").decompress(with_dict))

with gzip.open("log.gz", "wt", encoding="utf-8", newline="\n") as f:
    for i in range(1000):
        f.write(f"line {i} é\n")
with gzip.open("log.gz", "rt", encoding="utf-8") as f:
    lines = f.readlines()
print(len(lines), lines[999].strip())
with open("log.gz", "ab") as f:
    f.write(gzip.compress(b"second member\n", mtime=0))
print(gzip.open("log.gz").read()[-20:])
print(gzip.compress(b"x", mtime=0)[:10].hex())

with bz2.open("d.bz2", "wb") as f:
    f.write(text)
with bz2.open("d.bz2") as f:
    f.seek(1000)
    print(f.read(20), f.tell())
with lzma.open("d.xz", "w", preset=1) as f:
    f.write(text)
with lzma.open("d.xz") as f:
    print(sum(1 for _ in iter(lambda: f.read(1000), b"")))
alone = lzma.compress(text, format=lzma.FORMAT_ALONE)
filters = [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 3}]
print(lzma.decompress(alone) == text, lzma.decompress(lzma.compress(noise, filters=filters, check=lzma.CHECK_CRC32)) == noise, lzma.is_check_supported(lzma.CHECK_SHA256))

for name, act in [
    ("zlib", lambda: zlib.decompress(b"junk")),
    ("zlib short", lambda: zlib.decompress(zlib.compress(text)[:-5])),
    ("gzip", lambda: gzip.decompress(b"junk")),
    ("gzip crc", lambda: gzip.decompress(gzip.compress(b"abc")[:-8] + b"\0" * 8)),
    ("bz2", lambda: bz2.decompress(b"junk")),
    ("bz2 short", lambda: bz2.decompress(bz2.compress(text)[:-1])),
    ("lzma", lambda: lzma.decompress(b"junk")),
    ("lzma short", lambda: lzma.decompress(lzma.compress(text)[:-3])),
    ("level", lambda: zlib.compress(b"", 17)),
    ("eof", lambda: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(text)[:40])).read()),
]:
    try:
        act()
        print(name, "no error")
    except Exception as e:
        print(f"{name}: {type(e).__name__}: {e}")
