"""Measure and trace without printing times."""
import cProfile
import io
import pstats
import sys
import timeit
import tracemalloc


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def work():
    return sorted(str(fib(i)) for i in range(12))


pr = cProfile.Profile()
pr.enable()
work()
pr.disable()
out = io.StringIO()
stats = pstats.Stats(pr, stream=out)
calls = {f"{name}": (prim, total) for (_, _, name), (prim, total, *_) in stats.stats.items()}
print("fib:", calls["fib"], "work:", calls["work"], "profiled:", len(calls) > 2)
t = timeit.timeit("x + 1", "x = 1", number=1000)
print("timeit:", t > 0, len(timeit.repeat(lambda: None, number=10, repeat=3)))
seen = []


def tracer(frame, event, arg):
    if frame.f_code.co_name == "traced":
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def traced(x):
    y = x + 1
    if y > 5:
        y = 0
    return y


sys.settrace(tracer)
traced(5)
sys.settrace(None)
print(seen)
tracemalloc.start()
block = [bytes(1000) for _ in range(100)]
current, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
print("traced memory:", current > 90_000, peak >= current)
print(sys.getsizeof([]) < sys.getsizeof([1, 2, 3]), sys.getsizeof("é" * 10) > sys.getsizeof("e" * 10) - 60)


def profile_calls(frame, event, arg, log=[]):
    if event == "c_call" and arg.__name__ != "setprofile":
        log.append(arg.__name__)
    profile_calls.log = log


sys.setprofile(profile_calls)
len([1])
abs(-1)
sys.setprofile(None)
print(profile_calls.log)
