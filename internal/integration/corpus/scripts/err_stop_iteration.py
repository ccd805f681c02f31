"""Uncaught errors of less usual kinds, shown by print_exc, then one that ends the script."""
import sys
import traceback


def show(fn):
    try:
        fn()
    except BaseException as e:
        print("".join(traceback.format_exception_only(e)).rstrip())


show(lambda: next(iter([])))
show(lambda: (_ for _ in ()).throw(GeneratorExit))
show(lambda: exec("raise ExceptionGroup('g', [ValueError(1)])"))
show(lambda: int("9" * 5000))
show(lambda: str(10**5000))
show(lambda: 2.0**10000)
show(lambda: 10**400 / 3)
show(lambda: float("1e400") // 1)
show(lambda: __import__("math").sqrt(-1))
show(lambda: __import__("math").factorial(-1))
show(lambda: __import__("math").exp(1000))
show(lambda: "x" * -5 + 5)
show(lambda: "abc".encode("utf-8").decode("ascii").index("z"))
show(lambda: memoryview(b"abc").__setitem__(0, 1))
show(lambda: (1).__class__.__dict__.__setitem__("x", 1))
show(lambda: type("X", (int, str), {}))
show(lambda: type("Y", (object,), {"__slots__": ["a"]})().__setattr__("b", 1))
show(lambda: open(0.5))
show(lambda: open("x", "q"))
show(lambda: open("/"))
show(lambda: __import__("os").mkdir("/nope/deep"))
show(lambda: __import__("os").rename("a", "b"))
show(lambda: divmod(1, 0))
show(lambda: 1 % 0.0)
show(lambda: 0.0**-1)
show(lambda: complex(1, 1) < 1)
show(lambda: pow(2, 3, 0))
show(lambda: 1 << -1)
show(lambda: [0] * 3 * "x")
show(lambda: {1, 2}[0])
show(lambda: __import__("datetime").date(2024, 13, 1))
show(lambda: __import__("json").loads("{bad}"))
show(lambda: bytes([256]))
show(lambda: bytearray(b"x").pop(5))
show(lambda: "a".join([1, 2]))
show(lambda: sum(["a", "b"]))
show(lambda: hash([]))
show(lambda: __import__("re").compile("("))
show(lambda: ord("ab"))
show(lambda: "%d" % "s")
show(lambda: sys.getrefcount())
show(lambda: input.nope)


def generator():
    yield 1
    raise StopIteration("finished?")


for value in generator():
    print("value", value)
