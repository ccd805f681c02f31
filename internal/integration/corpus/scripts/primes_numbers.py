#!/usr/bin/env python3
"""Number theory: sieve, factorisation, perfect numbers, modular tricks."""
import math
import time


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\x00\x00"
    for p in range(2, math.isqrt(limit) + 1):
        if flags[p]:
            flags[p * p :: p] = bytes(len(range(p * p, limit + 1, p)))
    return [i for i, f in enumerate(flags) if f]


def factor(n):
    out, p = [], 2
    while p * p <= n:
        while n % p == 0:
            out.append(p)
            n //= p
        p += 1 if p == 2 else 2
    return out + [n] if n > 1 else out


def is_prime(n):
    """Miller-Rabin, deterministic below 3.3e24."""
    if n < 2:
        return False
    small = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    for p in small:
        if n % p == 0:
            return n == p
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in small:
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def egcd(a, b):
    return (a, 1, 0) if b == 0 else (lambda g, x, y: (g, y, x - a // b * y))(*egcd(b, a % b))


def crt(residues, moduli):
    total, m = 0, math.prod(moduli)
    for r, n in zip(residues, moduli):
        total += r * (m // n) * pow(m // n, -1, n)
    return total % m


started = time.perf_counter()
primes = sieve(200_000)
print("primes below 200000:", len(primes), "last:", primes[-3:])
print("sum of primes below 1000:", sum(p for p in primes if p < 1000))
print("twin primes below 100:", [(p, p + 2) for p in primes if p < 98 and p + 2 in set(primes[:30])])
print("gaps:", max(zip((b - a for a, b in zip(primes, primes[1:])), primes)))
for n in (360, 9999991, 2**32 - 1, 600851475143, 10**12 + 39):
    print(f"{n} = {' x '.join(map(str, factor(n)))}")
print("mersenne exponents:", [p for p in primes if p < 130 and is_prime(2**p - 1)])
print("perfect:", [n for n in range(2, 9000) if sum(d for i in range(1, math.isqrt(n) + 1) if n % i == 0 for d in {i, n // i}) == 2 * n])
print("egcd:", egcd(240, 46), "inverse:", pow(3, -1, 11), "crt:", crt([2, 3, 2], [3, 5, 7]))
print("goldbach 100:", [(p, 100 - p) for p in primes if p <= 50 and is_prime(100 - p)])
print("euler phi:", [sum(math.gcd(k, n) == 1 for k in range(1, n + 1)) for n in range(1, 21)])
print("armstrong:", [n for n in range(10, 10000) if n == sum(int(c) ** len(str(n)) for c in str(n))])
print("carmichael:", [n for n in range(3, 3000, 2) if not is_prime(n) and all(pow(a, n - 1, n) == 1 for a in range(2, n) if math.gcd(a, n) == 1)])
try:
    pow(2, -1, 4)
except ValueError as e:
    print("ValueError:", e)
assert time.perf_counter() >= started
