def work():
    place, speed = [0.0, 1.0, 2.0], [0.1, 0.2, 0.3]
    for _ in range(100_000):
        for i in range(3):
            for j in range(i):
                d = place[i] - place[j]
                f = 1.0 / (d * d + 0.01)
                speed[i] -= d * f * 0.001
                speed[j] += d * f * 0.001
        for i in range(3):
            place[i] += speed[i] * 0.001
    return place


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
