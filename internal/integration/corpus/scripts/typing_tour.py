"""Type hints at run time: generics, overloads, TypedDict, NewType, PEP 695."""
from __future__ import annotations

import typing
from typing import (Annotated, Any, Callable, ClassVar, Final, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, ParamSpec, Self, TypedDict, TypeVar,
                    Union, assert_never, cast, get_args, get_origin, get_type_hints, overload)

T = TypeVar("T")
P = ParamSpec("P")
UserId = NewType("UserId", int)


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> Self:
        self.items.append(item)
        return self


class Box[K, V: (int, str)]:
    def __init__(self, k: K, v: V) -> None:
        self.pair = (k, v)


type Tree[X] = X | list[Tree[X]]


def first[Y](xs: list[Y], default: Y | None = None) -> Y | None:
    return xs[0] if xs else default


class Movie(TypedDict, total=False):
    title: str
    year: NotRequired[int]


class Point(NamedTuple):
    x: float
    y: float = 0.0
    label: Optional[str] = None

    def norm2(self) -> float:
        return self.x**2 + self.y**2


@overload
def twice(x: int) -> int: ...
@overload
def twice(x: str) -> str: ...
def twice(x):
    return x * 2


def logged(fn: Callable[P, T]) -> Callable[P, T]:
    def inner(*a: P.args, **k: P.kwargs) -> T:
        print("call", fn.__name__, a, k)
        return fn(*a, **k)
    return inner


@logged
def greet(name: str, *, loud: bool = False) -> str:
    return name.upper() if loud else name


def shade(c: Literal["red", "blue"]) -> int:
    match c:
        case "red":
            return 1
        case "blue":
            return 2
        case _:
            assert_never(c)


class Config:
    MAX: Final = 3
    names: ClassVar[list[str]] = []
    ratio: Annotated[float, "0..1"] = 0.5


print(Stack[int]().push(1).push(2).items, Stack[int], Box("k", 1).pair, Box.__type_params__)
print(Tree, Tree.__type_params__, first([1, 2]), first([], "d"), first.__type_params__)
print(Movie(title="Alien", year=1979), Movie.__required_keys__, sorted(Movie.__optional_keys__))
p = Point(3, 4)
print(p, p.norm2(), p._replace(label="L"), p._asdict(), Point._field_defaults, Point._make([1, 2, None]))
print(twice(4), twice("ab"), greet("bob", loud=True), UserId(5) + 1, shade("blue"))
print(get_type_hints(Config, include_extras=True))
print(get_type_hints(greet), greet.__name__)
print(get_origin(dict[str, int]), get_args(Union[int, None, str]), Optional[int], int | None, Union[int, int])
print(typing.get_overloads(twice)[1].__annotations__, list[int] == list[int], cast("int", "not checked"))
try:
    shade("green")
except AssertionError as e:
    print("AssertionError:", e)
for bad in ("isinstance([], list[int])", "Stack[int, str]", "Union[1]", "Point()", "Literal[1] | 5"):
    try:
        eval(bad)
    except TypeError as e:
        print(f"{bad}: {e}")
def annotated(x: "Undefined", y: list[Any]) -> None: ...
print(annotated.__annotations__)
try:
    get_type_hints(annotated)
except NameError as e:
    print("NameError:", e)
