import sys

# one line of four megabytes without a newline, written in one call and in many
block = "0123456789abcdef" * 4096
sys.stdout.write(block * 32)
for i in range(2_000):
    sys.stdout.write("é" if i % 2 else "☃")
    if i % 500 == 0:
        sys.stdout.flush()
written = sys.stdout.write("z" * 2_000_000)
print(written, "characters", file=sys.stderr)
