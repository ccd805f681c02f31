from itertools import *
import operator
from collections import deque

print("accumulate", list(accumulate([3, 1, 4, 1, 5], max)), list(accumulate("abc")), list(accumulate([1, 2, 3], initial=100)))
print("batched", list(batched("ABCDEFG", 3)))
print("chain", list(chain("ab", [1, 2])), list(chain.from_iterable([[1], [2, 3]])))
print("combinations", ["".join(c) for c in combinations("ABCD", 2)])
print("with replacement", ["".join(c) for c in combinations_with_replacement("AB", 3)])
print("permutations", len(list(permutations(range(5)))), list(permutations("abc", 2))[:4])
print("product", list(product("ab", repeat=2)), len(list(product(range(3), range(4)))))
print("compress", list(compress("ABCDEF", [1, 0, 1, 0, 1, 1])))
print("count", list(islice(count(2.5, 0.5), 4)), list(islice(count(10, -3), 3)))
print("cycle", "".join(islice(cycle("xyz"), 7)))
print("dropwhile", list(dropwhile(lambda x: x < 5, [1, 4, 6, 3, 8])), list(takewhile(lambda x: x < 5, [1, 4, 6, 3, 8])))
print("filterfalse", list(filterfalse(lambda x: x % 2, range(8))))
print("groupby", [(k, list(g)) for k, g in groupby("AAAABBBCCDAABBB")])
print("islice", list(islice(range(20), 2, 15, 4)))
print("pairwise", list(pairwise([1, 4, 9, 16])), [b - a for a, b in pairwise([1, 4, 9, 16])])
print("repeat", list(repeat("z", 3)), list(map(pow, range(5), repeat(2))))
print("starmap", list(starmap(operator.sub, [(5, 2), (3, 9)])))
print("zip_longest", list(zip_longest("ab", "xyz", fillvalue="-")))
a, b = tee(iter("tee"))
print("tee", list(a), "".join(b))


def sliding(iterable, n):
    window = deque(maxlen=n)
    for x in iterable:
        window.append(x)
        if len(window) == n:
            yield tuple(window)


def run_length(s):
    return "".join(f"{sum(1 for _ in g)}{k}" for k, g in groupby(s))


def powerset(s):
    return chain.from_iterable(combinations(s, r) for r in range(len(s) + 1))


def round_robin(*its):
    nexts = cycle(iter(i).__next__ for i in its)
    alive = len(its)
    while alive:
        try:
            for nxt in nexts:
                yield nxt()
        except StopIteration:
            alive -= 1
            nexts = cycle(islice(nexts, alive))


print("sliding", list(sliding(range(5), 3)))
print("look and say:", end=" ")
term = "1"
for _ in range(8):
    print(term, end=" ")
    term = run_length(term)
print()
print("powerset", [set(x) if len(x) < 2 else sorted(x) for x in powerset([1, 2, 3])])
print("round robin", "".join(round_robin("ABC", "D", "EF")))
data = sorted([("fruit", "fig"), ("veg", "leek"), ("fruit", "apple"), ("veg", "kale")], key=operator.itemgetter(0))
for kind, group in groupby(data, key=operator.itemgetter(0)):
    print(f"  {kind}: {', '.join(sorted(name for _, name in group))}")
solutions = [p for p in permutations(range(1, 10), 3) if p[0] ** 2 + p[1] ** 2 == p[2] ** 2]
print("pythagorean:", solutions)
try:
    list(islice([1], -1))
except ValueError as e:
    print("ValueError:", e)
try:
    list(zip([1, 2], [1], strict=True))
except ValueError as e:
    print("ValueError:", e)
print(repr(count(3)), repr(repeat(7, 2)))
