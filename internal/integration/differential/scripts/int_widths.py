import array, struct, sys

print(sys.maxsize, sys.hash_info.width, hash(2**61), hash(0.5))
print(struct.calcsize("P"), struct.calcsize("l"), array.array("l").itemsize, tuple(map(hash, ("",))))
try:
    print(len(range(2**40)))
except OverflowError as e:
    print(type(e).__name__)
