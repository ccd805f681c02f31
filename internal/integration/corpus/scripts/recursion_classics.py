"""Classic recursive algorithms."""
import sys


def hanoi(n, src="A", via="B", dst="C"):
    if n == 0:
        return []
    return hanoi(n - 1, src, dst, via) + [(n, src, dst)] + hanoi(n - 1, via, src, dst)


def permutations(items):
    if len(items) <= 1:
        return [items]
    return [[x] + rest for i, x in enumerate(items) for rest in permutations(items[:i] + items[i + 1:])]


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def flood(grid, r, c, new):
    old = grid[r][c]
    if old == new:
        return 0

    def fill(r, c):
        if not (0 <= r < len(grid) and 0 <= c < len(grid[0])) or grid[r][c] != old:
            return 0
        grid[r][c] = new
        return 1 + sum(fill(r + dr, c + dc) for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)))

    return fill(r, c)


def flatten(x):
    return [y for item in x for y in flatten(item)] if isinstance(x, list) else [x]


def collatz(n, depth=0):
    return depth if n == 1 else collatz(n // 2 if n % 2 == 0 else 3 * n + 1, depth + 1)


def partitions(n, largest=None):
    largest = largest or n
    if n == 0:
        yield []
        return
    for k in range(min(n, largest), 0, -1):
        for rest in partitions(n - k, k):
            yield [k] + rest


def gray(n):
    if n == 0:
        return [""]
    prev = gray(n - 1)
    return ["0" + p for p in prev] + ["1" + p for p in reversed(prev)]


moves = hanoi(4)
print(f"Hanoi 4: {len(moves)} moves, first {moves[:3]}, last {moves[-1]}")
print("Permutations:", ["".join(p) for p in permutations(list("abc"))])
print("Ackermann:", [[ackermann(m, n) for n in range(4)] for m in range(4)])
grid = [list(row) for row in ["..#..", "..#..", "###..", "....."]]
print("Flood filled:", flood(grid, 0, 0, "o"), flood(grid, 3, 4, "x"))
print("\n".join("".join(r) for r in grid))
print("Flatten:", flatten([1, [2, [3, [4, []]]], [[5]]]))
print("Collatz 27:", collatz(27), "deep:", collatz(837799) if sys.getrecursionlimit() > 600 else "-")
print("Partitions of 5:", list(partitions(5)))
print("Gray 3:", gray(3))


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print("Depth 900:", depth(900))
sys.setrecursionlimit(20_000)
print("Depth 15000:", depth(15_000))
