#!/usr/bin/env python3
"""Read sales.csv, aggregate by region and month, write summary.csv."""
import csv
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path


def load(path):
    rows, bad = [], []
    with open(path, newline="", encoding="utf-8") as f:
        for lineno, row in enumerate(csv.DictReader(f), start=2):
            try:
                row["units"] = int(row["units"])
                row["unit_price"] = Decimal(row["unit_price"])
            except (ValueError, InvalidOperation) as exc:
                bad.append((lineno, type(exc).__name__, str(exc)))
                continue
            row["total"] = row["units"] * row["unit_price"]
            rows.append(row)
    return rows, bad


def summarize(rows, key):
    totals = defaultdict(lambda: [0, Decimal("0")])
    for row in rows:
        entry = totals[key(row)]
        entry[0] += row["units"]
        entry[1] += row["total"]
    return dict(sorted(totals.items()))


def table(title, summary):
    print(title)
    print(f"{'Key':<10} | {'Units':>6} | {'Revenue':>10}")
    print("-" * 11 + "+" + "-" * 8 + "+" + "-" * 11)
    for k, (units, revenue) in summary.items():
        print(f"{k:<10} | {units:>6} | {revenue:>10,.2f}")
    print()


rows, bad = load("sales.csv")
print(f"Loaded {len(rows)} rows, skipped {len(bad)}")
for lineno, kind, message in bad:
    print(f"  line {lineno}: {kind}: {message}")
print()
table("By region", summarize(rows, lambda r: r["region"]))
table("By month", summarize(rows, lambda r: r["date"][:7]))

best = max(rows, key=lambda r: r["total"])
print("Best sale:", best["product"], best["total"])

out = Path("summary.csv")
with out.open("w", newline="") as f:
    writer = csv.writer(f, quoting=csv.QUOTE_MINIMAL)
    writer.writerow(["product", "total"])
    for r in sorted(rows, key=lambda r: r["product"]):
        writer.writerow([r["product"], r["total"]])
print(out.read_bytes().decode())
print("Size:", out.stat().st_size)
