"""os._exit skips buffers, finally blocks and atexit."""
import atexit
import os
import sys

atexit.register(print, "never printed")
f = open("lost.txt", "w")
f.write("this stays in the buffer")
print("flushed before the end")
sys.stdout.flush()
try:
    os._exit(5)
finally:
    print("never printed either")
