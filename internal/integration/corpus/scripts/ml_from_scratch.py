"""k-means, logistic regression, nearest neighbours and a decision stump in plain Python."""
import math
import random

rng = random.Random(7)


def blob(cx, cy, n, spread=0.6):
    return [(cx + rng.uniform(-spread, spread), cy + rng.uniform(-spread, spread)) for _ in range(n)]


def kmeans(points, k, rounds=20):
    centers = points[:: len(points) // k][:k]
    for step in range(rounds):
        groups = [[] for _ in centers]
        for p in points:
            groups[min(range(k), key=lambda i: math.dist(p, centers[i]))].append(p)
        new = [tuple(sum(c) / len(g) for c in zip(*g)) if g else centers[i] for i, g in enumerate(groups)]
        if new == centers:
            return centers, groups, step
        centers = new
    return centers, groups, rounds


points = blob(0, 0, 30) + blob(5, 5, 25) + blob(0, 6, 20)
centers, groups, steps = kmeans(points, 3)
for c, g in sorted(zip(centers, groups)):
    print(f"center ({c[0]:6.3f}, {c[1]:6.3f}) size {len(g)}")
print("converged:", steps < 20)

data = [((x, y), 1 if x + y > 4 else 0) for x, y in points]
w, b, lr = [0.0, 0.0], 0.0, 0.1
for epoch in range(60):
    loss = 0.0
    for (x, y), t in data:
        p = 1 / (1 + math.exp(-(w[0] * x + w[1] * y + b)))
        loss -= t * math.log(p + 1e-12) + (1 - t) * math.log(1 - p + 1e-12)
        err = p - t
        w[0] -= lr * err * x
        w[1] -= lr * err * y
        b -= lr * err
    if epoch % 20 == 0:
        print(f"epoch {epoch:>2} loss {loss / len(data):.4f}")
correct = sum((1 / (1 + math.exp(-(w[0] * x + w[1] * y + b))) > 0.5) == bool(t) for (x, y), t in data)
print(f"w = [{w[0]:.3f}, {w[1]:.3f}] b = {b:.3f} accuracy {correct / len(data):.2%}")


def knn(train, q, k=5):
    near = sorted(train, key=lambda item: math.dist(item[0], q))[:k]
    votes = [t for _, t in near]
    return max(set(votes), key=votes.count)


print("knn:", [knn(data, q) for q in ((0, 0), (5, 5), (1, 2.9), (0.2, 6))])


def entropy(labels):
    total = len(labels)
    return -sum(n / total * math.log2(n / total) for n in (labels.count(v) for v in set(labels))) if total else 0


best = max(
    ((axis, cut, entropy([t for _, t in data]) - sum(len(s) / len(data) * entropy(s) for s in ([t for p, t in data if p[axis] <= cut], [t for p, t in data if p[axis] > cut]))) for axis in (0, 1) for cut in (1, 2, 3, 4)),
    key=lambda item: (item[2], -item[0], -item[1]),
)
print(f"stump: axis {best[0]} cut {best[1]} gain {best[2]:.4f}")


class Perceptron:
    def __init__(self):
        self.w = [0, 0, 0]

    def __call__(self, a, b):
        return int(self.w[0] * a + self.w[1] * b + self.w[2] > 0)

    def train(self, table):
        for _ in range(20):
            for (a, b), t in table.items():
                e = t - self(a, b)
                self.w = [wi + e * xi for wi, xi in zip(self.w, (a, b, 1))]
        return self


for name, fn in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
    table = {(a, b): fn(a, b) for a in (0, 1) for b in (0, 1)}
    p = Perceptron().train(table)
    print(name, p.w, "learned" if all(p(*k) == v for k, v in table.items()) else "not separable")
