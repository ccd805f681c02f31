"""Packs the standard library and the time zones into one zip archive: assemble.py TREE ARCHIVE.

TREE has python/ (Lib of the source) and zoneinfo/. Each module is there as source, for tracebacks and
inspect, and compiled, as an unchecked-hash .pyc: the interpreter believes it without looking at the
source's date. The same tree gives the same bytes.
"""

import importlib.util
import os
import sys
import zipfile

PREFIX = "/usr/lib/python3.13/"

# What a script in the wasm tier cannot use, or no script does. A name with a slash is a path below Lib.
LEFT_OUT = {
    "ctypes", "curses", "ensurepip", "idlelib", "pydoc_data", "test", "tkinter", "turtledemo", "turtle.py",
    "_android_support.py", "_apple_support.py", "_ios_support.py", "__phello__", "__hello__.py", "__pycache__",
    "site-packages", "unittest/test", "distutils", "lib2to3",
}
ZONES_LEFT_OUT = {"right", "posix", "leapseconds", "leap-seconds.list", "tzdata.zi", "posixrules", "localtime"}
DATE = (2025, 6, 4, 0, 0, 0)


def files(top, left_out):
    for directory, names, found in os.walk(top):
        relative = os.path.relpath(directory, top)
        inside = "" if relative == "." else relative + "/"
        names[:] = sorted(n for n in names if n not in ("__pycache__",) and inside + n not in left_out and n != "test")
        for name in sorted(found):
            if inside + name not in left_out:
                yield inside + name, os.path.join(directory, name)


def compiled(name, source):
    code = compile(source, PREFIX + name, "exec", dont_inherit=True, optimize=0)
    return importlib._bootstrap_external._code_to_hash_pyc(code, importlib.util.source_hash(source), False)


def add(archive, name, content):
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o100644 << 16
    archive.writestr(info, content, compresslevel=9)


def main(tree, path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, file in files(os.path.join(tree, "python"), LEFT_OUT):
            with open(file, "rb") as f:
                content = f.read()
            if not name.endswith((".py", ".txt", ".cfg", ".html", ".css", ".xpm", ".json")):
                continue
            add(archive, "python/" + name, content)
            if name.endswith(".py"):
                folder, _, base = name.rpartition("/")
                cached = f"{folder}/__pycache__/{base[:-3]}.cpython-313.pyc".lstrip("/")
                add(archive, "python/" + cached, compiled(name, content))
        for name, file in files(os.path.join(tree, "zoneinfo"), ZONES_LEFT_OUT):
            # Links between zones are followed: the guest sees files.
            with open(file, "rb") as f:
                add(archive, "zoneinfo/" + name, f.read())


main(*sys.argv[1:])
