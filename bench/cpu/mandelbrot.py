def work():
    inside = 0
    for y in range(80):
        for x in range(80):
            z, c = 0j, complex(x / 40 - 1.5, y / 40 - 1)
            for _ in range(300):
                z = z * z + c
                if abs(z) > 2:
                    break
            else:
                inside += 1
    return inside


if __name__ == "__main__":
    from time import perf_counter

    best = float("inf")
    for _ in range(3):
        begin = perf_counter()
        work()
        best = min(best, perf_counter() - begin)
    print(best)
