"""Says where it runs, and computes something that can be checked."""

import platform
import sys


def arctan_of_inverse(x, unity):
    """unity * arctan(1 / x), in whole numbers."""
    power = total = unity // x
    n = 1
    while power:
        power //= -x * x
        n += 2
        total += power // n
    return total


def pi(digits):
    """The first decimal digits of pi, by Machin's formula."""
    unity = 10 ** (digits + 10)
    value = 4 * (4 * arctan_of_inverse(5, unity) - arctan_of_inverse(239, unity))
    text = str(value // 10**10)
    return f"{text[0]}.{text[1:]}"


print(f"Hello from Python {platform.python_version()} on {sys.platform}.")
print(f"pi is {pi(50)}...")
print(f"2**521 - 1 has {len(str(2**521 - 1))} digits.")
