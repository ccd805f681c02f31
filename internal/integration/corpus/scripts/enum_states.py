"""Enums: an order state machine, flags, and the odd corners."""
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum, auto, unique, verify, CONTINUOUS


class State(Enum):
    NEW = "new"
    PAID = "paid"
    SHIPPED = "shipped"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def final(self):
        return self in (State.DONE, State.CANCELLED)

    def next(self, event):
        try:
            return TRANSITIONS[self, event]
        except KeyError:
            raise ValueError(f"{event!r} is not allowed in {self.name}") from None


TRANSITIONS = {
    (State.NEW, "pay"): State.PAID,
    (State.NEW, "cancel"): State.CANCELLED,
    (State.PAID, "ship"): State.SHIPPED,
    (State.PAID, "cancel"): State.CANCELLED,
    (State.SHIPPED, "deliver"): State.DONE,
}


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


class Level(IntEnum):
    LOW = 1
    MID = 5
    HIGH = 10


class Color(StrEnum):
    RED = auto()
    DARK_BLUE = auto()


class Planet(Enum):
    MERCURY = (3.303e+23, 2.4397e6)
    EARTH = (5.976e+24, 6.37814e6)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def gravity(self):
        return 6.67300E-11 * self.mass / self.radius**2


state = State.NEW
for event in ["pay", "ship", "cancel", "deliver"]:
    try:
        new = state.next(event)
        print(f"{state.name:>9} --{event}--> {new.name}{' (final)' if new.final else ''}")
        state = new
    except ValueError as e:
        print("  refused:", e)

print(list(State)[:2], State("paid"), State["DONE"], State.NEW == "new", repr(State.NEW), str(State.NEW))
print(Perm.RW, Perm.R | Perm.X, ~Perm.R, Perm.W in Perm.RW, Perm(7), Perm(0), list(Perm.RW), bool(Perm(0)))
print(Level.HIGH > Level.MID, sorted(Level, reverse=True), Level.LOW + 1, f"{Level.MID} {Level.MID!r} {Level(10):>4}")
print(Color.RED, repr(Color.DARK_BLUE), Color("red"), "x-" + Color.RED, Color.RED.upper())
for p in Planet:
    print(f"{p.name:<8} {p.gravity:.3f}")
IntPerm = IntFlag("IntPerm", "A B C")
print(IntPerm.A | IntPerm.C, repr(IntPerm(9)), IntPerm.B.value)
Animal = Enum("Animal", ["CAT", "DOG"], start=10)
print(list(Animal), Animal.DOG.value, len(Animal), Animal.__members__.keys())
for code in ["State('x')", "State['x']", "Perm(99)", "State.NEW.value = 3", "State.NEW < State.PAID", "State.FOO"]:
    try:
        exec(code)
    except Exception as e:
        print(f"{code}: {type(e).__name__}: {e}")
try:
    @unique
    class Dup(Enum):
        A = 1
        B = 1
except ValueError as e:
    print("ValueError:", e)
try:
    @verify(CONTINUOUS)
    class Gap(IntEnum):
        A = 1
        C = 3
except ValueError as e:
    print("ValueError:", e)
