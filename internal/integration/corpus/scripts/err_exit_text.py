import sys


def fatal(message):
    print("about to stop")
    sys.exit(f"fatal: {message}")


values = [int(x) for x in "3 1 2".split()]
if sorted(values) != values:
    fatal("the values are not sorted – größer")
print("not reached")
