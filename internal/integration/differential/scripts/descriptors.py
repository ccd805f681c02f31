import os

fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
print(os.write(fd, b"hello"), os.isatty(fd), os.lseek(fd, 0, 0), os.read(fd, 3))
with os.fdopen(fd, "r+") as f:
    print(f.read(), f.fileno() == fd, f.seekable())
fd = os.open("f", os.O_RDONLY)
os.fsync(fd)
os.close(fd)
try:
    os.close(fd)
except OSError as e:
    print(type(e).__name__)
print(os.get_inheritable(os.open("f", os.O_RDONLY)) if hasattr(os, "get_inheritable") else False)
