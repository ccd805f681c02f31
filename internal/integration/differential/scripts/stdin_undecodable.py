import sys

print([ascii(line) for line in sys.stdin])
