NUMBERS = [(n * 0.6180339887) % 1 for n in range(200_000)]


def work():
    ordered = sorted(NUMBERS)
    return ordered[0] + sorted(NUMBERS, key=lambda v: -v)[0]


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
