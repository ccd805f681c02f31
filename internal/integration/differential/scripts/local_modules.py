import importlib, importlib.resources, os, pkgutil, runpy, sys

import helper
from pack import VALUE, inner
from pack.inner import deep

print(helper.NAME, VALUE, inner.__name__, deep.up(), helper.__file__, "/tmp/sandbox-work" in sys.path[:2])
print(sorted(m.name for m in pkgutil.iter_modules(["."]) ), (importlib.resources.files("pack") / "data.txt").read_text())
with open("helper.py", "a") as f:
    f.write("NAME = 'changed and longer'\n")
print(importlib.reload(helper).NAME)
print(runpy.run_path("tool.py", run_name="__main__")["result"], __name__)
for bad in ("missing_thing", "pack.missing", "broken"):
    try:
        importlib.import_module(bad)
    except Exception as e:
        print(type(e).__name__, getattr(e, "name", None))
os.makedirs("late")
with open("late/mod.py", "w") as f:
    f.write("x = 1\n")
sys.path.append("late")
importlib.invalidate_caches()
import mod

print(mod.x, mod.__spec__.origin, "json" in sys.builtin_module_names)
