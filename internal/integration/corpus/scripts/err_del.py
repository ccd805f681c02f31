"""Exceptions that cannot propagate."""
import gc
import sys
import weakref


class Bad:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("finalising", self.name)
        raise RuntimeError(f"no clean-up for {self.name}")


class Quiet:
    def __del__(self):
        self.missing.close()


b = Bad("one")
del b
print("still here")
q = Quiet()
q = None


def hook(info):
    print("hook:", type(info.exc_value).__name__, info.exc_value, "|", info.err_msg, "|", getattr(info.object, "__qualname__", info.object))


sys.unraisablehook = hook
b = Bad("two")
b = None
target = Quiet()
ref = weakref.ref(target, lambda r: 1 / 0)
sys.unraisablehook = sys.__unraisablehook__


class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        print("cycle collected")


c = Cycle()
del c
print("collected:", gc.collect() > 0)


def gen():
    try:
        yield
    finally:
        raise KeyError("in generator clean-up")


g = gen()
next(g)
del g
del target
print("end")
