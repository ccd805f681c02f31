import sys


def solve(n, row=0, cols=0, d1=0, d2=0):
    """Count solutions with bit masks."""
    if row == n:
        return 1
    count = 0
    free = ~(cols | d1 | d2) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += solve(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1)
    return count


def placements(n):
    def place(board):
        r = len(board)
        if r == n:
            yield tuple(board)
            return
        for c in range(n):
            if all(c != bc and abs(c - bc) != r - br for br, bc in enumerate(board)):
                yield from place(board + [c])
    yield from place([])


def unique(n):
    def variants(b):
        for _ in range(4):
            b = tuple(n - 1 - b.index(i) for i in range(n))
            yield b
            yield tuple(reversed(b))
    seen, out = set(), []
    for b in placements(n):
        if b not in seen:
            out.append(b)
            seen.update(variants(b))
    return out


def draw(board):
    n = len(board)
    for c in board:
        sys.stdout.write(" ".join("♛" if i == c else "·" for i in range(n)) + "\n")


for n in range(1, 10):
    print(f"n={n}: {solve(n):>4} solutions")
print("first for 6:")
draw(next(placements(6)))
print("fundamental solutions for 6 and 7:", len(unique(6)), len(unique(7)))


def knights_tour(n, start=(0, 0)):
    board = [[-1] * n for _ in range(n)]
    moves = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]

    def options(r, c):
        return [(r + a, c + b) for a, b in moves if 0 <= r + a < n and 0 <= c + b < n and board[r + a][c + b] < 0]

    r, c = start
    for step in range(n * n):
        board[r][c] = step
        nxt = options(r, c)
        if not nxt:
            return board if step == n * n - 1 else None
        r, c = min(nxt, key=lambda p: (len(options(*p)), p))


tour = knights_tour(6)
print("knight's tour found:", tour is not None)
if tour:
    print("\n".join(" ".join(f"{x:2}" for x in row) for row in tour))
