import os

with open("sparse.bin", "wb") as f:
    f.write(b"head")
    f.seek(1_000_000)
    f.write(b"tail")
    print(f.tell())
print(os.path.getsize("sparse.bin"))
with open("sparse.bin", "r+b") as f:
    f.seek(500_000)
    print(f.read(4), f.seek(-4, os.SEEK_END), f.read(), f.read())
    print(f.seek(2_000_000), f.read(), f.tell())
    f.seek(10)
    f.write(b"middle")
    f.seek(0)
    print(f.read(20))
    print(f.seek(0, 1), f.seek(5), f.seek(5, 1))
    try:
        f.seek(-1)
    except (OSError, ValueError) as e:
        print(type(e).__name__)
fd = os.open("sparse.bin", os.O_RDWR)
print(os.lseek(fd, 0, os.SEEK_END), os.pread(fd, 4, 0), os.pwrite(fd, b"HEAD", 0), os.lseek(fd, 0, os.SEEK_CUR))
os.ftruncate(fd, 6)
print(os.fstat(fd).st_size, os.pread(fd, 100, 0))
os.close(fd)
