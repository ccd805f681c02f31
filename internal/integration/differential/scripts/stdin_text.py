import sys

print(repr(input("name? ")))
print(repr(input()))
print(repr(sys.stdin.readline()), repr(sys.stdin.read(5)))
for line in sys.stdin:
    print(repr(line))
    if "stop" in line:
        break
print(repr(sys.stdin.read()), repr(sys.stdin.read()))
try:
    input()
except EOFError as e:
    print(type(e).__name__, e)
print(sys.stdin.isatty(), sys.stdin.encoding, sys.stdin.fileno(), sys.stdin.readable(), sys.stdin.writable())
