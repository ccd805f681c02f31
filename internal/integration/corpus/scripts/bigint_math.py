"""Big integers: factorials, Fibonacci, pi digits, modular arithmetic, limits."""
import math
import sys


def fib(n):
    """Fast doubling."""
    if n == 0:
        return (0, 1)
    a, b = fib(n >> 1)
    c, d = a * (2 * b - a), a * a + b * b
    return (d, c + d) if n & 1 else (c, d)


def pi_digits(n):
    """Machin's formula in integers."""
    unity = 10 ** (n + 10)

    def arctan(x):
        total = term = unity // x
        k, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    return str(4 * (4 * arctan(5) - arctan(239)) // 10**10)


def isqrt_newton(n):
    x = 1 << (n.bit_length() + 1) // 2
    while True:
        y = (x + n // x) // 2
        if y >= x:
            return x
        x = y


f = math.factorial(1000)
s = str(f)
print(len(s), s[:20], s[-5:], "trailing zeros:", len(s) - len(s.rstrip("0")))
print("fib(1000) =", fib(1000)[0])
print("digits in fib(20000):", len(str(fib(20000)[0])))
print("pi:", pi_digits(100)[:101])
print("2**521-1 mod 1e9+7:", (2**521 - 1) % (10**9 + 7), pow(3, 10**18, 998244353), pow(7, -1, 10**30 + 57))
big = 10**50 + 12345678901234567890
print(big // 7**20, big % 7**20, divmod(-big, 10**40 + 1), -big // 3, -big % 3)
print(hex(big), bin(big)[-20:], oct(big)[-10:], f"{big:,}", f"{big:_x}", f"{big:.3e}")
print(big.bit_length(), big.bit_count(), big >> 100, (1 << 100) - 1, ~big, big ^ (big >> 1), big & -big)
print(isqrt_newton(10**60 + 1) == math.isqrt(10**60 + 1), math.isqrt(2 * 10**80))
print(float(10**22), float(10**23), float(2**53 + 1), int(1e23), round(10**20 + 5, -1), round(12345, -2), round(-25, -1))
print(int("ff", 16), int("0b101", 0), int("z" * 10, 36), int("-1_000"), int(" 42\n"), int.from_bytes(b"\xff" * 9, "big"))
print(math.gcd(2**200 - 1, 2**120 - 1) == 2**40 - 1, math.lcm(*range(1, 60)), math.comb(200, 100))
print(sum(int(d) for d in str(2**1000)), sum(range(10**6)), sum(k**5 for k in range(1000)))
print(10**18 * 10**18 == 10**36, (2**64 + 1) * (2**64 - 1) == 2**128 - 1, (-7) // 2, (-7) % 3, 7 // -2, int(-7 / 2))
print(sys.get_int_max_str_digits())
for act in (lambda: str(10**4300), lambda: int("1" * 4301), lambda: 1 // 0, lambda: int("12a"), lambda: float(10**400), lambda: 1 << 10 - 11, lambda: int("5", 40), lambda: math.isqrt(-1)):
    try:
        act()
        print("no error")
    except (ValueError, ZeroDivisionError, OverflowError) as e:
        print(f"{type(e).__name__}: {e}")
sys.set_int_max_str_digits(0)
print(len(str(3**20000)), len(str(2**44497)))
