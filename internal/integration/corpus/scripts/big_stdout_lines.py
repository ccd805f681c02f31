"""About five megabytes of lines, then a summary on stderr."""
import sys
import zlib

total = 0
crc = 0
for i in range(90_000):
    line = f"{i:06d} {i * i % 1_000_003:>8} {'x' * (i % 71)} {i / 7:.6f}"
    print(line)
    total += len(line) + 1
    crc = zlib.crc32(line.encode(), crc)
print(f"lines done, {total} bytes, crc {crc:08x}", file=sys.stderr)
