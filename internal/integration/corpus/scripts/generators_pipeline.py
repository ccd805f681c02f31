"""A lazy pipeline of generators, plus send/throw/close and yield from."""


def numbers(limit):
    print("[start]")
    try:
        for i in range(limit):
            yield i
    finally:
        print("[stop at", i, end="]\n")


def only(pred, it):
    for x in it:
        if pred(x):
            yield x


def squared(it):
    return (x * x for x in it)


def take(n, it):
    for _, x in zip(range(n), it):
        yield x


def batched(it, size):
    batch = []
    for x in it:
        batch.append(x)
        if len(batch) == size:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def averager():
    total, n, avg = 0.0, 0, None
    while True:
        try:
            value = yield avg
        except ValueError as e:
            print("  ignored:", e)
            continue
        if value is None:
            return (n, total)
        total += value
        n += 1
        avg = total / n


def delegate():
    result = yield from averager()
    print("  inner returned", result)
    yield "done"


pipeline = take(5, squared(only(lambda x: x % 3 == 0, numbers(100))))
print(list(pipeline))
print(list(batched(range(7), 3)))

a = delegate()
next(a)
for v in (10, 20, 60):
    print("avg:", a.send(v))
a.throw(ValueError("bad sample"))
print(a.send(None))
print(next(a, "exhausted"))

g = numbers(10)
print(next(g), next(g))
g.close()
try:
    next(g)
except StopIteration:
    print("closed")


def stubborn():
    while True:
        try:
            yield 1
        except GeneratorExit:
            print("no!")
            yield 2
            return


s = stubborn()
next(s)
try:
    s.close()
except RuntimeError as e:
    print("RuntimeError:", e)


def leaky():
    yield 1
    raise StopIteration("inside")


try:
    list(leaky())
except RuntimeError as e:
    print("RuntimeError:", e, "| cause:", repr(e.__cause__))


def tree(t):
    if t:
        left, value, right = t
        yield from tree(left)
        yield value
        yield from tree(right)


print(*tree((((None, 1, None), 2, (None, 3, None)), 4, (None, 5, None))))
fib = (lambda: (yield from (lambda a=[0, 1]: (a.append(a[-1] + a[-2]) or a[-3] for _ in iter(int, 1)))()))()
print([next(fib) for _ in range(10)])
gen = (x for x in "abc")
try:
    gen.send("too early")
except TypeError as e:
    print("TypeError:", e)
import inspect
print(inspect.getgeneratorstate(gen), sum(1 for _ in gen), inspect.getgeneratorstate(gen))
