"""KeyError shows the repr of the key."""
inventory = {"apples": 3, 42: "answer", (1, 2): "pair"}


def lookup(key):
    return inventory[key]


for key in ("apples", 42, "pears", 7, None, (1, 3), "it's", 'say "x"', "new\nline", "ключ", "", 1.5, b"k", frozenset({1})):
    try:
        print(f"{key!r:>12} -> {lookup(key)}")
    except KeyError as e:
        print(f"{key!r:>12} -> KeyError: {e} args={e.args}")
print(str(KeyError()), str(KeyError("a", "b")), repr(KeyError("a")), str(LookupError("plain")))
total = 0
for name, qty in [("apples", 2), ("pears", 1)]:
    total += inventory[name] * qty
print(total)
