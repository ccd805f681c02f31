import sys

print([hash(n) for n in (0, 1, -1, -2, 255, 2**30, -(2**30))], hash(1.0) == hash(1), hash(True), hash(2.5) == hash(5 / 2))
print(hash((1, 2)) == hash((1, 2)), hash(frozenset([1, 2])) == hash(frozenset([2, 1])), hash(2**80) == hash(2**80))
print({n % 64 for n in range(0, 640, 7)} == set(range(64)), list({3, 1, 2}), list({10, 5, 0}), {i: i for i in (9, 8, 7)})
print(sorted({"b", "a", "c"}), len({1, 1.0, True}), {1: "a", 1.0: "b"})
