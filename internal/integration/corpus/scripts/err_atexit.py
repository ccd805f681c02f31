"""Order of things at the end of a program."""
import atexit
import sys
import weakref


class Tracer:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


@atexit.register
def first_registered():
    print("atexit: registered first, runs last")


@atexit.register
def fails():
    print("atexit: about to fail")
    raise ValueError("inside atexit")


def with_args(*args, **kw):
    print("atexit:", args, kw)


atexit.register(with_args, 1, two=2)
atexit.register(with_args, "unregistered")
handler = atexit.register(lambda: print("atexit: lambda"))
atexit.unregister(with_args)
atexit.register(with_args, "again")

t = Tracer("global")
local = Tracer("replaced")
local = None
finalizer = weakref.finalize(t, print, "finalize ran")


def gen():
    try:
        yield 1
    finally:
        print("generator finalised")


g = gen()
next(g)
kept = gen()
next(kept)
del g
print("main ends")
sys.exit(3)
