import random
from collections import Counter

random.seed(12345)
print(random.random(), random.randint(1, 100), random.uniform(0, 10), random.choice("abcdef"), random.getrandbits(70))
deck = [f"{r}{s}" for s in "CDHS" for r in "23456789TJQKA"]
random.shuffle(deck)
print(deck[:10], random.sample(deck, 5), random.sample(range(10**9), 3))
print(random.choices(["win", "lose", "draw"], weights=[5, 3, 2], k=10), random.randrange(0, 1000, 7), random.randbytes(8).hex())
print([random.randint(1, 6) for _ in range(20)])
rolls = Counter(random.randint(1, 6) + random.randint(1, 6) for _ in range(10_000))
for total in sorted(rolls):
    print(f"{total:>2} {rolls[total]:>5} {'#' * (rolls[total] // 60)}")

state = random.getstate()
a = [random.random() for _ in range(3)]
random.setstate(state)
print(a == [random.random() for _ in range(3)])
for seed in (0, -7, "text", b"bytes", 2**100, 3.5):
    print(seed, f"{random.Random(seed).random():.15f}" if not isinstance(seed, float) else "float seed")
r = random.Random(1)
for name, args in [("gauss", (0, 1)), ("normalvariate", (10, 2)), ("expovariate", (1.5,)), ("betavariate", (2, 3)), ("gammavariate", (2, 1)), ("lognormvariate", (0, 0.5)), ("paretovariate", (3,)), ("triangular", (0, 1, 0.2)), ("vonmisesvariate", (0, 4)), ("weibullvariate", (1, 1.5)), ("binomialvariate", (100, 0.3))]:
    print(f"{name:<16} {[round(getattr(r, name)(*args), 9) for _ in range(3)]}")

inside = sum(r.random() ** 2 + r.random() ** 2 <= 1 for _ in range(50_000))
print("pi is about", 4 * inside / 50_000)


def markov(text, order=1, length=12):
    words = text.split()
    table = {}
    for i in range(len(words) - order):
        table.setdefault(tuple(words[i:i + order]), []).append(words[i + order])
    key = tuple(words[:order])
    out = list(key)
    for _ in range(length):
        nxt = r.choice(table.get(key, words))
        out.append(nxt)
        key = (*key[1:], nxt)
    return " ".join(out)


print(markov("the cat sat on the mat and the dog sat on the cat and the mat was flat"))
walk, pos = [], 0
for _ in range(30):
    pos += r.choice((-1, 1))
    walk.append(pos)
print(walk)
for bad in (lambda: random.sample([1, 2], 3), lambda: random.randint(5, 1), lambda: random.choice([]), lambda: random.sample({1, 2}, 1), lambda: random.choices([1], weights=[0]), lambda: random.seed([])):
    try:
        bad()
    except (ValueError, IndexError, TypeError) as e:
        print(type(e).__name__, e)
fresh = [random.SystemRandom().random() for _ in range(2)]
print(fresh[0] != fresh[1], 0 <= fresh[0] < 1)
