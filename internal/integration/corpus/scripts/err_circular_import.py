# Two modules that import names from each other.
import importlib

for name in ("json", "no_such_module", "os.nothing", "json.decoder.x"):
    try:
        print("imported", importlib.import_module(name).__name__)
    except ImportError as e:
        print(f"{type(e).__name__}: {e} (name={e.name!r})")
try:
    from math import squareroot
except ImportError as e:
    print("ImportError:", str(e).split("(")[0])
try:
    from . import sibling
except ImportError as e:
    print("ImportError:", e)
try:
    import collections.ordereddict
except ModuleNotFoundError as e:
    print("ModuleNotFoundError:", e)
import alpha
