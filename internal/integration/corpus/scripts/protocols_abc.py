from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable
from collections.abc import Iterable, Mapping, Sequence, MutableMapping, Sized
import math


class Shape(ABC):
    @property
    @abstractmethod
    def area(self) -> float: ...

    @abstractmethod
    def scale(self, k: float) -> "Shape": ...

    def __lt__(self, other):
        return self.area < other.area

    def __repr__(self):
        args = ", ".join(f"{k}={v:g}" for k, v in vars(self).items())
        return f"{type(self).__name__}({args})"


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    @property
    def area(self):
        return math.pi * self.r**2

    def scale(self, k):
        return Circle(self.r * k)


class Rect(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    @property
    def area(self):
        return self.w * self.h

    def scale(self, k):
        return type(self)(self.w * k, self.h * k)


class Square(Rect):
    def __init__(self, a, _=None):
        super().__init__(a, a)


class Incomplete(Shape):
    def scale(self, k):
        return self


@runtime_checkable
class Drawable(Protocol):
    def draw(self) -> str: ...


class Pen:
    def draw(self):
        return "~~~"


class LowerDict(MutableMapping):
    """A mapping that ignores the case of its keys."""

    def __init__(self, *args, **kw):
        self._d = {}
        self.update(*args, **kw)

    def __getitem__(self, k):
        return self._d[k.lower()]

    def __setitem__(self, k, v):
        self._d[k.lower()] = v

    def __delitem__(self, k):
        del self._d[k.lower()]

    def __iter__(self):
        return iter(self._d)

    def __len__(self):
        return len(self._d)


shapes = [Circle(1), Rect(2, 3), Square(1.5)]
for s in sorted(shapes):
    print(f"{s!r:<22} area={s.area:8.4f} scaled={s.scale(2)!r}")
print("total:", round(sum(s.area for s in shapes), 6))
try:
    Incomplete()
except TypeError as e:
    print("TypeError:", e)
print(isinstance(Pen(), Drawable), isinstance(shapes[0], Drawable), issubclass(Square, Shape))
print([c.__name__ for c in Square.__mro__])
d = LowerDict(Hello=1, WORLD=2)
d["hello"] += 10
print(dict(d), "HELLO" in d, d.pop("World"), len(d), d.setdefault("New", 5), isinstance(d, Mapping))
print([isinstance(x, t) for x, t in [([], Sequence), ({}, Sequence), ("", Iterable), (5, Iterable), (set(), Sized)]])


class Temperature:
    def __init__(self, c): self.c = c
    @property
    def f(self): return self.c * 9 / 5 + 32
    @f.setter
    def f(self, v): self.c = (v - 32) * 5 / 9
    @classmethod
    def freezing(cls): return cls(0)
    @staticmethod
    def valid(c): return c >= -273.15


t = Temperature.freezing()
t.f = 212
print(t.c, t.f, Temperature.valid(-300))
try:
    del t.f
except AttributeError as e:
    print("AttributeError:", e)
