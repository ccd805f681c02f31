"""Transcendental functions at full precision."""
import cmath
import math

points = [0.001, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 7.25, 10.0, 100.0]
for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "gamma", "lgamma", "erf", "erfc"):
    fn = getattr(math, name)
    row = []
    for x in points:
        try:
            row.append(f"{fn(x):.12g}")
        except (ValueError, OverflowError) as e:
            row.append(type(e).__name__[:3])
    print(f"{name:<6}", " ".join(row))
print(math.pow(2, 0.5), 2**0.5, math.atan2(-1, -1), math.log(8, 2), math.log(10**100), math.exp(-745.2), math.pow(0, 0), math.gamma(171))
print(*(f"{z:.6f}" for z in (cmath.sqrt(-1), cmath.exp(1j * math.pi), cmath.log(-1), cmath.sin(1 + 1j), cmath.rect(2, math.pi / 3))))
print(cmath.phase(-1), cmath.isclose(1j**2, -1), cmath.polar(3 + 4j)[0])
for expr in ("math.log(0)", "math.sqrt(-1)", "math.acos(2)", "math.exp(1000)", "math.gamma(0)", "math.pow(-8, 1/3)", "math.fmod(1, 0)", "math.factorial(2.5)", "math.log(-1)", "math.sin(math.inf)", "math.cosh(1000)"):
    try:
        print(expr, eval(expr))
    except (ValueError, OverflowError, TypeError) as e:
        print(f"{expr:<22} {type(e).__name__}: {e}")


def newton(f, df, x, tol=1e-12):
    for i in range(50):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x, i + 1
    raise ArithmeticError("no convergence")


def simpson(f, a, b, n=200):
    h = (b - a) / n
    return h / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * f(a + i * h) for i in range(n + 1))


root, _ = newton(lambda x: math.cos(x) - x, lambda x: -math.sin(x) - 1, 1.0)
print(f"cos x = x at {root:.10f}; integral of exp(-x^2) {simpson(lambda x: math.exp(-x * x), -5, 5):.10f}; sqrt(pi) {math.sqrt(math.pi):.10f}")


def fft(a):
    n = len(a)
    if n == 1:
        return a
    even, odd = fft(a[::2]), fft(a[1::2])
    t = [cmath.exp(-2j * math.pi * k / n) * odd[k] for k in range(n // 2)]
    return [even[k] + t[k] for k in range(n // 2)] + [even[k] - t[k] for k in range(n // 2)]


signal = [math.sin(2 * math.pi * 3 * i / 32) + 0.5 * math.cos(2 * math.pi * 7 * i / 32) for i in range(32)]
print("peaks:", [(k, round(abs(v), 6)) for k, v in enumerate(fft(signal)) if abs(v) > 1 and k < 16])
y, t, h = 1.0, 0.0, 0.1
while t < 2 - 1e-9:
    k1 = -2 * y + math.sin(t)
    k2 = -2 * (y + h / 2 * k1) + math.sin(t + h / 2)
    k3 = -2 * (y + h / 2 * k2) + math.sin(t + h / 2)
    k4 = -2 * (y + h * k3) + math.sin(t + h)
    y, t = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), t + h
print(f"runge-kutta y(2) = {y:.9f}")
