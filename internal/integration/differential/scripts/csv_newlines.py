import csv

rows = [["id", "text"], ["1", "plain"], ["2", 'quote "q"'], ["3", "line\nbreak"], ["4", "cr\rlf\r\n"], ["5", "comma, semi;"], ["6", ""], ["7", "ünïcödé"], ["8", " spaces "]]
for name, options in (("default.csv", {}), ("unix.csv", {"dialect": "unix"}), ("tab.csv", {"delimiter": "\t"}), ("lf.csv", {"lineterminator": "\n"})):
    with open(name, "w", newline="", encoding="utf-8") as f:
        csv.writer(f, **options).writerows(rows)
    print(name, open(name, "rb").read())
print(list(csv.reader(open("default.csv", newline="", encoding="utf-8"))) == rows)
with open("translated.csv", "w") as f:
    csv.writer(f).writerow(["a", "b"])
print(open("translated.csv", "rb").read(), list(csv.reader(open("translated.csv"))))
with open("dict.csv", "w", newline="") as f:
    w = csv.DictWriter(f, ["a", "b"], restval="-", extrasaction="ignore")
    w.writeheader()
    w.writerows([{"a": 1}, {"a": 2, "b": 3, "c": 4}])
print([dict(r) for r in csv.DictReader(open("dict.csv", newline=""))])
with open("mixed.txt", "wb") as f:
    f.write(b"one\r\ntwo\rthree\nfour")
print([line for line in open("mixed.txt")], [line for line in open("mixed.txt", newline="")], open("mixed.txt", newline="\r").readlines())
