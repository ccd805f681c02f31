"""Prints what `import NAME` does for each name of sys.stdlib_module_names, each in a process of its own."""
import importlib
import os
import sys

for name in sorted(sys.stdlib_module_names):
    if name == "antigravity":  # opens a web browser
        continue
    pid = os.fork()
    if pid == 0:
        out = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            importlib.import_module(name)
            text = "ok"
        except BaseException as e:
            text = f"{type(e).__name__}: {e}"
        os.write(out, f"{name}: {text}\n".encode())
        os._exit(0)
    os.waitpid(pid, 0)
