import sqlite3

con = sqlite3.connect(":memory:")
con.executescript(
    """
    CREATE TABLE sales(day TEXT, rep TEXT, amount INT);
    INSERT INTO sales VALUES
      ('2024-01-01','ann',100),('2024-01-02','ann',150),('2024-01-03','ann',90),
      ('2024-01-01','bob',200),('2024-01-03','bob',50),('2024-01-04','bob',300),
      ('2024-01-02','cyd',75);
    CREATE TABLE emp(id INT, name TEXT, boss INT);
    INSERT INTO emp VALUES (1,'Root',NULL),(2,'Left',1),(3,'Right',1),(4,'Leaf A',2),(5,'Leaf B',2),(6,'Leaf C',3);
    """
)


def show(title, sql, *args):
    cur = con.execute(sql, args)
    names = [d[0] for d in cur.description]
    rows = [tuple(str(v) for v in r) for r in cur]
    widths = [max(len(n), *(len(r[i]) for r in rows)) if rows else len(n) for i, n in enumerate(names)]
    print(f"-- {title}")
    print("  ".join(n.ljust(w) for n, w in zip(names, widths)).rstrip())
    print("  ".join("-" * w for w in widths))
    for r in rows:
        print("  ".join(v.ljust(w) for v, w in zip(r, widths)).rstrip())
    print()


show("running total", """
    SELECT rep, day, amount, SUM(amount) OVER w AS running, LAG(amount, 1, 0) OVER w AS prev, RANK() OVER (ORDER BY amount DESC) AS rnk
    FROM sales WINDOW w AS (PARTITION BY rep ORDER BY day) ORDER BY rep, day""")
show("recursive tree", """
    WITH RECURSIVE t(id, path, depth) AS (
      SELECT id, name, 0 FROM emp WHERE boss IS NULL
      UNION ALL SELECT e.id, t.path || ' > ' || e.name, depth + 1 FROM emp e JOIN t ON e.boss = t.id)
    SELECT depth, path FROM t ORDER BY path""")
show("fibonacci", "WITH RECURSIVE f(a, b) AS (VALUES(0, 1) UNION ALL SELECT b, a + b FROM f WHERE b < ?) SELECT group_concat(a, ' ') AS fib FROM f", 200)
show("pivot", """
    SELECT day, SUM(amount) FILTER (WHERE rep='ann') AS ann, SUM(CASE rep WHEN 'bob' THEN amount ELSE 0 END) AS bob, COUNT(DISTINCT rep) AS reps
    FROM sales GROUP BY day HAVING COUNT(*) > 0 ORDER BY day""")
show("dates", "SELECT date('2024-01-31', '+1 month') AS d, strftime('%W %j', '2024-02-29') AS wj, julianday('2000-01-01 12:00') AS jd, unixepoch('2001-09-09 01:46:40') AS u")
show("json", """SELECT key, value, type FROM json_each('{"a": 1, "b": [1,2], "c": null}')""")
show("json path", """SELECT json_extract('{"x": {"y": [10, 20]}}', '$.x.y[1]') AS v, json_array_length('[1,2,3]') AS n, json_group_array(rep) AS reps FROM (SELECT DISTINCT rep FROM sales ORDER BY rep)""")
con.execute("CREATE TABLE kv(k TEXT PRIMARY KEY, v INT)")
for k, v in [("a", 1), ("b", 2), ("a", 5)]:
    con.execute("INSERT INTO kv VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET v = v + excluded.v", (k, v))
show("upsert", "SELECT * FROM kv ORDER BY k")
print(con.execute("DELETE FROM kv WHERE v > 3 RETURNING k, v").fetchall())
show("empty", "SELECT * FROM sales WHERE 0")
con.close()
