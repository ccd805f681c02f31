"""Floats: repr, rounding, special values, exactness."""
import math
import sys

for x in (0.1, 1 / 3, 2 / 3, 1e16, 1e15, 123456789012345680.0, 1e22, 1e23, 5e-324, 1.7976931348623157e308, -0.0, 100.0, 1e-5, 0.0001, 3.0e-10, 9007199254740993.0):
    print(f"{x!r:<24} {x:.3f} {x:g} {x:e} {x:.17g} {x.hex()}" if abs(x) < 1e20 else f"{x!r:<24} {x:.3g} {x.hex()}")
print(0.1 + 0.2, 0.1 + 0.2 == 0.3, math.isclose(0.1 + 0.2, 0.3), sum([0.1] * 10), math.fsum([0.1] * 10), 1e16 + 1 - 1e16, sum([1e16, 1, -1e16]))
print([round(x, 0) for x in (0.5, 1.5, 2.5, -0.5)], round(2.675, 2), round(1.005, 2), round(1234.5678, -2), round(0.5), round(1e300), round(-2.5))
print(float("inf"), -float("inf"), float("nan"), float("inf") - float("inf"), float("nan") == float("nan"), math.inf > 10**400, min(float("nan"), 1), max(1, float("nan")))
print((0.1).as_integer_ratio(), (2.5).is_integer(), (4.0).is_integer(), float.fromhex("0x1.fp3"), 7.0 // 2, -7.5 // 2, -7.5 % 2, math.fmod(-7.5, 2), divmod(7.5, 2))
print(math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), math.modf(-2.75), math.frexp(10.0), math.ldexp(0.625, 4), math.copysign(1, -0.0), math.nextafter(1, 2), math.ulp(1.0), math.remainder(7, 4))
print(sys.float_info.max, sys.float_info.epsilon, sys.float_info.dig, sys.float_info.mant_dig)
print(int(1e15), int(-3.99), int(2**53 + 0.0), float(2**53 + 1), 2**53 + 1.0 == 2**53)
print(3.7 // 0.1, 3.7 % 0.1, 1e308 * 10, -1e308 * 10, 5e-324 / 2, 2**-1074, 1e-320)
print(complex(1, -2), (1 + 2j) * (3 - 1j), abs(3 + 4j), (1j) ** 2, complex("1e3-2.5j"), (2 + 0j).real, -1 * 0j, (1 + 1j).conjugate(), complex(0.0, -0.0))
for spec in (".2f", "8.3f", "+.1e", ",.2f", ".0%", "010.3f", ".5g", "^12.2f", "", ".1f"):
    print(f"{spec:>6}: " + " | ".join(format(v, spec) for v in (1234.5678, -0.0049, 99999.995, 1e10)))
prices = [19.99, 5.49, 3.5, 100]
print(sum(prices), f"{sum(prices):.2f}", sum(prices) * 1.07, round(sum(prices) * 1.07, 2), sum(p * 100 for p in prices) / 100)
print([float(s) for s in ("1e3", " 2.5 ", "-.5", "5.", "1_000.5", "Infinity", "-nan")])
for s in ("1,5", "", "1e", "0x10", "1.2.3", "--1"):
    try:
        float(s)
    except ValueError as e:
        print("ValueError:", e)
x = 0.0
while x < 1.0:
    x += 0.1
print(x, [i / 10 for i in range(4)], [0.1 * i for i in range(4)])
print(math.prod([0.5] * 5), math.dist((1, 2), (4, 6)), math.hypot(1, 2, 2), math.sumprod([1, 2], [3, 4]), math.degrees(math.pi), math.cbrt(27), math.sqrt(2), math.pi, math.e, math.tau)
