"""Wrapping paragraphs and comparing texts."""
import difflib
import pprint
import reprlib
import shlex
import textwrap

PARAGRAPH = """
    Python is a programming language that lets you work quickly
    and integrate systems more effectively.   It is dynamically-typed and
    garbage-collected; it supports multiple paradigms, among them structured,
    object-oriented and functional programming: see https://www.example.test/a-very-long-link/that/does/not/break.
"""
text = " ".join(textwrap.dedent(PARAGRAPH).split())
print(textwrap.fill(text, 50))
print(textwrap.fill(text, 36, initial_indent="* ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
print(textwrap.shorten(text, 60), textwrap.shorten("short", 10), textwrap.shorten(text, 12, placeholder="…"), sep="\n")
print(textwrap.indent("a\n\n  b\n", "> "), textwrap.wrap("", 10), textwrap.wrap("wordlongerthanwidth ok", 8, max_lines=2))
print(repr(textwrap.dedent("\t  x\n\t    y\n\n\t  z")))

old = """def area(r):
    pi = 3.14
    return pi * r * r

print(area(2))
""".splitlines(keepends=True)
new = """import math

def area(r):
    return math.pi * r ** 2

print(area(2))
print("done")
""".splitlines(keepends=True)
print("".join(difflib.unified_diff(old, new, "a/area.py", "b/area.py", n=1)))
print("".join(difflib.context_diff(old, new, "old", "new", n=0)))
print("".join(difflib.ndiff(old[:3], new[2:4])))
sm = difflib.SequenceMatcher(None, "private Thread currentThread;", "private volatile Thread currentThread;")
print(round(sm.ratio(), 4), sm.get_opcodes(), sm.find_longest_match())
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]), difflib.get_close_matches("zzz", ["a"]))
print(difflib.SequenceMatcher(a=[1, 2, 3, 4], b=[2, 3, 5]).get_matching_blocks())

data = {"name": "something rather long to force wrapping", "values": list(range(30)), "nested": {"a": {"b": {"c": [1, (2, 3), {"d": None}]}}}, "empty": [], "text": "lorem ipsum " * 10}
pprint.pprint(data, width=60)
pprint.pprint(data, depth=2, compact=True, sort_dicts=False)
print(pprint.pformat([["x" * 20] * 3], width=30), pprint.isreadable(data))
print(reprlib.repr(list(range(100))), reprlib.repr("x" * 100), reprlib.repr({i: i for i in range(10)}))
print(shlex.split('cp "my file" --opt=\'a b\' back\\ slash # comment', comments=True), shlex.quote("it's"), shlex.join(["a b", "c"]))
try:
    shlex.split("unclosed 'quote")
except ValueError as e:
    print("ValueError:", e)
