"""Dynamic programming: several standard problems with reconstruction."""
from functools import lru_cache


def knapsack(items, capacity):
    best = [[0] * (capacity + 1) for _ in range(len(items) + 1)]
    for i, (_, weight, value) in enumerate(items, 1):
        for c in range(capacity + 1):
            best[i][c] = best[i - 1][c]
            if weight <= c:
                best[i][c] = max(best[i][c], best[i - 1][c - weight] + value)
    chosen, c = [], capacity
    for i in range(len(items), 0, -1):
        if best[i][c] != best[i - 1][c]:
            chosen.append(items[i - 1][0])
            c -= items[i - 1][1]
    return best[-1][capacity], chosen[::-1]


def lcs(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    i, j, out = len(a), len(b), []
    while i and j:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(out))


def edit_distance(a, b):
    @lru_cache(None)
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1]))
    return d(len(a), len(b))


def coin_change(coins, amount):
    ways = [1] + [0] * amount
    fewest = [0] + [None] * amount
    for c in coins:
        for x in range(c, amount + 1):
            ways[x] += ways[x - c]
    for x in range(1, amount + 1):
        options = [fewest[x - c] for c in coins if c <= x and fewest[x - c] is not None]
        fewest[x] = min(options) + 1 if options else None
    return ways[amount], fewest[amount]


def lis(seq):
    best = [(1, -1)] * len(seq)
    for i in range(len(seq)):
        for j in range(i):
            if seq[j] < seq[i] and best[j][0] + 1 > best[i][0]:
                best[i] = (best[j][0] + 1, j)
    i = max(range(len(seq)), key=lambda k: best[k][0])
    out = []
    while i != -1:
        out.append(seq[i])
        i = best[i][1]
    return out[::-1]


def matrix_chain(dims):
    n = len(dims) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j], split[i][j] = min((cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1], k) for k in range(i, j))

    def show(i, j):
        return chr(65 + i) if i == j else f"({show(i, split[i][j])}{show(split[i][j] + 1, j)})"

    return cost[0][n - 1], show(0, n - 1)


print("knapsack:", knapsack([("map", 9, 150), ("compass", 13, 35), ("water", 153, 200), ("sandwich", 50, 160), ("glucose", 15, 60), ("tin", 68, 45)], 180))
print("lcs:", lcs("the quick brown fox", "a quack brawn ox"))
for pair in [("kitten", "sitting"), ("", "abc"), ("intention", "execution"), ("same", "same")]:
    print("edit", pair, edit_distance(*pair))
print("coins:", coin_change([1, 5, 10, 25, 50], 100), coin_change([5, 7], 13), coin_change([3], 4))
print("lis:", lis([10, 9, 2, 5, 3, 7, 101, 18, 4, 20, 21]))
print("chain:", matrix_chain([30, 35, 15, 5, 10, 20, 25]))
print("max subarray:", max((sum(s[i:j]), i, j) for s in [[-2, 1, -3, 4, -1, 2, 1, -5, 4]] for i in range(9) for j in range(i + 1, 10)))
