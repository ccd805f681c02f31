import dbm.dumb, os, shelve

with dbm.dumb.open("kv", "c") as db:
    db["a"] = "1"
    db[b"\xff"] = b"\x00bin"
    del db["a"]
    db["b"] = "2"
print(sorted(os.listdir(".")))
with dbm.dumb.open("kv", "r") as db:
    print(sorted(db.keys()), db[b"\xff"], "a" in db)
with shelve.Shelf(dbm.dumb.open("shelf", "c"), protocol=4) as s:
    s["list"] = [1, 2]
    s["dict"] = {"k": (1,)}
with shelve.Shelf(dbm.dumb.open("shelf", "r")) as s:
    print(sorted(s), s["list"], s["dict"])
