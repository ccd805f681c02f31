import hashlib, sys

data = sys.stdin.buffer.read(7)
print(data, sys.stdin.buffer.read1(1) in (b"", b"\x00"), len(sys.stdin.buffer.readline()))
rest = sys.stdin.buffer.read()
print(len(rest), hashlib.sha256(rest).hexdigest())
