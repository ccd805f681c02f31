import contextlib
import io
import sys
import os


class Tx:
    """A context manager class that can swallow errors."""
    def __init__(self, name, swallow=()):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print(f"begin {self.name}")
        return self

    def __exit__(self, kind, value, tb):
        outcome = "commit" if kind is None else f"rollback after {kind.__name__}({value})"
        print(f"{outcome} {self.name}")
        return kind is not None and issubclass(kind, self.swallow)


@contextlib.contextmanager
def section(title, level=1):
    print("<" * level, title)
    try:
        yield title.upper()
    except KeyError as e:
        print("section saw", repr(e))
        raise ValueError("translated") from e
    finally:
        print(">" * level, title)


with Tx("outer"), Tx("inner", (ZeroDivisionError,)) as t:
    1 / 0
print("after")
try:
    with section("one") as up:
        print(up)
        {}["k"]
except ValueError as e:
    print("got", e, "from", repr(e.__cause__))


@section("decorated", 2)
def work(n):
    print("working", n)
    return n * 2


print(work(21))
with contextlib.suppress(FileNotFoundError, KeyError):
    os.remove("not-there")
    print("never")
buf = io.StringIO()
with contextlib.redirect_stdout(buf), contextlib.redirect_stderr(buf):
    print("captured")
    print("also", file=sys.stderr)
print("buffer:", buf.getvalue().split())

with contextlib.ExitStack() as stack:
    for i in range(3):
        stack.enter_context(Tx(f"t{i}"))
    stack.callback(print, "callback", sep="-")
    stack.push(lambda *exc: print("push saw", exc[0]))
    keep = stack.pop_all()
print("stack moved")
keep.close()

with contextlib.closing(io.StringIO("x")) as s:
    print(s.read())
print(s.closed)
with contextlib.nullcontext(5) as n:
    print(n)
os.mkdir("d")
with contextlib.chdir("d"):
    print(os.path.basename(os.getcwd()))
print(os.path.basename(os.getcwd()))

for attempt in ("with section('x') as a, 5: pass", "@contextlib.contextmanager\ndef f():\n  yield 1\n  yield 2\nwith f(): pass", "@contextlib.contextmanager\ndef f():\n  return\n  yield\nwith f(): pass"):
    try:
        exec(attempt)
    except Exception as e:
        print(type(e).__name__, e)


class Reusable(contextlib.ContextDecorator):
    depth = 0

    def __enter__(self):
        self.depth += 1
        print("depth", self.depth)

    def __exit__(self, *exc):
        self.depth -= 1


r = Reusable()
with r:
    with r:
        pass
try:
    with Tx("A"):
        try:
            with Tx("B"):
                raise RuntimeError("first")
        finally:
            raise LookupError("second")
except LookupError as e:
    print(repr(e), "context:", repr(e.__context__))
