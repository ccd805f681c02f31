try:
    x = bytearray(2**62)
except (MemoryError, OverflowError) as e:
    print("refused")
try:
    x = [0] * (2**40)
except (MemoryError, OverflowError) as e:
    print("refused")


def down(n):
    return down(n + 1)


try:
    down(0)
except RecursionError as e:
    print(type(e).__name__)
print(sum(range(1000)))
