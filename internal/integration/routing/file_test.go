//go:build routing

package routingtests

// fileScripts import files of the work directory.
var fileScripts = []script{
	{name: "own module", text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "import json\nx = 1\n"}, stdout: "1\n"},
	{name: "own module, all", text: "from helper import *\nprint(x)\n", files: map[string]string{"helper.py": "x = 1\n"}, stdout: "1\n"},
	{name: "own module that needs more", text: "import os\nimport helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "import ctypes\nx = 1\n"}, native: "line 2: import helper", refused: "helper", line: 2, stdout: "1\n"},
	{name: "own module's function", text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "def f():\n    import ctypes\nx = 1\n"}, native: "line 1: import helper", stdout: "1\n"},
	{name: "own module's useless import", text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "import subprocess\nx = 1\n"}, native: "line 1: import helper", stdout: "1\n"},
	{name: "own module's thread", text: "import helper\n", files: map[string]string{"helper.py": "import threading\ndef f():\n    threading.Thread(target=print).start()\n"}, native: "line 1: import helper"},
	{name: "own module that is guarded", text: "import helper\nprint(helper.ctypes)\n", files: map[string]string{"helper.py": "try:\n    import ctypes\nexcept ImportError:\n    ctypes = None\n"}, stdout: "None\n"},
	{name: "own module that says numpy", text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "# import numpy\nx = 'import numpy'\n"}, stdout: "import numpy\n"},
	{name: "own module, not found in it", text: "import helper\n", files: map[string]string{"helper.py": "import no_such_module\n"}, native: "line 1: import helper"},
	{name: "own module with a syntax error", text: "import helper\n", files: map[string]string{"helper.py": "def (\n"}, code: 1},
	{name: "own module in latin-1", text: "import helper\nprint(ascii(helper.x))\n", files: map[string]string{"helper.py": "# coding: latin-1\nx = '\xe9'\n"}, stdout: "'\\xe9'\n"},
	{name: "own chain", text: "import a\n", files: map[string]string{"a.py": "from b import c\n", "b.py": "import c\n", "c.py": "import mmap\n"}, native: "line 1: import a", refused: "a", line: 1},
	{name: "own cycle", text: "import a\nprint(a.b.x)\n", files: map[string]string{"a.py": "import b\n", "b.py": "import a\nx = 1\n"}, stdout: "1\n"},
	{name: "own package", text: "from pkg.sub import deep\nprint(deep.x)\n", files: map[string]string{"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/sub/deep.py": "from ..other import x\n", "pkg/other.py": "x = 1\n"}, stdout: "1\n"},
	{name: "own package, relative", text: "import pkg.a\n", files: map[string]string{"pkg/__init__.py": "", "pkg/a.py": "from . import b\n", "pkg/b.py": "import fcntl\n"}, native: "line 1: import pkg.a", refused: "pkg.a", line: 1},
	{name: "own package, parent", text: "import pkg.a\n", files: map[string]string{"pkg/__init__.py": "import fcntl\n", "pkg/a.py": ""}, native: "line 1: import pkg.a", refused: "pkg.a", line: 1},
	{name: "own package, part that is not imported", text: "import pkg\nprint(pkg.x)\n", files: map[string]string{"pkg/__init__.py": "x = 1\n", "pkg/a.py": "import fcntl\n"}, stdout: "1\n"},
	{name: "own namespace", text: "import space.a\nprint(space.a.x)\n", files: map[string]string{"space/a.py": "x = 1\n"}, stdout: "1\n"},
	{name: "own module of a folder", text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "import ctypes\n", "sub/helper.py": "x = 1\n"}, cwd: "sub", stdout: "1\n"},
	{name: "own module not of the folder", text: "import helper\n", files: map[string]string{"helper.py": "x = 1\n", "sub/x": ""}, cwd: "sub", native: "line 1: import helper"},
	{name: "in place of an absent module", text: "import fcntl, ssl\nprint(fcntl.x, ssl.x)\n", files: map[string]string{"fcntl.py": "x = 1\n", "ssl/__init__.py": "x = 2\n"}, stdout: "1 2\n"},
	{name: "in place of a module of the library", text: "import colorsys\nprint(colorsys.x)\n", files: map[string]string{"colorsys.py": "x = 1\n"}, stdout: "1\n"},
	{name: "in place of a loaded module", text: "from secrets import key\nprint(key)\n", files: map[string]string{"secrets.py": "key = 1\n"}, stdout: "1\n"},
	{name: "by import_module", text: "import importlib\nprint(importlib.import_module('helper').x)\n", files: map[string]string{"helper.py": "import ctypes\nx = 1\n"}, native: "line 2: import helper", refused: "helper", line: 2, stdout: "1\n"},
	{name: "compiled", text: "import fast\n", files: map[string]string{"fast.cpython-311-x86_64-linux-gnu.so": "\x7fELF"}, native: "line 1: import fast: compiled for the native tier (fast.cpython-311-x86_64-linux-gnu.so)", refused: "fast", line: 1},
	{name: "compiled, guarded", text: "try:\n    import fast\nexcept ImportError:\n    fast = None\nprint(fast)\n", files: map[string]string{"fast.abi3.so": "\x7fELF"}, stdout: "None\n"},
	{name: "compiled beside source", text: "import fast\nprint(fast.x)\n", files: map[string]string{"fast.cpython-39-x86_64-linux-gnu.so": "\x7fELF", "fast.py": "x = 1\n"}, stdout: "1\n"},
	{name: "path added by the script", text: "import sys\nsys.path.insert(0, 'lib')\nimport mine\nprint(mine.x)\n", files: map[string]string{"lib/mine.py": "x = 1\n"}, native: "line 3: import mine", stdout: "1\n"},
}

