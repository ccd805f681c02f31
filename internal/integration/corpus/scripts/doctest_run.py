"""Examples that are checked by doctest.

>>> add(2, 3)
5
>>> add("a", 1)
Traceback (most recent call last):
    ...
TypeError: can only concatenate str (not "int") to str
"""
import doctest


def add(a, b):
    """Add two things.

    >>> add([1], [2])
    [1, 2]
    >>> add(0.1, 0.2)  # doctest: +ELLIPSIS
    0.3000...
    """
    return a + b


def roman(n):
    """Convert to Roman numerals.

    >>> [roman(i) for i in (1, 4, 9, 14, 40, 90, 400, 1994)]
    ['I', 'IV', 'IX', 'XIV', 'XL', 'XC', 'CD', 'MCMXCIV']
    >>> roman(0)
    Traceback (most recent call last):
    ValueError: out of range: 0
    >>> roman(3999)
    'MMMCMXCIX wrong on purpose'
    """
    if not 0 < n < 4000:
        raise ValueError(f"out of range: {n}")
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    out = ""
    for value, sym in table:
        q, n = divmod(n, value)
        out += sym * q
    return out


class Acc:
    """Accumulates.

    >>> a = Acc()
    >>> for i in range(3):
    ...     a.feed(i)
    >>> a.total
    3
    >>> print(a.report())
    total = 3
    <BLANKLINE>
    end
    """

    def __init__(self):
        self.total = 0

    def feed(self, x):
        self.total += x

    def report(self):
        return f"total = {self.total}\n\nend"


if __name__ == "__main__":
    result = doctest.testmod(verbose=False)
    print(result, result.attempted > 10)
    for test in doctest.DocTestFinder().find(add):
        print(test.name, len(test.examples), [e.lineno for e in test.examples])
    with open("guide.txt", "w") as f:
        f.write("Guide\n\n>>> 1 + 1\n2\n>>> sorted({'b', 'a'})\n['a', 'b']\n>>> 1/0\n0\n")
    print(doctest.testfile("guide.txt", module_relative=False))
    raise SystemExit(result.failed)
