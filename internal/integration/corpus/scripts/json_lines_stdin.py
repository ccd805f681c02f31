import json
import sys
from collections import Counter, defaultdict

levels = Counter()
latency = defaultdict(list)
skipped = 0

for number, line in enumerate(sys.stdin, 1):
    line = line.strip()
    if not line:
        continue
    try:
        record = json.loads(line)
    except json.JSONDecodeError as exc:
        skipped += 1
        print(f"line {number}: skipped ({exc.msg} at column {exc.colno})", file=sys.stderr)
        continue
    levels[record["level"]] += 1
    latency[record["path"]].append(record.get("ms"))

print("levels:", dict(levels.most_common()))
print("skipped:", skipped)
for path in sorted(latency):
    known = [ms for ms in latency[path] if ms is not None]
    avg = sum(known) / len(known) if known else float("nan")
    print(f"{path:<20} n={len(latency[path])} avg={avg:.2f}")

json.dump({"levels": levels, "paths": sorted(latency)}, sys.stdout, indent=1, ensure_ascii=False)
print()
sys.exit(1 if levels["error"] else 0)
