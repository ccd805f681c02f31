import errno, os

# Limits.Disk is 1 MiB.
with open("kept", "wb") as f:
    f.write(bytes(100_000))
try:
    with open("big", "wb", buffering=0) as f:
        for _ in range(64):
            f.write(bytes(65536))
    print("no limit")
except OSError as e:
    print(type(e).__name__, errno.errorcode[e.errno], e.strerror)
print(os.path.getsize("big") <= 1 << 20, os.path.getsize("kept"))
os.remove("big")
with open("again", "wb") as f:
    f.write(bytes(500_000))
print(os.path.getsize("again"))
os.remove("again")
try:
    with open("buffered", "w") as f:
        f.write("x" * 2_000_000)
except OSError as e:
    print(errno.errorcode[e.errno])
os.remove("buffered")
print(sorted(os.listdir(".")))
