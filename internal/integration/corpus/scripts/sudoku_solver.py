"""Solve Sudoku puzzles with constraint propagation and depth-first search."""
PUZZLES = {
    "easy": "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "hard": "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..",
    "broken": "55..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
}

DIGITS = "123456789"
CELLS = [(r, c) for r in range(9) for c in range(9)]
UNITS = (
    [[(r, c) for c in range(9)] for r in range(9)]
    + [[(r, c) for r in range(9)] for c in range(9)]
    + [[(br + r, bc + c) for r in range(3) for c in range(3)] for br in (0, 3, 6) for bc in (0, 3, 6)]
)
PEERS = {cell: {x for u in UNITS if cell in u for x in u} - {cell} for cell in CELLS}
CELL_UNITS = {cell: [u for u in UNITS if cell in u] for cell in CELLS}
guesses = 0


def assign(values, cell, d):
    return values if all(eliminate(values, cell, x) for x in values[cell] if x != d) else None


def eliminate(values, cell, d):
    if d not in values[cell]:
        return True
    values[cell] = values[cell].replace(d, "")
    if not values[cell]:
        return False
    if len(values[cell]) == 1:
        only = values[cell]
        if not all(eliminate(values, p, only) for p in PEERS[cell]):
            return False
    for unit in CELL_UNITS[cell]:
        places = [x for x in unit if d in values[x]]
        if not places:
            return False
        if len(places) == 1 and not assign(values, places[0], d):
            return False
    return True


def parse(text):
    values = {cell: DIGITS for cell in CELLS}
    for cell, ch in zip(CELLS, text):
        if ch in DIGITS and not assign(values, cell, ch):
            return None
    return values


def search(values):
    global guesses
    if values is None:
        return None
    unsolved = [(len(v), cell) for cell, v in values.items() if len(v) > 1]
    if not unsolved:
        return values
    _, cell = min(unsolved)
    for d in values[cell]:
        guesses += 1
        if result := search(assign(values.copy(), cell, d)):
            return result
    return None


def show(values):
    for r in range(9):
        row = [values[r, c] for c in range(9)]
        print(" | ".join(" ".join(row[i : i + 3]) for i in (0, 3, 6)))
        if r in (2, 5):
            print("------+-------+------")


for name, puzzle in PUZZLES.items():
    guesses = 0
    print(f"== {name}: {sum(ch != '.' for ch in puzzle)} givens")
    solution = search(parse(puzzle))
    if solution is None:
        print("no solution")
        continue
    show(solution)
    assert all({solution[c] for c in u} == set(DIGITS) for u in UNITS)
    print("guesses needed:", guesses > 0)
