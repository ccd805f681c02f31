"""Binary output: every byte value, in chunks of odd sizes, on both streams."""
import hashlib
import sys

data = bytes(range(256)) * 4000
digest = hashlib.sha256()
out = sys.stdout.buffer
pos, size = 0, 1
while pos < len(data):
    chunk = data[pos:pos + size]
    out.write(chunk)
    digest.update(chunk)
    pos += size
    size = size * 3 % 65_521 + 1
out.flush()
sys.stderr.buffer.write(b"\x00\xff\r\n" * 1000)
sys.stderr.flush()
print("\n" + digest.hexdigest())
