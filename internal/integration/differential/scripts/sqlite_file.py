import os, sqlite3

fresh = not os.path.exists("app.db")
db = sqlite3.connect("app.db")
if fresh:
    db.executescript("create table item(id integer primary key, name text unique, price real, data blob); create index by_price on item(price);")
with db:
    db.executemany("insert or replace into item(name, price, data) values (?, ?, ?)", [(f"item {i}", i * 1.25, bytes([i])) for i in range(50)])
print(fresh, db.execute("select count(*), sum(price), max(name) from item").fetchone())
print(db.execute("select name, data from item where price > ? order by price desc limit 2", (10,)).fetchall())
try:
    with db:
        db.execute("delete from item")
        db.execute("insert into item(id) values ('x')")
except sqlite3.IntegrityError as e:
    print(type(e).__name__, e)
print(db.execute("select count(*) from item").fetchone(), db.execute("pragma integrity_check").fetchone(), db.in_transaction)
other = sqlite3.connect("app.db", timeout=0.1)
print(other.execute("select count(*) from item").fetchone())
db.execute("begin immediate")
try:
    other.execute("begin immediate")
except sqlite3.OperationalError as e:
    print(e)
db.rollback()
other.close()
db.execute("vacuum")
db.close()
print(os.listdir("."), os.path.getsize("app.db") % 4096)
for bad in ("missing/dir.db", "/etc/none.db"):
    try:
        sqlite3.connect(bad).execute("create table t(x)")
    except sqlite3.OperationalError as e:
        print(e)
memory = sqlite3.connect(":memory:")
print(memory.execute("select json_extract('{\"a\": [1, 2]}', '$.a[1]'), upper('ä'), 7 / 2, 7 % 3, round(2.5), hex(zeroblob(2))").fetchone())
