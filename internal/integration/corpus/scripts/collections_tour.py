from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple

c = Counter("mississippi")
print(c, c.most_common(2), c["z"], sorted(c.elements()), c.total())
c.update(s=2, x=1)
c.subtract("mmm")
print(c, +c, -c, Counter(a=3, b=1) & Counter(a=1, b=2), Counter(a=3) | Counter(b=2), Counter(a=1) <= Counter(a=2))

d = defaultdict(list)
for k, v in [("x", 1), ("y", 2), ("x", 3)]:
    d[k].append(v)
print(d, dict(d), d.get("none"), "none" in d)
tree = lambda: defaultdict(tree)
t = tree()
t["a"]["b"]["c"] = 1
print(list(t["a"]["b"].items()))

dq = deque(range(5), maxlen=5)
dq.append(99)
dq.appendleft(-1)
dq.rotate(2)
print(dq, dq[0], dq[-1], dq.index(1), dq.maxlen)
dq.extendleft("ab")
try:
    dq.insert(0, "full")
except IndexError as e:
    print("IndexError:", e)
try:
    for x in dq:
        dq.append(x)
except RuntimeError as e:
    print("RuntimeError:", e)

P = namedtuple("P", "x y z", defaults=[0])
p = P(1, 2)
print(p, p._replace(y=9), p._asdict(), P._fields, P._field_defaults, p == (1, 2, 0), *p)
for bad in ("P()", "namedtuple('B', 'class x')", "namedtuple('B', 'a a')", "p.x = 1"):
    try:
        exec(bad)
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
print(namedtuple("R", "a def a", rename=True)._fields)

od = OrderedDict(a=1, b=2, c=3)
od.move_to_end("a")
od.move_to_end("c", last=False)
print(od, od.popitem(last=False), list(reversed(od)), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), dict(a=1, b=2) == dict(b=2, a=1))

base, env, cli = {"color": "red", "user": "guest"}, {"user": "admin"}, {}
cm = ChainMap(cli, env, base)
cm["color"] = "blue"
print(cm["user"], cm["color"], cli, base["color"], list(cm), cm.parents["color"], cm.new_child({"user": "x"})["user"])


class Lower(UserDict):
    def __setitem__(self, k, v):
        super().__setitem__(k.lower(), v)


class LRU(OrderedDict):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def get(self, k, default=None):
        if k in self:
            self.move_to_end(k)
        return super().get(k, default)

    def put(self, k, v):
        self[k] = v
        self.move_to_end(k)
        while len(self) > self.size:
            print("evict", self.popitem(last=False))


print(Lower(A=1, bB=2), UserList([3, 1, 2]) + [0])
lru = LRU(2)
lru.put("a", 1), lru.put("b", 2), lru.get("a"), lru.put("c", 3)
print(list(lru))

m = {"k": 1} | {"k": 2, "j": 3}
m |= [("z", 0)]
print(m, m.setdefault("q", 7), m.pop("nope", "dflt"), sorted(m.items() - {("z", 0)}), dict.fromkeys("ab", 0), list(reversed(m)))
try:
    for k in m:
        m[k + "!"] = 1
except RuntimeError as e:
    print("RuntimeError:", e)
for bad in ("{}['a']", "{[]: 1}", "{}.popitem()", "[].pop()", "[1].remove(2)", "(1,)[3]", "[1, 2].index(9)", "dict([1])", "dict([(1, 2, 3)])", "set([[]])", "[3, 'a'].sort()", "frozenset().add(1)"):
    try:
        eval(bad)
    except Exception as e:
        print(f"{bad:<22} {type(e).__name__}: {e}")
a, *rest, z = range(6)
print(a, rest, z, [*range(3), *"ab"], {**m, "k": 0}["k"], sorted({1, 2, 3} ^ {3, 4}), sorted({1, 2} | {5}), {1, 2} < {1, 2, 3}, {1}.isdisjoint({2}))
s = [5, 3, 8]
s[1:2] = [7, 7, 7]
del s[::2]
print(s, s[::-1], [0] * 3, [[0] * 2 for _ in range(2)], sorted("bca", reverse=True), min("b", "a", key=str.upper), sum([[1], [2]], []))
