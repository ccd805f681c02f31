import sys

try:
    raise KeyboardInterrupt("caught once")
except KeyboardInterrupt as e:
    print("caught", repr(e))


def loop():
    for i in range(3):
        print("working", i)
        if i == 2:
            raise KeyboardInterrupt


try:
    loop()
finally:
    print("clean-up", flush=True)
