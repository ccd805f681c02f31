"""A recursive descent parser and a small stack machine."""
import re
from dataclasses import dataclass


@dataclass
class Num:
    value: float


@dataclass
class Var:
    name: str


@dataclass
class Bin:
    op: str
    left: object
    right: object


@dataclass
class Call:
    fn: str
    args: list


class ParseError(Exception):
    def __init__(self, message, pos, text):
        super().__init__(f"{message} at {pos}\n  {text}\n  {' ' * pos}^")


TOKEN = re.compile(r"\s*(?:(?P<num>\d+\.?\d*|\.\d+)|(?P<name>[a-z_]\w*)|(?P<op>\*\*|[-+*/%(),=]))")
PREC = {"+": (1, "l"), "-": (1, "l"), "*": (2, "l"), "/": (2, "l"), "%": (2, "l"), "**": (4, "r")}


class Parser:
    def __init__(self, text):
        self.text, self.tokens, pos = text, [], 0
        while pos < len(text.rstrip()):
            m = TOKEN.match(text, pos)
            if not m:
                raise ParseError("unexpected character", pos, text)
            self.tokens.append((m.lastgroup, m[m.lastgroup], m.start(m.lastgroup)))
            pos = m.end()
        self.tokens.append(("end", "", len(text)))
        self.i = 0

    def peek(self):
        return self.tokens[self.i]

    def take(self, value=None):
        tok = self.tokens[self.i]
        if value is not None and tok[1] != value:
            raise ParseError(f"expected {value!r}, got {tok[1] or 'end'!r}", tok[2], self.text)
        self.i += 1
        return tok

    def parse(self):
        node = self.expr(0)
        if self.peek()[0] != "end":
            raise ParseError("trailing input", self.peek()[2], self.text)
        return node

    def expr(self, floor):
        node = self.unary()
        while (op := self.peek()[1]) in PREC and PREC[op][0] >= floor + (1 if PREC[op][1] == "l" and floor else 0):
            prec, assoc = PREC[op]
            self.take()
            node = Bin(op, node, self.expr(prec if assoc == "l" else prec - 1))
        return node

    def unary(self):
        if self.peek()[1] == "-":
            self.take()
            return Bin("-", Num(0.0), self.expr(3))
        return self.atom()

    def atom(self):
        kind, value, pos = self.take()
        if kind == "num":
            return Num(float(value))
        if kind == "name":
            if self.peek()[1] != "(":
                return Var(value)
            self.take("(")
            args = []
            while self.peek()[1] != ")":
                args.append(self.expr(0))
                if self.peek()[1] == ",":
                    self.take()
            self.take(")")
            return Call(value, args)
        if value == "(":
            node = self.expr(0)
            self.take(")")
            return node
        raise ParseError(f"unexpected {value or 'end'!r}", pos, self.text)


def compile_(node, out):
    match node:
        case Num(v): out.append(("push", v))
        case Var(n): out.append(("load", n))
        case Bin(op, l, r):
            compile_(l, out), compile_(r, out)
            out.append(("op", op))
        case Call(fn, args):
            for a in args:
                compile_(a, out)
            out.append(("call", (fn, len(args))))
    return out


FUNCS = {"max": max, "min": min, "abs": abs, "avg": lambda *a: sum(a) / len(a)}
OPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "%": lambda a, b: a % b, "**": lambda a, b: a**b}


def run(code, env):
    stack = []
    for op, arg in code:
        if op == "push":
            stack.append(arg)
        elif op == "load":
            stack.append(env[arg])
        elif op == "op":
            b, a = stack.pop(), stack.pop()
            stack.append(OPS[arg](a, b))
        else:
            fn, n = arg
            args = [stack.pop() for _ in range(n)][::-1]
            stack.append(FUNCS[fn](*args))
    return stack.pop()


env = {"x": 3.0, "rate": 0.25}
for text in ["1 + 2 * 3", "(1 + 2) * 3", "2 ** 3 ** 2", "-2 ** 2", "10 - 4 - 3", "max(1, x, avg(2, 8)) * rate", "7 % 4 / 2", "1 / 0", "y + 1", "1 + ", "2 $ 3", "max(1, 2", "nope(1)", "1 2", ""]:
    try:
        node = Parser(text).parse()
        print(f"{text:<28} = {run(compile_(node, []), env):g}")
    except ParseError as e:
        print(f"{text:<28} ! {e}")
    except (KeyError, ZeroDivisionError) as e:
        print(f"{text:<28} ! {type(e).__name__}: {e}")
print(Parser("a*(b-1)").parse())
print(compile_(Parser("f(1, 2*x)").parse(), []))
