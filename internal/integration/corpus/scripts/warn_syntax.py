# Escape sequences that are not valid, and other things the compiler warns of.
import re

text = "call 555-1234 or 555-9999"
print(re.findall("\d{3}-\d{4}", text))
path = "C:\Work\data"
print(path)
x = 5
if x is 5:
    print("identity of small ints")
assert (x == 5, "a tuple is always true")
value = [1, 2, 3]


def f():
    return "not \callable"


print(f() is not "literal", len(value))
print("done")
