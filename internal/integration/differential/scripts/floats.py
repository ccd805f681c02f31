import decimal, math, struct

values = [0.1, 1 / 3, 1e16, 1e22, 123456789.123456789, 5e-324, 1.7976931348623157e308, -0.0, 2.5, 1e-7, 100.0]
for v in values:
    print(repr(v), f"{v:.3f}", f"{v:g}", f"{v:e}", f"{v:10.2f}|", v.hex(), v.is_integer(), round(v, 2) if abs(v) < 1e20 else "", struct.pack("<d", v).hex())
print(round(0.5), round(1.5), round(2.5), round(2.675, 2), round(1234, -2), 0.1 + 0.2, sum([0.1] * 10) > 0.99, math.fsum([0.1] * 10))
print(float("inf"), float("-nan") != float("nan"), float("1_000.5"), float("0x1p-2") if False else float.fromhex("0x1p-2"), int(1e18), 7 // -2, -7 % 3, math.fmod(-7, 3), divmod(-7.5, 2))
print(math.sqrt(2), math.hypot(3, 4), math.floor(-1.5), math.ceil(-1.5), math.trunc(-1.5), math.gcd(12, 18), math.comb(50, 25), math.factorial(20), math.isclose(1, 1 + 1e-10), math.copysign(1, -0.0), math.frexp(10.0), math.ldexp(0.5, 3), math.nextafter(1, 2), math.ulp(1.0))
print(2**0.5, 10**-3, 1e308 * 10, (-8) ** (1 / 3), 2**1000 % 97, pow(3, -1, 7), 1e23, 9007199254740993, float(9007199254740993))
print(decimal.Decimal("1.10") + 1, decimal.Decimal(0.1), complex(1, -0.0), abs(3 + 4j), (1 + 2j) ** 2)
for bad in (lambda: 1 / 0.0, lambda: math.sqrt(-1), lambda: math.exp(1000), lambda: float("x"), lambda: int(float("inf")), lambda: 10.0**400):
    try:
        bad()
    except (ArithmeticError, ValueError) as e:
        print(type(e).__name__)
