"""Typical JSON work: load, walk, transform, custom encoding, error handling."""
import json
import datetime as dt
from decimal import Decimal
from dataclasses import dataclass, asdict

RAW = r'''
{
  "users": [
    {"id": 1, "name": "Zoë", "tags": ["admin", "ops"], "score": 9.75, "active": true},
    {"id": 2, "name": "Łukasz \u2603", "tags": [], "score": 1e3, "active": false},
    {"id": 3, "name": "Tab\tNew\nLine", "tags": ["dev"], "score": -0.0, "active": null}
  ],
  "meta": {"page": 1, "total": 3, "next": null}
}
'''


@dataclass
class Event:
    name: str
    when: dt.date
    cost: Decimal


class Encoder(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, Event):
            return asdict(o)
        if isinstance(o, (dt.date, dt.datetime)):
            return o.isoformat()
        if isinstance(o, Decimal):
            return str(o)
        if isinstance(o, (set, frozenset)):
            return sorted(o)
        return super().default(o)


def flatten(value, prefix=""):
    """Flatten nested containers to dotted paths."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from flatten(v, f"{prefix}.{k}" if prefix else k)
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flatten(v, f"{prefix}[{i}]")
    else:
        yield prefix, value


data = json.loads(RAW)
for path, value in flatten(data):
    print(f"{path:<22} = {value!r}")

print(json.dumps(data["users"][1]))
print(json.dumps(data["users"][1], ensure_ascii=False, sort_keys=True, separators=(",", ":")))
print(json.dumps({"events": [Event("launch", dt.date(2024, 2, 29), Decimal("12.50"))], "seen": {3, 1, 2}}, cls=Encoder, indent=2))
print(json.dumps({1: "int", 1.5: "float", None: "none", True: "bool"}))
print(json.dumps([float("inf"), float("-inf"), float("nan"), 1e16, 1e-7, 0.1 + 0.2, 2**70]))
print(json.loads("[1.10, 2]", parse_float=Decimal, parse_int=str))
print(json.loads('{"b": 1, "a": 2, "b": 3}', object_pairs_hook=list))

for bad in ["", "{", "[1,]", '{"a" 1}', "{'a': 1}", "[1, 2", '"\x01"', "nul", "[1] x", '{"a": 01}', '"\\x"']:
    try:
        json.loads(bad)
    except json.JSONDecodeError as e:
        print(f"{bad!r:12} {e}")
for value in (object, {(1, 2): 3}, 1 + 2j):
    try:
        json.dumps(value)
    except TypeError as e:
        print("TypeError:", e)
loop = []
loop.append(loop)
try:
    json.dumps(loop)
except ValueError as e:
    print("ValueError:", e)
