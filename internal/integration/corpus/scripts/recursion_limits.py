import json
import sys


def forever(n):
    return forever(n + 1)


for attempt in range(3):
    try:
        forever(0)
    except RecursionError as e:
        print(attempt, "RecursionError:", e)


class Loop:
    def __repr__(self):
        return f"<{self!r}>"

    def __getattr__(self, name):
        return self.missing


for action in (lambda: repr(Loop()), lambda: Loop().anything):
    try:
        action()
    except RecursionError as e:
        print("RecursionError:", e)

a = []
for _ in range(900):
    a = [a]
print("repr length:", len(repr(a)), "json:", len(json.dumps(a)), json.loads(json.dumps(a)) == a)

a = []
for _ in range(100_000):
    a = [a]
for name, f in (("repr", repr), ("json", json.dumps), ("eq", lambda x: x == [x])):
    try:
        print(name, type(f(a)).__name__)
    except RecursionError as e:
        print(name, "RecursionError:", str(e).split(" in ")[0])
del a
try:
    json.loads("[" * 100_000 + "]" * 100_000)
except RecursionError as e:
    print("loads RecursionError:", str(e)[:32])
for depth in (50, 90, 150, 250):
    try:
        print(depth, "parentheses:", eval("(" * depth + "1" + ")" * depth))
    except (SyntaxError, MemoryError) as e:
        print(depth, "parentheses:", type(e).__name__, e)
try:
    print(eval("-" * 100 + "1"), eval("+".join(["1"] * 3000)))
except (RecursionError, MemoryError) as e:
    print(type(e).__name__)
sys.setrecursionlimit(200)
try:
    forever(0)
except RecursionError as e:
    print("again:", e, sys.getrecursionlimit())
try:
    sys.setrecursionlimit(0)
except ValueError as e:
    print("ValueError:", e)
