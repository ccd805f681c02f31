import errno, os


def attempt(label, path, flags, mode=0o644):
    try:
        fd = os.open(path, flags, mode)
    except OSError as e:
        print(label, type(e).__name__, errno.errorcode[e.errno])
        return
    print(label, "size", os.fstat(fd).st_size)
    os.close(fd)


attempt("missing", "f", os.O_RDONLY)
attempt("create", "f", os.O_CREAT | os.O_WRONLY)
attempt("again", "f", os.O_CREAT | os.O_WRONLY)
attempt("exclusive", "f", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
with open("f", "w") as f:
    f.write("text")
attempt("read", "f", os.O_RDONLY)
attempt("truncate", "f", os.O_WRONLY | os.O_TRUNC)
attempt("directory", "f", os.O_RDONLY | os.O_DIRECTORY)
attempt("dot", ".", os.O_RDONLY)
attempt("dot directory", ".", os.O_RDONLY | os.O_DIRECTORY)
attempt("dot for writing", ".", os.O_WRONLY)
os.symlink("f", "l")
os.symlink("gone", "d")
attempt("link", "l", os.O_RDONLY)
attempt("nofollow", "l", os.O_RDONLY | os.O_NOFOLLOW)
attempt("exclusive dangling", "d", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
attempt("create dangling", "d", os.O_CREAT | os.O_WRONLY)
attempt("slash", "f/", os.O_RDONLY)
attempt("append", "f", os.O_WRONLY | os.O_APPEND)
attempt("null", "/dev/null", os.O_RDWR)
try:
    open("a\0b")
except ValueError as e:
    print(e)
try:
    os.read(99, 1)
except OSError as e:
    print(errno.errorcode[e.errno])
fd = os.open("f", os.O_RDONLY)
try:
    os.write(fd, b"x")
except OSError as e:
    print(errno.errorcode[e.errno])
fd = os.open("f", os.O_WRONLY)
try:
    os.read(fd, 1)
except OSError as e:
    print(errno.errorcode[e.errno])
print(sorted(os.listdir(".")))
