import errno, os

# Limits.FileSize is 100,000.
try:
    with open("big", "wb", buffering=0) as f:
        for _ in range(10):
            f.write(bytes(30_000))
    print("no limit")
except OSError as e:
    print(type(e).__name__, errno.errorcode[e.errno])
print(os.path.getsize("big"))
