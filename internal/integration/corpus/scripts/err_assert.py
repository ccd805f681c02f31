"""assert with and without messages."""


def mean(xs):
    assert xs, "mean of an empty list"
    return sum(xs) / len(xs)


def check(label, fn):
    try:
        fn()
        print(label, "passed")
    except AssertionError as e:
        print(label, "failed:", repr(e), str(e) or "(no message)")


check("mean", lambda: mean([1, 2, 3]))
check("empty", lambda: mean([]))


def bare():
    x = 3
    assert x % 2 == 0


check("bare", bare)


def structured():
    assert False, {"expected": 1, "got": [2, 3]}


check("structured", structured)
print(__debug__)
matrix = [[1, 2], [3, 4]]
assert all(len(row) == len(matrix) for row in matrix) and sum(
    x for row in matrix for x in row
) == 11, f"sum is {sum(map(sum, matrix))}"
print("not reached")
