"""Conway's Game of Life on a set of live cells, and elementary automata."""
from collections import Counter

GLIDER = {(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)}
R_PENTOMINO = {(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)}


def step(cells):
    neighbours = Counter((r + dr, c + dc) for r, c in cells for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc)
    return {cell for cell, n in neighbours.items() if n == 3 or (n == 2 and cell in cells)}


def render(cells, size):
    return "\n".join("".join("#" if (r, c) in cells else "." for c in range(size)) for r in range(size))


def signature(cells):
    r0, c0 = min(r for r, _ in cells), min(c for _, c in cells)
    return sorted((r - r0, c - c0) for r, c in cells)


cells = GLIDER
for gen in range(5):
    print(f"generation {gen}, population {len(cells)}")
    print(render(cells, 6))
    print()
    cells = step(cells)

g4 = GLIDER
for _ in range(4):
    g4 = step(g4)
print("glider repeats after 4:", signature(g4) == signature(GLIDER), "moved by", min(g4)[0] - min(GLIDER)[0])

cells = R_PENTOMINO
history = []
for gen in range(200):
    history.append(len(cells))
    cells = step(cells)
print("r-pentomino:", history[:12], "... at 200:", len(cells))
print("peak so far:", max(history), "at", history.index(max(history)))


def rule(number, width=31, steps=12):
    row = [0] * width
    row[width // 2] = 1
    for _ in range(steps):
        yield "".join(" *"[x] for x in row).rstrip()
        row = [number >> (4 * row[i - 1] + 2 * row[i] + row[(i + 1) % width]) & 1 for i in range(width)]


for n in (90, 30):
    print("rule", n)
    print("\n".join(rule(n)))


def ant(steps):
    black, pos, d = set(), (0, 0), 0
    for _ in range(steps):
        d = (d + (1 if pos not in black else -1)) % 4
        black ^= {pos}
        pos = (pos[0] + (-1, 0, 1, 0)[d], pos[1] + (0, 1, 0, -1)[d])
    return len(black), pos


print("langton's ant:", ant(11_000))
