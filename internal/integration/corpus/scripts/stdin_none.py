"""Nothing is given on standard input."""
import fileinput
import sys

print(repr(sys.stdin.read()), list(fileinput.input([])) if False else list(sys.stdin))
try:
    input("prompt: ")
except EOFError as e:
    print("\nEOFError:", e)
print("args:", sys.argv, "name:", __name__, "file:", __file__)
print(input("again: "))
