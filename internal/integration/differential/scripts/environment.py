import os

print({k: v for k, v in sorted(os.environ.items()) if k not in ("PYTHONPATH", "PATH")})
print(os.environ["GREETING"], os.environ.get("NOPE"), os.getenv("EMPTY"), "EMPTY" in os.environ)
os.environ["NEW"] = "valué"
print(os.environb[b"NEW"], os.path.expandvars("$NEW/${GREETING}/$NOPE"), os.path.expanduser("~"), os.path.expanduser("~/x"))
del os.environ["NEW"]
print("NEW" in os.environ, os.environ.pop("GREETING"), os.environ.setdefault("D", "1"))
os.environ.update(A="1", B="2")
print(os.environ["A"] + os.environ["B"], len(os.environ["LONG"]), ascii(os.environ["BYTES"]), os.environb[b"BYTES"])
for bad in (lambda: os.environ.__setitem__("a=b", "x"), lambda: os.environ.__setitem__("n", 1), lambda: os.environ["missing"], lambda: os.environ.__setitem__("z", "\0")):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__)
print(ascii(os.environ["MULTI"]), os.environ["EQ"], os.getenv("lower"), os.getenv("Ü"))
