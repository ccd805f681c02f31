"""INI, TOML, plist and other configuration formats."""
import configparser
import io
import plistlib
import sys
import tomllib

cp = configparser.ConfigParser(allow_no_value=True, inline_comment_prefixes=(";",))
print("read:", cp.read(["missing.ini", "app.ini"]), cp.sections())
print(cp["web"]["root"], cp.getint("web", "port"), cp.getboolean("web", "debug"), cp.getboolean("db", "debug"), cp.getfloat("db", "ratio"))
print(cp["web"]["hosts"].split(), cp["db"]["empty"], cp.get("db", "nope", fallback="fb"), "url" in cp["db"], cp["db"]["url"], dict(cp["db"]))
cp["new"] = {"A": "1", "b": "two"}
cp.set("web", "port", "9090")
cp.remove_option("db", "pool")
out = io.StringIO()
cp.write(out)
print(out.getvalue())
for act in (lambda: cp.get("none", "x"), lambda: cp.get("web", "x"), lambda: cp.getint("new", "b"), lambda: cp.add_section("web"), lambda: cp.set("web", "n", 5), lambda: cp.read_string("no section\n"), lambda: cp.read_string("[a]\nx=1\nx=2\n"), lambda: cp.read_string("[a]\nx=%(y)s\n") or cp.get("a", "x")):
    try:
        act()
    except Exception as e:
        print(type(e).__name__, "|", str(e).replace("\n", " / "))

with open("app.toml", "rb") as f:
    data = tomllib.load(f)
print(data)
for bad in ("a = ", "a = 1\na = 2", "[x", "x = 2024-13-01", 'x = "unclosed', "x = [1, 2"):
    try:
        tomllib.loads(bad)
    except tomllib.TOMLDecodeError as e:
        print(e)
blob = plistlib.dumps({"n": 1, "list": [True, 2.5, b"\x00"], "s": "é"})
print(blob.decode().count("\n"), plistlib.loads(blob), plistlib.loads(plistlib.dumps({"k": [1]}, fmt=plistlib.FMT_BINARY)))


def dump_toml(d, prefix=""):
    for k, v in d.items():
        if isinstance(v, dict):
            print(f"\n[{prefix}{k}]")
            dump_toml(v, f"{prefix}{k}.")
        else:
            print(f"{k} = {v!r}")


dump_toml({"a": 1, "t": {"x": [1, 2], "u": {"y": "z"}}})
sys.exit(len(cp.sections()))
