import json

DATA = [{"id": i, "list": [1, 2.5, None, "xyz" * 3], "inner": {"name": str(i)}} for i in range(2000)]


def work():
    for _ in range(20):
        again = json.loads(json.dumps(DATA))
    return len(again)


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
