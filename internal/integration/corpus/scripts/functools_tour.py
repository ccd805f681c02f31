import functools
import operator
from functools import lru_cache, cache, partial, reduce, singledispatch, singledispatchmethod, wraps, total_ordering, cached_property, cmp_to_key

calls = []


def traced(prefix=""):
    """Decorator factory that records and prints each call."""
    def deco(fn):
        @wraps(fn)
        def wrapper(*args, **kw):
            calls.append(fn.__name__)
            shown = ", ".join([repr(a) for a in args] + [f"{k}={v!r}" for k, v in kw.items()])
            result = fn(*args, **kw)
            print(f"{prefix}{fn.__name__}({shown}) -> {result!r}")
            return result
        return wrapper
    return deco


@traced("* ")
def power(base, exp=2):
    """Raise base to exp."""
    return base**exp


power(3)
power(2, exp=10)
print(power.__name__, power.__doc__, power.__wrapped__(5), calls)


@lru_cache(maxsize=3)
def slow(n):
    print("  computing", n)
    return n * n


for n in (1, 2, 3, 1, 4, 2):
    slow(n)
print(slow.cache_info())
slow.cache_clear()
print(slow.cache_info())


@cache
def grid(r, c):
    return 1 if 0 in (r, c) else grid(r - 1, c) + grid(r, c - 1)


print("paths:", grid(16, 16), grid.cache_info().currsize)
print(reduce(operator.mul, range(1, 11)), reduce(lambda a, b: a * 10 + b, [1, 2, 3], 0), partial(int, base=2)("1011"))
print(partial(power, exp=3).keywords, [*map(partial(operator.mul, 3), range(4))])


@singledispatch
def describe(x):
    return f"something: {type(x).__name__}"


@describe.register
def _(x: int):
    return f"int {x}"


@describe.register(list)
@describe.register(tuple)
def _(x):
    return f"{type(x).__name__} of {len(x)}: " + "; ".join(describe(i) for i in x)


print(describe([1, (2, "x"), None]), describe(True), describe.dispatch(bool) is describe.dispatch(int))


class Fmt:
    @singledispatchmethod
    def show(self, x):
        return repr(x)

    @show.register
    def _(self, x: float):
        return f"{x:.2f}"


print(Fmt().show(2.0), Fmt().show("s"))


@total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(map(int, text.split(".")))

    def __eq__(self, o):
        return self.parts == o.parts

    def __lt__(self, o):
        return self.parts < o.parts

    def __repr__(self):
        return ".".join(map(str, self.parts))


vs = [Version(v) for v in "1.10 1.9.3 2.0 1.9".split()]
print(sorted(vs), max(vs), Version("1.0") >= Version("0.9"))


class Data:
    def __init__(self, xs): self.xs = xs

    @cached_property
    def mean(self):
        print("  (mean computed)")
        return sum(self.xs) / len(self.xs)


d = Data([1, 2, 6])
print(d.mean, d.mean, "mean" in vars(d))
print(sorted(["10", "9", "2", "33", "1"], key=cmp_to_key(lambda a, b: int(b + a) - int(a + b))))
compose = lambda *fs: reduce(lambda f, g: lambda x: f(g(x)), fs)
print(compose(str, abs, lambda x: x - 10)(3))
try:
    slow([])
except TypeError as e:
    print("TypeError:", e)
