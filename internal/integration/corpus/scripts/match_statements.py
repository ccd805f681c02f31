"""Structural pattern matching over shapes, commands, JSON and syntax trees."""
from dataclasses import dataclass
from enum import Enum
import re


class Op(Enum):
    ADD = "+"
    MUL = "*"


@dataclass
class Lit:
    value: int


@dataclass
class Expr:
    op: Op
    left: object
    right: object


def simplify(node):
    match node:
        case Expr(Op.MUL, Lit(0), _) | Expr(Op.MUL, _, Lit(0)):
            return Lit(0)
        case Expr(Op.MUL, Lit(1), x) | Expr(Op.MUL, x, Lit(1)) | Expr(Op.ADD, Lit(0), x) | Expr(Op.ADD, x, Lit(0)):
            return simplify(x)
        case Expr(op, l, r):
            l2, r2 = simplify(l), simplify(r)
            if isinstance(l2, Lit) and isinstance(r2, Lit):
                return Lit(l2.value + r2.value if op is Op.ADD else l2.value * r2.value)
            new = Expr(op, l2, r2)
            return new if (l2, r2) == (l, r) else simplify(new)
        case _:
            return node


def classify(x):
    match x:
        case None: return "none"
        case True | False: return "bool"
        case int() | float() if x < 0: return "negative"
        case 0: return "zero"
        case int(n): return f"int {n}"
        case float() as f: return f"float {f}"
        case "": return "empty string"
        case str() if re.fullmatch(r"\w+@\w+\.\w+", x): return "mail"
        case str(s): return f"str of {len(s)}"
        case []: return "empty list"
        case [only]: return f"one: {classify(only)}"
        case [first, *_, last] if first == last: return f"framed by {first}"
        case [x, y]: return f"pair {x}/{y}"
        case (a, (b, *c), *d): return f"nested {a} {b} {c} {d}"
        case [_, *rest]: return f"sequence, {len(rest)} more"
        case {"type": "circle", "r": r}: return f"circle {r}"
        case {"type": ("rect" | "square") as t, **rest}: return f"{t} {rest}"
        case {}: return f"mapping of {len(x)}"
        case complex(real=re_, imag=0): return f"real complex {re_}"
        case _: return type(x).__name__


for value in [None, True, -3, 0, 7, 2.5, "", "a@b.ch", "hello", [], [0], [1, 2, 1], [1, 2], (1, (2, 3, 4), 5), [1, 2, 3], {"type": "circle", "r": 2}, {"type": "rect", "w": 1, "h": 2}, {"k": 1}, {}, 3 + 0j, 1j, b"bytes", range(2), {1}]:
    print(f"{value!r:<38} {classify(value)}")

tree = Expr(Op.ADD, Expr(Op.MUL, Lit(1), Expr(Op.ADD, Lit(2), Lit(3))), Expr(Op.MUL, "x", Lit(0)))
print(simplify(tree), simplify(Expr(Op.MUL, "y", Lit(1))))


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def where(p):
    match p:
        case Point(0, 0): return "origin"
        case Point(0, y): return f"y axis at {y}"
        case Point(x, 0): return f"x axis at {x}"
        case Point(x, y) if x == y: return "diagonal"
        case Point(): return "elsewhere"


print([where(Point(*xy)) for xy in ((0, 0), (0, 5), (5, 0), (2, 2), (1, 2))])
try:
    match Point(1, 2):
        case Point(1, 2, 3):
            pass
except TypeError as e:
    print("TypeError:", e)
if (n := len("walrus")) > 5:
    print(n, [y for x in range(5) if (y := x * x) > 3], f"{(z := 3) + 1}", z)
for k, v in {"a": 1}.items():
    print(k, v)
else:
    print("for else")
a, (b, *c), d = 1, [2, 3, 4], 5
print(a, b, c, d, (lambda *args, **kw: (args, kw))(*[1], *(2,), **{"k": 3}), 1 < 2 < 3 > 0, not [] or "x", [] and 1)
