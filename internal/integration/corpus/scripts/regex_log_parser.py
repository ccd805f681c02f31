"""Parse an Apache combined log with one verbose regular expression."""
import re
from collections import Counter
from datetime import datetime, timedelta

LINE = re.compile(
    r"""
    ^(?P<ip>\d{1,3}(?:\.\d{1,3}){3})\s     # client
    \S+\s(?P<user>\S+)\s                   # ident, user
    \[(?P<time>[^\]]+)\]\s                 # time stamp
    "(?P<method>[A-Z]+)\s(?P<path>\S+)\s(?P<proto>[^"]+)"\s
    (?P<status>\d{3})\s(?P<size>\d+|-)\s
    "(?P<referer>[^"]*)"\s"(?P<agent>[^"]*)"$
    """,
    re.VERBOSE,
)


def parse(line: str) -> dict | None:
    m = LINE.match(line)
    if m is None:
        return None
    d = m.groupdict()
    d["time"] = datetime.strptime(d["time"], "%d/%b/%Y:%H:%M:%S %z")
    d["status"] = int(d["status"])
    d["size"] = 0 if d["size"] == "-" else int(d["size"])
    return d


entries = []
with open("access.log") as fh:
    for i, line in enumerate(fh, 1):
        entry = parse(line.rstrip("\n"))
        if entry is None:
            print(f"! line {i} not understood: {line.strip()!r}")
        else:
            entries.append(entry)

print(f"{len(entries)} entries, {sum(e['size'] for e in entries):,} bytes")
print("status classes:", Counter(f"{e['status'] // 100}xx" for e in entries).most_common())
print("per ip:", sorted(Counter(e["ip"] for e in entries).items()))

previous = None
for e in entries:
    gap = e["time"] - previous if previous else timedelta()
    previous = e["time"]
    print(f"{e['time']:%Y-%m-%d %H:%M:%S%z} +{gap!s:>8} {e['method']:<4} {e['status']} {e['path']}")

query = re.compile(r"[?&](\w+)=([^&]*)")
for e in entries:
    if pairs := query.findall(e["path"]):
        print(e["path"].partition("?")[0], pairs)

masked = re.sub(r"\b(\d+\.\d+)\.\d+\.\d+\b", r"\1.x.x", "\n".join(e["ip"] for e in entries))
print(masked)
