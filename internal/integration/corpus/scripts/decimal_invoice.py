"""Money with Decimal: rounding, contexts, signals."""
from decimal import (
    ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP,
    Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow, getcontext, localcontext,
)

CENT = Decimal("0.01")
items = [("Notebook A5", 12, "3.49"), ("Fountain pen", 1, "84.95"), ("Ink, blue (ml)", 250, "0.0375")]

print(f"{'Item':<18}{'Qty':>5}{'Price':>10}{'Total':>12}")
print("=" * 45)
net = Decimal(0)
for name, qty, price in items:
    total = (qty * Decimal(price)).quantize(CENT, ROUND_HALF_UP)
    net += total
    print(f"{name:<18}{qty:>5}{Decimal(price):>10}{total:>12,}")
vat = (net * Decimal("0.077")).quantize(CENT)
print("-" * 45)
print(f"{'Net':<33}{net:>12}")
print(f"{'VAT 7.7 %':<33}{vat:>12}")
print(f"{'Total':<33}{net + vat:>12}")
print()

for mode in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_DOWN, ROUND_UP, ROUND_FLOOR, ROUND_CEILING):
    print(f"{mode:<16}", [str(Decimal(x).quantize(Decimal(1), mode)) for x in ("2.5", "-2.5", "3.5", "2.4", "-2.6")])

with localcontext() as ctx:
    ctx.prec = 60
    print(Decimal(2).sqrt())
    print(Decimal(1).exp())
    print(Decimal(10).ln())
    print(Decimal(1) / 7)
print(Decimal(1) / 7)

small = Context(prec=3, Emax=9, traps=[Overflow, InvalidOperation])
print(small.divide(Decimal(2), Decimal(3)), small.add(Decimal("1E+9"), 1), small.flags[Inexact])
try:
    small.multiply(Decimal("9E9"), Decimal(10))
except Overflow as e:
    print("Overflow", e)

for expr in ("Decimal(1)/0", "Decimal(0)/0", "Decimal('abc')", "Decimal('Infinity')-Decimal('Infinity')", "Decimal(-1).sqrt()", "Decimal(10)**10**9"):
    try:
        print(expr, "=", eval(expr))
    except (DivisionByZero, InvalidOperation, Overflow) as e:
        print(expr, "->", type(e).__name__, e)

print(Decimal(0.1), Decimal("0.1") == 0.1, Decimal("1.30") == Decimal("1.3"), hash(Decimal(5)) == hash(5))
print(Decimal("1.30"), Decimal("1.30").normalize(), Decimal("1E+3"), format(Decimal("1E+3"), "f"), Decimal("-0"))
print(f"{Decimal('1234567.891'):,.2f} {Decimal('0.000123'):.2e} {Decimal('12.5'):+08.2f} {Decimal('0.5'):%}")
print(Decimal("3.14159").as_tuple(), Decimal("2.50").as_integer_ratio(), int(Decimal("-7.9")), round(Decimal("2.675"), 2))
print(divmod(Decimal("-7"), Decimal(3)), Decimal("-7") % 3, Decimal("7.5") // 2, Decimal(2) ** Decimal("0.5"))
print(sum(Decimal("0.1") for _ in range(10)) == 1, sum(0.1 for _ in range(10)) == 1)
print(getcontext().prec, repr(Decimal("NaN")), Decimal("NaN").is_nan(), max(Decimal("2"), Decimal("10")), Decimal("5").compare(Decimal("5.0")))
