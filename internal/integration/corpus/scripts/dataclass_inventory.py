from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, asdict, astuple, replace, fields, FrozenInstanceError, KW_ONLY, InitVar
from typing import ClassVar


@dataclass(order=True)
class Product:
    """A thing on the shelf."""
    sort_key: tuple = field(init=False, repr=False)
    name: str
    price: float
    tags: list[str] = field(default_factory=list, compare=False)
    _: KW_ONLY
    stock: int = 0
    count: ClassVar[int] = 0

    def __post_init__(self):
        if self.price < 0:
            raise ValueError(f"negative price for {self.name}: {self.price}")
        self.sort_key = (-self.price, self.name)
        Product.count += 1


@dataclass(frozen=True, slots=True)
class Point:
    x: float = 0.0
    y: float = 0.0

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)


@dataclass
class Account:
    owner: str
    opening: InitVar[int] = 0
    balance: int = field(init=False)
    history: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self, opening):
        self.balance = opening

    def move(self, amount):
        if self.balance + amount < 0:
            raise ValueError("insufficient funds")
        self.balance += amount
        self.history.append(("in" if amount > 0 else "out", abs(amount)))
        return self


shelf = [Product("lamp", 39.9, ["home"], stock=4), Product("desk", 249.0), Product("pen", 1.5, stock=1000), Product("chair", 39.9)]
for p in sorted(shelf):
    print(p)
print("made:", Product.count)
print(asdict(shelf[0]))
print(astuple(Point(1, 2)))
print(replace(shelf[2], price=2.0, stock=5))
print([(f.name, f.type, f.kw_only) for f in fields(Product)])

p = Point(1, 2) + Point(y=5)
print(p, hash(p) == hash(Point(1, 7)), p == Point(1.0, 7.0), p == (1, 7))
for action in ("p.x = 3", "p.z = 1", "Product('x', -1)", "Product('x')", "Product('x', 1, [], 5)", "shelf[0] < Point()", "{shelf[0]: 1}"):
    try:
        exec(action)
    except Exception as e:
        print(f"{action:24} {type(e).__name__}: {e}")

acc = Account("eve", 100).move(50).move(-120)
print(acc)
try:
    acc.move(-31)
except ValueError as e:
    print("refused:", e)

C = dataclasses.make_dataclass("C", [("a", int), ("b", str, field(default="z"))], namespace={"twice": lambda self: self.a * 2})
print(C(4), C(4).twice(), dataclasses.is_dataclass(C))
try:
    @dataclass
    class Bad:
        xs: list = []
except ValueError as e:
    print("ValueError:", e)
match p:
    case Point(x=1, y=yy):
        print("matched y =", yy)
