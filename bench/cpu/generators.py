def work():
    return sum(x * x for x in (y for y in range(1_000_000)) if x % 3)


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
