import collections, datetime, decimal, os, pickle
from dataclasses import dataclass, field


@dataclass
class Node:
    name: str
    children: list = field(default_factory=list)


Point = collections.namedtuple("Point", "x y")
tree = Node("root", [Node("leaf"), Node("leaf2")])
tree.children.append(tree)
data = {"tree": tree, "point": Point(1, 2), "when": datetime.datetime(2024, 2, 29, 1, 2, 3), "money": decimal.Decimal("1.50"), "set": {1}, "bytes": b"\0" * 10, "big": 2**100, "text": "ü😀", "float": 0.1, "tuple": (1, (2,))}
if not os.path.exists("state.pickle"):
    for protocol in (0, 2, 4):
        with open(f"p{protocol}", "wb") as f:
            pickle.dump(data, f, protocol)
        print(protocol, os.path.getsize(f"p{protocol}"))
    os.replace("p4", "state.pickle")
with open("state.pickle", "rb") as f:
    back = pickle.load(f)
print(back["tree"].children[2] is back["tree"], back["point"], back["when"], back["money"], back["text"], back["big"] == 2**100)
for bad in (b"", b"\x80\x04", b"cos\nmissing_name\n.", b"garbage"):
    try:
        pickle.loads(bad)
    except Exception as e:
        print(type(e).__name__)
