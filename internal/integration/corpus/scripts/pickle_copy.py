import copy
import copyreg
import io
import pickle
import pickletools
import shelve
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction


class Color(Enum):
    RED = 1


class Node:
    def __init__(self, value, *children):
        self.value, self.children = value, list(children)
        self.cache = "not saved"

    def __getstate__(self):
        return {k: v for k, v in vars(self).items() if k != "cache"}

    def __setstate__(self, state):
        self.__dict__.update(state, cache="rebuilt")

    def __repr__(self):
        return f"Node({', '.join(map(repr, [self.value, *self.children]))})"


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b): self.a, self.b = a, b
    def __eq__(self, o): return (self.a, self.b) == (o.a, o.b)
    def __reduce__(self): return (Slots, (self.a, self.b))


values = [None, True, 10**40, -3.5, 2 + 3j, "é☃𝄞", b"\x00\xff", bytearray(b"x"), (1, (2,)), {1, 2}, frozenset("a"), {"k": [1]}, range(3), slice(1, 2), Ellipsis, len, int,
          Color.RED, date(2024, 1, 1), Decimal("1.50"), Fraction(1, 3), OrderedDict(a=1), Slots(1, [2])]
for proto in range(pickle.HIGHEST_PROTOCOL + 1):
    ok = [pickle.loads(pickle.dumps(v, proto)) == v for v in values]
    print(f"protocol {proto}: {sum(ok)}/{len(ok)}")

tree = Node("root", Node("a", Node("b")), Node("c"))
back = pickle.loads(pickle.dumps(tree))
print(back, back.cache, back is not tree)
shared = [1]
loop = [shared, shared]
loop.append(loop)
l2 = pickle.loads(pickle.dumps(loop))
print(l2[0] is l2[1], l2[2] is l2)
print(pickle.dumps({"a": 1}, 0), pickle.dumps([1, 2.5, "x"], 2))
pickletools.dis(pickle.dumps((1, "a"), 2))

with open("data.pkl", "wb") as f:
    p = pickle.Pickler(f, 4)
    for item in ("first", {"second": 2}):
        p.dump(item)
with open("data.pkl", "rb") as f:
    while True:
        try:
            print("loaded", pickle.load(f))
        except EOFError as e:
            print("EOFError:", e)
            break


class Safe(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is forbidden")


for label, act in [
    ("lambda", lambda: pickle.dumps(lambda: 0)),
    ("generator", lambda: pickle.dumps(x for x in [])),
    ("file", lambda: pickle.dumps(open("data.pkl"))),
    ("garbage", lambda: pickle.loads(b"garbage")),
    ("truncated", lambda: pickle.loads(pickle.dumps("hello")[:-3])),
    ("forbidden", lambda: Safe(io.BytesIO(pickle.dumps(len))).load()),
]:
    try:
        act()
    except Exception as e:
        print(f"{label}: {type(e).__name__}: {str(e).split(' at 0x')[0]}")

a = [[1, 2], {"k": [3]}]
b, c = copy.copy(a), copy.deepcopy(a)
a[0].append(9)
print(b[0], c[0], copy.deepcopy(loop)[2] is not loop, copy.replace(date(2024, 5, 6), day=1))
with shelve.open("shelf") as db:
    db["k"] = {"n": 1}
    db["list"] = [1, 2]
with shelve.open("shelf", writeback=True) as db:
    db["list"].append(3)
with shelve.open("shelf", flag="r") as db:
    print(sorted(db), db["list"], "x" in db)
