import json, math

doc = {"name": "Zoë", "n": 1, "pi": 3.14159, "big": 2**70, "none": None, "yes": True, "nested": {"list": [1, [2, [3]]], "empty": {}}, "esc": "\"\\/\b\f\n\r\t\u2028\x00", "emoji": "😀"}
for name, options in (("a.json", {}), ("b.json", {"indent": 2, "sort_keys": True}), ("c.json", {"ensure_ascii": False, "separators": (",", ":")}), ("d.json", {"indent": "\t"})):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(doc, f, **options)
    with open(name, encoding="utf-8") as f:
        print(name, json.load(f) == doc)
print(json.dumps([math.inf, -math.inf, 1e400, 0.1, -0.0, 1e-10, 1e16]), json.loads("[NaN, Infinity, 1e5, 1E-2, 12345678901234567890]")[1:])
print(json.dumps({1: "a", None: "b", True: "c", 2.5: "d"}), json.dumps("\ud800"), json.loads('"\\ud83d\\ude00"'))
for bad in ("", "{", "[1 2]", "{'a': 1}", "nul", '"\x01"', "[1]x", "\ufeff{}"):
    try:
        json.loads(bad)
    except json.JSONDecodeError as e:
        print(type(e).__name__, e.pos, e.lineno)
with open("lines.jsonl", "w") as f:
    for i in range(100):
        f.write(json.dumps({"i": i, "sq": i * i}) + "\n")
print(sum(json.loads(line)["sq"] for line in open("lines.jsonl")))
