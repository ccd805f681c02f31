import math

FORMULAS = {
    "circle": lambda r: math.pi * r * r,
    "rect": lambda a, b: a * b,
    "triangle": lambda a, b, c: heron(a, b, c),
}


def heron(a, b, c):
    s = (a + b + c) / 2
    return math.sqrt(
        s * (s - a)
        * (s - b) * (s - c)
    )
