"""CSV and JSON into SQLite, checks, report as Markdown, JSON and HTML."""
import csv
import json
import logging
import sqlite3
import sys
from html import escape
from pathlib import Path

logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s:%(funcName)s:%(message)s")
log = logging.getLogger("etl")


def extract():
    with open("products.csv", encoding="utf-8", newline="") as f:
        products = list(csv.DictReader(f, delimiter=";"))
    orders = json.loads(Path("orders.json").read_text())
    log.info("read %d products, %d orders", len(products), len(orders))
    return products, orders


def clean(products):
    seen = set()
    for row in products:
        if row["sku"] in seen:
            log.warning("duplicate sku %s dropped", row["sku"])
            continue
        seen.add(row["sku"])
        try:
            price = float(row["price"].replace(",", "."))
        except ValueError as e:
            log.error("sku %s: %s", row["sku"], e)
            continue
        yield row["sku"], row["name"] or None, price, int(row["stock"])


def load(con, products, orders):
    con.executescript("""
        PRAGMA foreign_keys = ON;
        CREATE TABLE product(sku TEXT PRIMARY KEY, name TEXT, price REAL NOT NULL, stock INT CHECK(stock >= 0));
        CREATE TABLE orders(id INTEGER PRIMARY KEY, sku TEXT NOT NULL REFERENCES product, qty INT, day TEXT);
    """)
    with con:
        con.executemany("INSERT INTO product VALUES (?,?,?,?)", products)
    ok = 0
    for o in orders:
        try:
            with con:
                con.execute("INSERT INTO orders(sku, qty, day) VALUES (:sku, :qty, :day)", o)
                con.execute("UPDATE product SET stock = stock - :qty WHERE sku = :sku", o)
            ok += 1
        except sqlite3.IntegrityError as e:
            log.warning("order %s refused: %s", o, e)
    return ok


def report(con):
    rows = con.execute("""
        SELECT p.sku, COALESCE(p.name, '(unnamed)') AS name, p.stock, COALESCE(SUM(o.qty), 0) AS sold, ROUND(COALESCE(SUM(o.qty * p.price), 0), 2) AS revenue
        FROM product p LEFT JOIN orders o USING (sku) GROUP BY p.sku ORDER BY revenue DESC, p.sku""").fetchall()
    header = ["sku", "name", "stock", "sold", "revenue"]
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join(["---"] * len(header)) + "|")
    for r in rows:
        print("| " + " | ".join(map(str, r)) + " |")
    Path("report.json").write_text(json.dumps([dict(zip(header, r)) for r in rows], indent=2))
    Path("report.html").write_text("<table>" + "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in r) + "</tr>" for r in rows) + "</table>")
    return rows


products, orders = extract()
con = sqlite3.connect("shop.db")
print("orders accepted:", load(con, clean(products), orders))
rows = report(con)
con.close()
print("total revenue:", round(sum(r[-1] for r in rows), 2))
print(Path("report.html").read_text())
print({p.name: p.stat().st_size > 0 for p in sorted(Path().iterdir())})
print(json.loads(Path("report.json").read_text())[0])
sys.exit(0 if rows else 1)
