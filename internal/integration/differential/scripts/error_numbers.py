import errno, os

try:
    open("missing")
except OSError as e:
    print(e)
print(os.strerror(errno.EMFILE))
