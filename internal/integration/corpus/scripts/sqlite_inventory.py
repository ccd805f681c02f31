"""An inventory in an in-memory SQLite database."""
import sqlite3
from contextlib import closing

SCHEMA = """
CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE item (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    price REAL CHECK (price >= 0),
    qty INTEGER DEFAULT 0,
    category_id INTEGER REFERENCES category(id)
);
CREATE INDEX idx_item_cat ON item(category_id);
"""


def populate(con):
    con.executemany("INSERT INTO category(name) VALUES (?)", [("tools",), ("paint",), ("garden",)])
    con.executemany(
        "INSERT INTO item(name, price, qty, category_id) VALUES (:n, :p, :q, :c)",
        [
            {"n": "hammer", "p": 19.9, "q": 5, "c": 1},
            {"n": "saw", "p": 24.5, "q": 0, "c": 1},
            {"n": "red paint 1l", "p": 12.0, "q": 30, "c": 2},
            {"n": "brush", "p": 3.25, "q": 100, "c": 2},
            {"n": "hose 20m", "p": 45.0, "q": 2, "c": 3},
            {"n": "mystery", "p": None, "q": 1, "c": None},
        ],
    )


with closing(sqlite3.connect(":memory:")) as con:
    con.row_factory = sqlite3.Row
    con.execute("PRAGMA foreign_keys = ON")
    con.executescript(SCHEMA)
    with con:
        populate(con)

    print("tables:", [r["name"] for r in con.execute("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%' ORDER BY 1")])
    rows = con.execute(
        """SELECT c.name AS cat, COUNT(*) AS n, SUM(i.qty) AS units, ROUND(SUM(i.qty * i.price), 2) AS value
           FROM item i LEFT JOIN category c ON c.id = i.category_id
           GROUP BY c.id ORDER BY c.name IS NULL, c.name"""
    ).fetchall()
    print(rows[0].keys())
    for r in rows:
        print(f"{r['cat'] or '(none)':<8}{r['n']:>3}{r['units']:>6}{r['value'] if r['value'] is not None else '-':>10}")

    cur = con.execute("UPDATE item SET price = price * 1.1 WHERE category_id = (SELECT id FROM category WHERE name = ?)", ("tools",))
    print("updated", cur.rowcount, "lastrowid", cur.lastrowid)
    for name, price in con.execute("SELECT name, price FROM item ORDER BY price IS NULL, price DESC"):
        print(f"  {name:<14} {price if price is None else format(price, '.2f')}")

    for sql, args in [
        ("INSERT INTO category(name) VALUES (?)", ("tools",)),
        ("INSERT INTO item(name, price) VALUES (?, ?)", ("bad", -1)),
        ("INSERT INTO item(name, category_id) VALUES (?, ?)", ("orphan", 99)),
        ("INSERT INTO item(name) VALUES (NULL)", ()),
        ("SELECT * FROM nowhere", ()),
        ("SELEC 1", ()),
        ("SELECT ?, ?", (1,)),
        ("SELECT 1; SELECT 2", ()),
        ("SELECT ?", (object(),)),
    ]:
        try:
            con.execute(sql, args)
        except (sqlite3.Error, sqlite3.Warning) as e:
            print(f"{type(e).__name__}: {e}" if "object" not in str(e) else f"{type(e).__name__}: unsupported type")
    con.rollback()

    try:
        with con:
            con.execute("DELETE FROM item")
            print("inside:", con.execute("SELECT COUNT(*) FROM item").fetchone()[0])
            raise RuntimeError("changed my mind")
    except RuntimeError as e:
        print("rolled back because", e)
    print("outside:", con.execute("SELECT COUNT(*) FROM item").fetchone()[0], "total changes > 0:", con.total_changes > 0)

    print(con.execute("SELECT typeof(1), typeof(1.0), typeof('x'), typeof(x'00ff'), typeof(NULL)").fetchone()[:])
    print(con.execute("SELECT x'00ff', 'é' || upper('abc'), 7/2, 7/2.0, 5 % 3, 'abc' LIKE 'A%', 'abc' GLOB 'A*'").fetchone()[:])
try:
    con.execute("SELECT 1")
except sqlite3.ProgrammingError as e:
    print("ProgrammingError:", e)