// packageScripts import from a virtual environment.
var packageScripts = []script{
	{name: "pure package", text: "import pure_one\nprint(pure_one.x)\n", packages: map[string]string{"pure_one/__init__.py": "from .a import x\nfrom . import b\n", "pure_one/a.py": "import re\nx = 1\n", "pure_one/b.py": ""}, stdout: "1\n"},
	{name: "compiled package", text: "import fast_one\n", packages: map[string]string{"fast_one/__init__.py": "from . import _core\n", "fast_one/_core/__init__.py": "from . import _umath\n", "fast_one/_core/_umath.cpython-311-x86_64-linux-gnu.so": "\x7fELF"}, native: "line 1: import fast_one: compiled for the native tier", refused: "fast_one", line: 1},
	{name: "package on a compiled one", text: "import os\nimport on_top\n", packages: map[string]string{"on_top/__init__.py": "import fast_two\n", "fast_two.cpython-311-x86_64-linux-gnu.so": "\x7fELF"}, native: "line 2: import on_top", refused: "on_top", line: 2},
	{name: "compiled package, guarded", text: "try:\n    import fast_one as m\nexcept ImportError:\n    m = None\nprint(m)\n", packages: map[string]string{"fast_one/__init__.py": "from . import _core\n", "fast_one/_core.so": "\x7fELF"}, stdout: "None\n"},
	{name: "optional speedups", text: "import quick\nprint(quick.f())\n", packages: map[string]string{"quick/__init__.py": "try:\n    from ._speedups import f\nexcept ImportError:\n    from ._native import f\n", "quick/_speedups.cpython-311-x86_64-linux-gnu.so": "\x7fELF", "quick/_native.py": "def f(): return 1\n"}, stdout: "1\n"},
	{name: "library's function", text: "import lazy_one\nprint(lazy_one.x)\n", packages: map[string]string{"lazy_one.py": "import sys\nif sys.platform == 'win32':\n    import ctypes\ndef f():\n    import no_such_module\nx = 1\n"}, stdout: "1\n"},
	{name: "library's useless import", text: "import runs_things\nprint(runs_things.x)\n", packages: map[string]string{"runs_things.py": "import subprocess, socket, threading\ndef f():\n    threading.Thread(target=print).start()\nx = 1\n"}, stdout: "1\n"},
	{name: "library's absent import", text: "import needs_ssl\nprint(needs_ssl.x)\n", packages: map[string]string{"needs_ssl.py": "import ssl\nx = 1\n"}, native: "line 1: import needs_ssl", refused: "needs_ssl", line: 1, stdout: "1\n"},
	{name: "library's types", text: "import typed_one\nprint(typed_one.x)\n", packages: map[string]string{"typed_one.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\nx = 1\n"}, stdout: "1\n"},
	{name: "namespace package", text: "import vendor_space.a.b\nprint(vendor_space.a.b.x)\n", packages: map[string]string{"vendor_space/a/b.py": "x = 1\n"}, stdout: "1\n"},
	{name: "namespace of both", text: "import mixed.a, mixed.b\nprint(mixed.a.x + mixed.b.x)\n", files: map[string]string{"mixed/a.py": "x = 1\n"}, packages: map[string]string{"mixed/b.py": "x = 2\n"}, stdout: "3\n"},
	{name: "module in the air", text: "from six_like.moves import thing\nprint(thing)\n", packages: map[string]string{"six_like.py": "import sys, types\nmoves = sys.modules['six_like.moves'] = types.ModuleType('six_like.moves')\nmoves.thing = 1\n"}, stdout: "1\n"},
	{name: "pth", text: "import developed\nprint(developed.x)\n", files: map[string]string{"src/developed.py": "x = 1\n"}, packages: map[string]string{"dev.pth": "/tmp/sandbox-work/src\n"}, stdout: "1\n"},
	{name: "pth to an obstacle", text: "import developed\n", files: map[string]string{"src/developed.py": "import ctypes\n"}, packages: map[string]string{"dev.pth": "/tmp/sandbox-work/src\n"}, native: "line 1: import developed", refused: "developed", line: 1},
	{name: "own before installed", text: "import twice\nprint(twice.x)\n", files: map[string]string{"twice.py": "x = 1\n"}, packages: map[string]string{"twice.py": "import ctypes\nx = 2\n"}, stdout: "1\n"},
	{name: "not installed", text: "import pure_two\n", packages: map[string]string{"pure_one.py": ""}, native: "line 1: import pure_two"},
}
