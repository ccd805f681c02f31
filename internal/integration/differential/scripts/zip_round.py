import io, os, zipfile

os.makedirs("in/sub")
for name, data in (("in/a.txt", b"alpha\n" * 100), ("in/sub/b.bin", bytes(range(256)) * 10), ("in/sub/ü.txt", "ü".encode())):
    with open(name, "wb") as f:
        f.write(data)
    os.utime(name, (1_000_000_000, 1_000_000_000))
with zipfile.ZipFile("out.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for root, _, files in sorted(os.walk("in")):
        for name in sorted(files):
            z.write(os.path.join(root, name))
    z.writestr(zipfile.ZipInfo("made.txt", (2000, 1, 1, 0, 0, 0)), "made")
with zipfile.ZipFile("out.zip") as z:
    print(z.testzip(), [(i.filename, i.file_size, i.date_time, i.CRC, oct(i.external_attr >> 16)) for i in z.infolist()])
    z.extractall("extracted")
    with z.open("in/a.txt") as f:
        print(f.readline(), len(f.read()))
print([(r, sorted(f)) for r, _, f in sorted(os.walk("extracted"))])
print(open("extracted/in/sub/b.bin", "rb").read() == open("in/sub/b.bin", "rb").read())
buf = io.BytesIO()
with zipfile.ZipFile(buf, "w") as z:
    z.writestr(zipfile.ZipInfo("../escape.txt"), "x")
    z.writestr(zipfile.ZipInfo("/abs.txt"), "y")
zipfile.ZipFile(buf).extractall("safe")
print(sorted(os.listdir("safe")))
for bad in (b"", b"PK\x05\x06", b"not a zip"):
    try:
        zipfile.ZipFile(io.BytesIO(bad))
    except zipfile.BadZipFile as e:
        print(e)
with zipfile.ZipFile("out.zip", "a") as z:
    z.writestr(zipfile.ZipInfo("late.txt"), "late")
print(zipfile.ZipFile("out.zip").namelist(), zipfile.is_zipfile("out.zip"), zipfile.is_zipfile("in/a.txt"))
