"""SQLite on a file: custom functions, adapters, dump, backup."""
import datetime
import json
import os
import sqlite3
from pathlib import Path

DB = Path("app.db")


class Median:
    def __init__(self):
        self.values = []

    def step(self, v):
        if v is not None:
            self.values.append(v)

    def finalize(self):
        s = sorted(self.values)
        n = len(s)
        if not n:
            return None
        return s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2


sqlite3.register_adapter(dict, lambda d: json.dumps(d, sort_keys=True))
sqlite3.register_converter("JSON", json.loads)
sqlite3.register_adapter(datetime.date, datetime.date.isoformat)
sqlite3.register_converter("DAY", lambda b: datetime.date.fromisoformat(b.decode()))

con = sqlite3.connect(DB, detect_types=sqlite3.PARSE_DECLTYPES)
con.create_function("reverse", 1, lambda s: s[::-1], deterministic=True)
con.create_function("boom", 0, lambda: 1 / 0)
con.create_aggregate("median", 1, Median)
con.create_collation("nocase_rev", lambda a, b: (b.lower() > a.lower()) - (b.lower() < a.lower()))
con.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, day DAY, payload JSON, n REAL)")
with con:
    for i in range(1, 6):
        con.execute("INSERT INTO log(day, payload, n) VALUES (?, ?, ?)", (datetime.date(2024, 1, i), {"i": i, "sq": i * i}, i * 1.5))
con.close()

print("exists:", DB.exists(), "header:", DB.read_bytes()[:15])
con = sqlite3.connect(f"file:{DB}?mode=ro", uri=True, detect_types=sqlite3.PARSE_DECLTYPES)
for row in con.execute("SELECT * FROM log WHERE id % 2 ORDER BY id DESC"):
    print(row)
try:
    con.execute("DELETE FROM log")
except sqlite3.OperationalError as e:
    print("OperationalError:", e)
con.close()

con = sqlite3.connect(DB)
con.create_function("reverse", 1, lambda s: s[::-1])
con.create_function("boom", 0, lambda: 1 / 0)
con.create_aggregate("median", 1, Median)
con.create_collation("rev", lambda a, b: (b > a) - (b < a))
print(con.execute("SELECT reverse('stressed'), median(n), sum(n), avg(n) FROM log").fetchone())
print([r[0] for r in con.execute("SELECT day FROM log ORDER BY day COLLATE rev")])
try:
    con.execute("SELECT boom()").fetchone()
except sqlite3.OperationalError as e:
    print("OperationalError:", e)
print("\n".join(con.iterdump()))

copy = sqlite3.connect(":memory:")
con.backup(copy)
print("copied:", copy.execute("SELECT count(*), max(id) FROM log").fetchone())
con.execute("BEGIN")
con.execute("INSERT INTO log(n) VALUES (99)")
con.execute("SAVEPOINT sp")
con.execute("DELETE FROM log")
con.execute("ROLLBACK TO sp")
print("after savepoint:", con.execute("SELECT count(*) FROM log").fetchone()[0], "in transaction:", con.in_transaction)
con.rollback()
print("after rollback:", con.execute("SELECT count(*) FROM log").fetchone()[0])
con.close()
DB.unlink()
print(os.listdir("."))
try:
    sqlite3.connect("no/such/dir/x.db")
except sqlite3.OperationalError as e:
    print("OperationalError:", e)
