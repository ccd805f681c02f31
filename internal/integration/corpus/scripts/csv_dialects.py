import csv
import io

data = [["id", "name", "note"], [1, "O'Neil", 'said "hi"'], [2, "tab\there", "multi\nline"], [3.5, None, ""]]


def dump(title, **kw):
    buf = io.StringIO()
    try:
        csv.writer(buf, **kw).writerows(data)
    except csv.Error as e:
        print(f"{title:14} -> csv.Error: {e}")
        return None
    print(f"{title:14} -> {buf.getvalue()!r}")
    return buf.getvalue()


dump("default")
dump("tabs", delimiter="\t")
dump("all quoted", quoting=csv.QUOTE_ALL)
dump("nonnumeric", quoting=csv.QUOTE_NONNUMERIC)
dump("strings", quoting=csv.QUOTE_STRINGS)
dump("notnull", quoting=csv.QUOTE_NOTNULL)
dump("no quotes", quoting=csv.QUOTE_NONE)
dump("escaped", quoting=csv.QUOTE_NONE, escapechar="\\")
dump("single", quotechar="'", lineterminator="\n")


class Pipes(csv.Dialect):
    delimiter = "|"
    quotechar = '"'
    doublequote = True
    skipinitialspace = True
    lineterminator = "\n"
    quoting = csv.QUOTE_MINIMAL


csv.register_dialect("pipes", Pipes)
text = dump("pipes", dialect="pipes")
print(list(csv.reader(io.StringIO(text), dialect="pipes")))
print(sorted(csv.list_dialects()))

sample = "name;age;city\nAnn;31;Rome\nBob;25;Oslo\n"
sniffer = csv.Sniffer()
found = sniffer.sniff(sample)
print("delimiter:", repr(found.delimiter), "header:", sniffer.has_header(sample))

reader = csv.DictReader(io.StringIO("a,b,c\n1,2,3\n4,5\n6,7,8,9,10\n"), restkey="extra", restval="?")
for row in reader:
    print(reader.line_num, row)

for bad in ['a,"b\nc', 'x,"y"z', "a\0b"]:
    try:
        print(repr(bad), list(csv.reader([bad], strict=True)))
    except csv.Error as e:
        print(repr(bad), "csv.Error:", e)

w = csv.DictWriter(io.StringIO(), fieldnames=["a", "b"])
try:
    w.writerow({"a": 1, "z": 2})
except ValueError as e:
    print("ValueError:", e)
print("limit:", csv.field_size_limit())
