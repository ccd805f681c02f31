"""Read standard input in several ways, text and binary."""
import sys

first = sys.stdin.readline()
print(repr(first))
chars = sys.stdin.read(7)
print(repr(chars))
rest_of_line = sys.stdin.readline()
print(ascii(rest_of_line))
for n, line in enumerate(sys.stdin, start=1):
    print(n, ascii(line))
    if n == 2:
        break
tail = sys.stdin.buffer.read()
print("buffer:", tail)
print("at the end:", repr(sys.stdin.read()), repr(sys.stdin.readline()), list(sys.stdin), sys.stdin.buffer.read(5))
print(sys.stdin.encoding, sys.stdin.errors, sys.stdin.fileno(), sys.stdin.readable(), sys.stdin.writable(), sys.stdin.closed, sys.stdin.name)
try:
    sys.stdin.write("x")
except OSError as e:
    print(type(e).__name__, e)
try:
    sys.stdout.read()
except OSError as e:
    print(type(e).__name__, e)
print(sys.stdout.name, sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.isatty(), sys.stdout.mode, sys.stdin.mode)
