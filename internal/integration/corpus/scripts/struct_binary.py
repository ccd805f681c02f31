"""Binary formats by hand: a BMP image, a PNG, a WAV and a small record file."""
import array
import io
import struct
import sys
import wave
import zlib

W, H = 5, 3


def bmp(pixels):
    row = (W * 3 + 3) // 4 * 4
    body = b"".join(b"".join(bytes(reversed(px)) for px in r).ljust(row, b"\0") for r in reversed(pixels))
    header = struct.pack("<2sIHHI", b"BM", 54 + len(body), 0, 0, 54)
    dib = struct.pack("<IiiHHIIiiII", 40, W, H, 1, 24, 0, len(body), 2835, 2835, 0, 0)
    return header + dib + body


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels):
    raw = b"".join(b"\0" + bytes(c for px in r for c in px) for r in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


pixels = [[(40 * x, 80 * y, 255 - 20 * x) for x in range(W)] for y in range(H)]
data = bmp(pixels)
print(len(data), data[:26].hex(" "))
size, offset = struct.unpack_from("<I4xI", data, 2)
print(size == len(data), offset, struct.unpack_from("<ii", data, 18))
image = png(pixels)
pos = 8
while pos < len(image):
    length, kind = struct.unpack_from(">I4s", image, pos)
    print(kind.decode(), "crc ok:", zlib.crc32(image[pos + 4:pos + 8 + length]) == struct.unpack_from(">I", image, pos + 8 + length)[0])
    pos += 12 + length

rec = struct.Struct(">10sHf?")
out = io.BytesIO()
for name, qty, price, ok in [("bolt", 500, 0.25, True), ("nut", 65535, 0.125, False)]:
    out.write(rec.pack(name.encode(), qty, price, ok))
print(rec.size, rec.format)
for name, *rest in rec.iter_unpack(out.getvalue()):
    print(name.rstrip(b"\0").decode(), rest)

for fmt in ("<bBhHiIqQ", ">e f d".replace(" ", ""), "=3s2xH", "<5p", "<?c"):
    print(f"{fmt:<10} {struct.calcsize(fmt)}")
print(struct.pack("<qQ", -1, 2**64 - 1).hex(), struct.pack(">d", -0.1).hex(), struct.unpack("<e", b"\x00\x3c"), struct.pack("<f", 1e-45).hex())
print(struct.unpack("<f", struct.pack("<f", 0.1))[0], struct.unpack(">i", b"\xff\xff\xff\xfe"))
for act in (
    lambda: struct.pack("<B", 256),
    lambda: struct.pack("<h", "x"),
    lambda: struct.unpack("<I", b"abc"),
    lambda: struct.calcsize("z"),
    lambda: struct.pack("<2H", 1),
    lambda: struct.pack("<f", 1e40),
    lambda: struct.unpack_from("<I", b"abcd", 2),
):
    try:
        act()
    except (struct.error, OverflowError) as e:
        print(f"{type(e).__name__}: {e}")

a = array.array("h", [1, -2, 3])
a.extend(range(4, 6))
a.byteswap()
print(a, a.itemsize, a.tobytes().hex(), array.array("d", [0.5]).tolist())
m = memoryview(bytearray(b"abcdefgh"))
m[2:4] = b"XY"
print(m.tobytes(), m[::-2].tolist(), m.cast("H").shape, m.cast("B", (2, 4)).tolist()[1], m.readonly, m.nbytes)
print(int.from_bytes(b"\x01\x00", "big"), (1000).to_bytes(3, "little"), (-5).to_bytes(2, "big", signed=True), (255).bit_length(), (0b1011).bit_count())
print((0.1).hex(), float.fromhex("0x1.8p3"), sys.byteorder)
buf = io.BytesIO()
with wave.open(buf, "wb") as w:
    w.setnchannels(1), w.setsampwidth(2), w.setframerate(8000)
    w.writeframes(array.array("h", [i * 100 for i in range(80)]).tobytes())
buf.seek(0)
with wave.open(buf) as r:
    print(r.getparams(), r.readframes(2))
