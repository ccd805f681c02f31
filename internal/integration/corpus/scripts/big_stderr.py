import sys

for i in range(20_000):
    print("error line", i, "e" * 20, file=sys.stderr)
    if i % 1000 == 0:
        print("progress", i)
sys.exit(2)
