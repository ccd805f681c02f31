"""Limits of the platform that scripts rarely meet: sizes of ints, containers and floats."""
import array
import struct
import sys

print("maxsize is positive:", sys.maxsize > 10**9)
print(len(range(10**9)), range(10**18)[-1], 10**17 in range(0, 10**18, 7))
for act in (lambda: [0] * -1, lambda: "ab"[10**20:], lambda: list(range(5))[-(10**20):10**20], lambda: [1, 2, 3][:10**30]):
    print(act())
for label, act in (("index", lambda: [1][10**30]), ("repeat", lambda: "x" * 10**30), ("shift", lambda: 1 >> 10**30), ("range", lambda: len(range(10**30))), ("bytes", lambda: bytes(10**30)), ("round", lambda: round(1.5, 10**30) if False else hash(float("inf")))):
    try:
        print(label, act())
    except (IndexError, OverflowError, MemoryError) as e:
        print(label, type(e).__name__, str(e)[:45])
print(hash(True), hash(5), hash(-1), hash(0.5) == hash(1 / 2), hash("") == 0, hash(2**200) == hash(float(2**200)))
print(struct.calcsize("<q"), array.array("i").itemsize, array.array("q").itemsize, array.array("d").itemsize)
