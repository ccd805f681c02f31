"""Every corner of the format mini-language."""
import string
from datetime import datetime

n, x, s = 1234567, 3.14159265, "text"
for spec in ["d", ",", "_", "+d", " d", "08x", "#x", "#_b", "#o", "X", "e", "c", "10", "<10", "^10", "=+10", "n", ".2f", "%"]:
    try:
        print(f"int   {spec:>6} |{format(n if spec != 'c' else 9731, spec)}|")
    except ValueError as e:
        print(f"int   {spec:>6} ValueError: {e}")
for spec in ["", "f", ".0f", "#.0f", ".3e", "g", ".10g", "G", "%", "+.1%", "010.2f", "_.2f", ",.1f", "z.1f", ".3", "d"]:
    try:
        print(f"float {spec:>6} |{format(x, spec)}| |{format(-0.04, spec)}|")
    except ValueError as e:
        print(f"float {spec:>6} ValueError: {e}")
for spec in ["", "10", "<10", ">10", "^10", "*^10", ".2", "-<8.3", "s", "=10", "x"]:
    try:
        print(f"str   {spec:>6} |{format(s, spec)}|")
    except ValueError as e:
        print(f"str   {spec:>6} ValueError: {e}")

width, prec = 12, 3
print(f"{x:{width}.{prec}f}|{x!r:>{width}}|{s!r}|{s!a}|{'é☃'!a}|{x=:.2f}|{n = }|{s.upper()!r:^10}")
print(f"{'nested ' + f'{1 + 1:03d}'} {{literal}} {n:,} {datetime(2024, 2, 29):%d.%m.%Y} {[i for i in range(3)]} {(lambda q: q * 2)(4)}")
print("{0} {1} {0} {name} {name!r:>6} {2[1]} {2[0]:>3} {3.real}".format("a", "b", [1, 2], 5j, name="z"))
print("{:>{w}} {:.{p}f}".format("r", 2.5, w=4, p=3), "{{}}".format(), "{:<5}|{:^5}|{:>5}".format(1, 2, 3))
for bad in ["{} {}", "{0} {}", "{a}", "{", "}", "{0!x}", "{0.nope}", "{0[x]}", "{:Q}"]:
    try:
        print(bad.format(1))
    except Exception as e:
        print(f"{bad!r:>12} {type(e).__name__}: {e}")
print("%5d|%-5d|%05d|%+d|%x|%#o|%e|%.3g|%s|%r|%c|%%|%5.1f" % (42, 42, 42, 42, 255, 8, 12345.678, 0.00012345, s, s, "c", 9.96))
print("%(a)s %(b)05.1f" % {"a": 1, "b": 2.25}, "%*d" % (6, 7))
for bad, arg in [("%d", "x"), ("%s %s", 1), ("%s", (1, 2)), ("%(k)s", {}), ("%y", 1)]:
    try:
        print(bad % arg)
    except Exception as e:
        print(f"{bad!r} {type(e).__name__}: {e}")
t = string.Template("$who owes $$${amount} to ${whom}")
print(t.substitute(who="Ann", amount=5, whom="Bob"), "|", t.safe_substitute(who="X"), t.get_identifiers())
try:
    t.substitute(who=1)
except KeyError as e:
    print("KeyError:", e)
print("left".ljust(8, "."), "right".rjust(8, "."), "mid".center(9, "*"), "-42".zfill(6), "a\tb\tc".expandtabs(4))
print("Hello World".swapcase(), "they're bill's".title(), string.capwords("they're bill's"), "ß".upper(), "İ".lower(), "straße".casefold())
print("a,b,,c".split(","), " a  b ".split(), "a.b.c".rsplit(".", 1), "k=v=w".partition("="), "x\ny\r\nz\x0bw".splitlines())
print("abcabc".translate(str.maketrans("ab", "xy", "c")), "prefix-body".removeprefix("prefix-"), "mississippi".replace("ss", "SS", 1), "banana".count("an"), "banana".rfind("an"))
print(*("%s=%r" % p for p in [("isdigit", "²".isdigit()), ("isdecimal", "²".isdecimal()), ("isnumeric", "½".isnumeric()), ("isidentifier", "9a".isidentifier()), ("isprintable", "\n".isprintable())]))
print("item".encode().hex("-"), bytes.fromhex("f0 9f 90 8d").decode(), ascii("🐍"), repr("it's"), repr('both \' "'), repr("\x00\x7f\x80\u200b"))
