"""Object lifetimes: weak references, cycles, copy semantics, closures, mutable defaults."""
import copy
import gc
import sys
import types
import weakref


class Node:
    def __init__(self, name):
        self.name = name
        self.children = []
        self._parent = None

    @property
    def parent(self):
        return self._parent and self._parent()

    def add(self, child):
        child._parent = weakref.ref(self)
        self.children.append(child)
        return child

    def __repr__(self):
        return f"Node({self.name})"


root = Node("root")
leaf = root.add(Node("leaf"))
print(leaf.parent, root.children)
del root
print(leaf.parent)

cache = weakref.WeakValueDictionary()
obj = Node("cached")
cache["k"] = obj
print(dict(cache), len(cache))
del obj
print(dict(cache), len(cache))
keys = weakref.WeakKeyDictionary()
k = Node("key")
keys[k] = "value"
seen = weakref.WeakSet([k])
print(len(keys), len(seen))
k = None
print(len(keys), len(seen))
events = []
n = Node("n")
fin = weakref.finalize(n, events.append, "finalized")
method = weakref.WeakMethod(n.add)
print(fin.alive, method() is not None)
del n
print(fin.alive, events, method())
for bad in (5, "text", (1,)):
    try:
        weakref.ref(bad)
    except TypeError as e:
        print("TypeError:", e)

gc.disable()
before = len(gc.get_objects()) > 0
a, b = Node("a"), Node("b")
a.other, b.other = b, a
probe = weakref.ref(a)
del a, b
print("alive before collect:", probe() is not None, "found:", gc.collect() >= 2, "after:", probe())
gc.enable()
print(before, gc.isenabled(), gc.get_threshold()[0] > 0)


def append_to(x, target=[]):
    target.append(x)
    return target


print(append_to(1), append_to(2), append_to.__defaults__)
adders = [lambda x: x + i for i in range(3)]
print([f(10) for f in adders], [f(10) for f in [lambda x, i=i: x + i for i in range(3)]])


def counter():
    n = 0

    def inc(by=1):
        nonlocal n
        n += by
        return n

    return inc


c1, c2 = counter(), counter()
print(c1(), c1(5), c2(), c1.__closure__[0].cell_contents, c1.__code__.co_freevars)
grid = [[0] * 3] * 2
grid[0][0] = 1
print(grid, [[0] * 3 for _ in range(2)])
orig = {"a": [1, 2], "t": (1, [2])}
shallow, deep = copy.copy(orig), copy.deepcopy(orig)
orig["a"].append(3)
print(shallow["a"], deep["a"])
t = ([],)
try:
    t[0] += [1]
except TypeError as e:
    print(t, "TypeError:", e)
x = [1, 2, 3]
y = x
x = x + [4]
y += [5]
print(x, y, [1] is [1], () is (), "ab" "cd" is "abcd", sys.intern("dyn" + str(1)) is sys.intern("dyn1"))
ns = types.SimpleNamespace(a=1, b=[2])
print(ns, types.MappingProxyType({"r": 1}), vars(ns))
try:
    types.MappingProxyType({})["x"] = 1
except TypeError as e:
    print("TypeError:", e)


class Meta(type):
    def __del__(cls):
        print("class collected")


def scope():
    class Temp(metaclass=Meta):
        pass


scope()
gc.collect()
print("end")
