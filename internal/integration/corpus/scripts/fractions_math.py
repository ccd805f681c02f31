from fractions import Fraction
import math


def egyptian(fr):
    """Greedy decomposition into distinct unit fractions."""
    parts = []
    while fr:
        unit = Fraction(1, math.ceil(1 / fr))
        parts.append(unit)
        fr -= unit
    return parts


def continued(fr):
    terms = []
    while True:
        whole = fr.numerator // fr.denominator
        terms.append(whole)
        fr -= whole
        if not fr:
            return terms
        fr = 1 / fr


def bernoulli(n):
    b = [Fraction(0)] * (n + 1)
    for m in range(n + 1):
        b[m] = Fraction(1, m + 1)
        for j in range(m, 0, -1):
            b[j - 1] = j * (b[j - 1] - b[j])
    return b[0]


print(Fraction(3, 4) + Fraction("1/6"), Fraction("0.125"), Fraction(0.1), Fraction(-6, 8))
print("4/13 =", " + ".join(map(str, egyptian(Fraction(4, 13)))))
print("5/121 =", " + ".join(map(str, egyptian(Fraction(5, 121)))))
print("649/200 =", continued(Fraction(649, 200)))
print("pi ~", [str(Fraction(math.pi).limit_denominator(10**k)) for k in range(1, 6)])

print("Bernoulli numbers")
for n in list(range(0, 21, 2)):
    value = bernoulli(n)
    print(f"  B({n:2}) = {value.numerator:>10} / {value.denominator}")

h = sum(Fraction(1, k) for k in range(1, 31))
print("H(30) =", h, "~", float(h))

m = [[Fraction(x) for x in row] for row in [[2, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]]]
for i in range(3):
    pivot = m[i][i]
    m[i] = [x / pivot for x in m[i]]
    for r in range(3):
        if r != i:
            f = m[r][i]
            m[r] = [x - f * y for x, y in zip(m[r], m[i])]
print("solution:", [str(row[3]) for row in m])

print(Fraction(7, 3).__floor__(), round(Fraction(7, 3), 2), divmod(Fraction(7, 2), Fraction(2, 3)), Fraction(9, 4) ** Fraction(1, 2))
print(f"{Fraction(22, 7):.5f} {Fraction(1, 3):e} {Fraction(12345678, 10):,.1f} {Fraction(-1, 8):+.1%}")
print(math.gcd(1071, 462), math.lcm(4, 6, 10), math.isqrt(10**20 + 1), math.comb(50, 25), math.perm(10, 3))
try:
    Fraction(1, 0)
except ZeroDivisionError as e:
    print("ZeroDivisionError:", e)
try:
    Fraction("1/x")
except ValueError as e:
    print("ValueError:", e)
