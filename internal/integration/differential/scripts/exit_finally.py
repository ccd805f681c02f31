import sys

try:
    try:
        sys.exit(5)
    finally:
        print("cleaned up")
except SystemExit as e:
    print("caught", e.code)
try:
    exit
except NameError:
    print("no exit")
for code in (None, True, 3.5, (1, 2), "", [7]):
    try:
        sys.exit(code)
    except SystemExit as e:
        print(repr(e.code), e.args)


class Stop(SystemExit):
    pass


def work():
    try:
        raise Stop(17)
    finally:
        print("unwound")


work()
