"""Many syntax errors, each compiled by the script itself."""
import traceback

SNIPPETS = [
    "return 1", "break", "def f(:\n  pass", "x = (1, 2", "x = )", "1 = x", "f() = 3", "a, b += 1", "if True:\nx = 1", "  x = 1", "\tif 1:\n        x", "class :\n  pass", "lambda: (yield", "'abc", "'''abc",
    "f'{a b}'", "f'{'", "f'{}'", "0777", "1__0", "0xZ", "5x", "a b", "import", "from x import", "from . import *\nfrom __future__ import nope", "def f():\n  x = 1\n  global x", "nonlocal y", "async def f():\n  await",
    "await x", "def f(a, a): pass", "def f(a=1, b): pass", "f(a=1, 2)", "f(**k, *a)", "f(a for a in b, c)", "print 'x'", "exec 'x'", "x = [i for i in range(3)", "{1: 2, 3}", "try:\n  x", "try:\n  x\nexcept A, B:\n  y",
    "else:\n  pass", "elif x:\n  pass", "while True print(1)", "not x = 1", "None = 1", "x := 5", "del f()", "assert (x, 'm') = 1", "with open('x') as 5: pass", "match x:\n  case 1 | y: pass\n  case z: pass", "match x:\n  case {**r, 'a': 1}: pass",
    "a = 1 if 2", "a ? b : c", "x++", "“quoted”", "print(“hi”)", "x = 5;;", "@\ndef f(): pass", "raise from x", "import a.b as c.d", "def f(*): pass", "def f(**k, a): pass", "type X = ", "\x00", "x = \\ 1", "a = 'x' 'y' f'{z!}'", "def é(): return ½",
]
for source in SNIPPETS:
    try:
        compile(source, "<test>", "exec")
        print(f"{source!r:40.40} compiles")
    except SyntaxError as e:
        print(f"{source!r:40.40} {type(e).__name__} {e.lineno}:{e.offset}-{e.end_lineno}:{e.end_offset} {e.msg}")
    except ValueError as e:
        print(f"{source!r:40.40} ValueError {e}")

for source in ("x = (1 +\n  2 3)", "def f():\n\treturn 1\n        return 2", "value = {'a': 1, 'b' 2}"):
    try:
        compile(source, "<shown>", "exec")
    except SyntaxError as e:
        print("".join(traceback.format_exception_only(e)), end="")
try:
    eval("1 +", {})
except SyntaxError:
    traceback.print_exc()
