"""Errors for which Python suggests a fix."""
import math
import collections


class Robot:
    def __init__(self):
        self.battery = 100
        self.position = (0, 0)

    def move_forward(self, steps):
        return move_backwards(steps)

    def charge(self):
        return batery

    def self_missing(self):
        return position


def attempt(fn):
    import traceback
    try:
        fn()
    except Exception as e:
        print(traceback.format_exception_only(e)[-1], end="")


r = Robot()
attempt(lambda: r.batery)
attempt(lambda: r.move_foward(3))
attempt(lambda: math.squrt(4))
attempt(lambda: collections.OrderDict())
attempt(lambda: r.charge())
attempt(lambda: r.self_missing())
attempt(lambda: lenght([1]))
attempt(lambda: "abc".uper())
attempt(lambda: [].add(1))
attempt(lambda: None.strip())
attempt(lambda: int.from_byte(b""))
attempt(lambda: json.loads("{}"))
attempt(lambda: sys.exit(0))
attempt(lambda: print("x", ends=""))
attempt(lambda: r.move_forward(1, 2))
attempt(lambda: Robot(1, 2))
attempt(lambda: int("x", bas=3))
attempt(lambda: (lambda a, *, key: a)(1))
attempt(lambda: (lambda a, b, c: a)(1))
attempt(lambda: "a" + 1)
attempt(lambda: 1 + "a")
attempt(lambda: [1] + (2,))
attempt(lambda: {}.nope)
attempt(lambda: len(5))
attempt(lambda: None[0])
attempt(lambda: 5())
attempt(lambda: "x"["y"])
attempt(lambda: [1, 2]["0"])
attempt(lambda: max())
attempt(lambda: max([]))
attempt(lambda: sorted([1, "a"]))
attempt(lambda: dict(1))
attempt(lambda: iter(5))
attempt(lambda: int([]))
attempt(lambda: float("1,5"))
attempt(lambda: int("12.5"))
attempt(lambda: chr(-1))
attempt(lambda: range(1, 2, 0))
attempt(lambda: [][1])
attempt(lambda: "{}".format())
attempt(lambda: b"x" + "y")
attempt(lambda: object() < object())
attempt(lambda: {**5})
attempt(lambda: print(*5))
attempt(lambda: Robot.move_forward())
attempt(lambda: setattr(5, "x", 1))
attempt(lambda: isinstance(1, "int"))
attempt(lambda: abs("x"))
attempt(lambda: 3 @ 4)
attempt(lambda: -"x")
attempt(lambda: open("missing.txt"))
attempt(lambda: exec("x = = 1"))
a, b = 1, 2
try:
    a, b = [1, 2, 3]
except ValueError as e:
    print("ValueError:", e)
try:
    a, b, *c = [1]
except ValueError as e:
    print("ValueError:", e)
print(r.postion)
