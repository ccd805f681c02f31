"""Uncaught exception while files, generators and context managers are open."""
import contextlib

out = open("partial.txt", "w")
out.write("line written before the crash\n")


@contextlib.contextmanager
def guarded(name):
    print("enter", name)
    try:
        yield
    except ZeroDivisionError:
        print("saw the error in", name)
        raise
    finally:
        print("leave", name)


def rows():
    try:
        for i in range(3, -1, -1):
            yield 12 / i
    finally:
        print("rows closed")


def process():
    with guarded("outer"), guarded("inner"):
        for value in rows():
            print(f"{value:.1f}")


class Later:
    def __del__(self):
        print("object finalised at exit", out.closed)


keep = Later()
process()
