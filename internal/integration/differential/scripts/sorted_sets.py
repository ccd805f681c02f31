import itertools

words = "the quick brown fox jumps over the lazy dog the end".split()
print(sorted(set(words)), sorted(set(words), key=lambda w: (len(w), w)), len(set(words)))
a, b = set(range(0, 20, 2)), set(range(0, 20, 3))
print(sorted(a & b), sorted(a | b), sorted(a - b), sorted(a ^ b), a <= b, {0, 6} <= a, a.isdisjoint({1, 3}))
print(list(range(10)) == sorted({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}), list({0, 1, 2, 3, 4, 5, 6, 7}), list({-1, 5, 100, 1000}))
print(sorted({(1, "b"), (1, "a"), (0, "z")}), max({3, 1}), frozenset([1]) | {2}, sorted(map(sorted, {frozenset(c) for c in itertools.combinations("abc", 2)})))
counts = {}
for w in words:
    counts[w] = counts.get(w, 0) + 1
print(sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])), list(counts))
print(list(dict.fromkeys(words)), list(reversed(counts))[:2], {**counts, "the": 0}["the"])
s = {1, 2, 3}
try:
    for x in s:
        s.add(x + 10)
except RuntimeError as e:
    print(e)
