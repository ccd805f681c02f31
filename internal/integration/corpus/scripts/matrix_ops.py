from fractions import Fraction
import math


class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]
        if len({len(r) for r in self.rows}) != 1:
            raise ValueError("ragged matrix")

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        cols = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in cols] for r in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                result = result @ base
            base, n = base @ base, n >> 1
        return result

    def __eq__(self, other):
        return self.rows == other.rows

    def det(self):
        m = [[Fraction(x) for x in r] for r in self.rows]
        d = Fraction(1)
        for i in range(len(m)):
            p = next((r for r in range(i, len(m)) if m[r][i]), None)
            if p is None:
                return Fraction(0)
            if p != i:
                m[i], m[p], d = m[p], m[i], -d
            d *= m[i][i]
            for r in range(i + 1, len(m)):
                f = m[r][i] / m[i][i]
                m[r] = [x - f * y for x, y in zip(m[r], m[i])]
        return d

    def inverse(self):
        n = len(self.rows)
        m = [[Fraction(x) for x in r] + [Fraction(int(i == j)) for j in range(n)] for i, r in enumerate(self.rows)]
        for i in range(n):
            p = next((r for r in range(i, n) if m[r][i]), None)
            if p is None:
                raise ZeroDivisionError("matrix is singular")
            m[i], m[p] = m[p], m[i]
            m[i] = [x / m[i][i] for x in m[i]]
            for r in range(n):
                if r != i and m[r][i]:
                    m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
        return Matrix([r[n:] for r in m])

    def __str__(self):
        cells = [[str(x) for x in r] for r in self.rows]
        w = max(len(c) for r in cells for c in r)
        return "\n".join("[" + " ".join(c.rjust(w) for c in r) + "]" for r in cells)


a = Matrix([[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
print(a, "\ndet =", a.det())
inv = a.inverse()
print(inv)
print("check:", a @ inv == Matrix.identity(3))
print("fib(90) =", (Matrix([[1, 1], [1, 0]]) ** 90).rows[0][1])
print(Matrix([[1, 2, 3], [4, 5, 6]]).T)
for bad in ("Matrix([[1, 2], [3]])", "a @ Matrix([[1, 2]])", "Matrix([[1, 2], [2, 4]]).inverse()"):
    try:
        eval(bad)
    except Exception as e:
        print(type(e).__name__, "-", e)

# power iteration in floats
m = [[4.0, 1.0], [2.0, 3.0]]
v = [1.0, 1.0]
for _ in range(50):
    w = [sum(x * y for x, y in zip(r, v)) for r in m]
    norm = math.hypot(*w)
    v = [x / norm for x in w]
print(f"dominant eigenvalue {norm:.10f}, vector {v[0]:.6f} {v[1]:.6f}")
spiral = lambda m: [*m[0], *spiral([*zip(*m[1:])][::-1])] if m else []
print(spiral([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]))
print("rotated:", [*map(list, zip(*[[1, 2], [3, 4]][::-1]))], "trace:", sum(a.rows[i][i] for i in range(3)))
