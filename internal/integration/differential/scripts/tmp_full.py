import errno, os

# Limits.Tmp is 1 MiB.
try:
    with open("/tmp/big", "wb", buffering=0) as f:
        for _ in range(64):
            f.write(bytes(65536))
except OSError as e:
    print(errno.errorcode[e.errno], os.path.getsize("/tmp/big") <= 1 << 20)
os.remove("/tmp/big")
with open("/tmp/small", "wb") as f:
    print(f.write(bytes(500_000)))
os.rename("/tmp/small", "/tmp/other")
print(os.listdir("/tmp") in (["other"], ["sandbox-work", "other"], ["other", "sandbox-work"]))
