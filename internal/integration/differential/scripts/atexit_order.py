import atexit, sys


class Loud:
    def __del__(self):
        print("deleted")


@atexit.register
def first():
    print("first registered")


def second(*args, **kwargs):
    print("second", args, kwargs)


def late():
    atexit.register(print, "registered at exit")
    print("late")


atexit.register(second, 1, k="v")
atexit.register(lambda: 1 / 0)
atexit.register(late)
atexit.register(second, "gone")
gone = lambda: print("unregistered")
atexit.register(gone)
atexit.unregister(gone)
keep = Loud()
print("main ends")
sys.exit(4)
