def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def work():
    return fib(29)


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
