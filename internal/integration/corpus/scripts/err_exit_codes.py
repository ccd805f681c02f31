"""sys.exit in its variants, each caught; then one that counts."""
import sys


def attempt(label, fn):
    try:
        fn()
    except SystemExit as e:
        print(f"{label:<10} code={e.code!r} str={str(e)!r}")


attempt("none", sys.exit)
attempt("zero", lambda: sys.exit(0))
attempt("text", lambda: sys.exit("a message"))
attempt("tuple", lambda: sys.exit((1, 2)))
attempt("raise", lambda: (_ for _ in ()).throw(SystemExit(5)))
attempt("builtin", lambda: exit(4))
attempt("quit", lambda: quit("bye"))
attempt("bool", lambda: sys.exit(True))

try:
    sys.exit(1)
except Exception:
    print("an Exception handler must not see it")
except BaseException as e:
    print("BaseException saw", repr(e))
finally:
    print("finally runs")

try:
    sys.exit("first")
finally:
    print("cleanup before the end", flush=True)
    sys.exit(300)
