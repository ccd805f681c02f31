"""What a script sees of its surroundings."""
import getpass
import os
import platform
import sys

print(sys.argv)
print(__name__, __file__, __doc__, __package__, __spec__)
print(os.getcwd(), os.path.abspath("x"), os.path.basename(sys.argv[0]))
print({k: v for k, v in sorted(os.environ.items())})
print(os.environ["HOME"] == os.path.expanduser("~"), getpass.getuser(), "NOPE" in os.environ)
print(sys.version_info[:2], platform.python_implementation(), platform.python_version_tuple()[:2], sys.version.split()[0] == platform.python_version())
print(sys.flags.optimize, sys.flags.utf8_mode, sys.flags.ignore_environment, sys.flags.isolated, sys.flags.no_site, sys.flags.dont_write_bytecode, sys.dont_write_bytecode, sys.flags.interactive, sys.flags.hash_randomization)
print(sys.getrecursionlimit(), sys.byteorder, sys.getdefaultencoding(), sys.maxunicode, sys.implementation.name, sys.float_repr_style)
print(sys.path[0] in ("", "/tmp/sandbox-work"), all(isinstance(p, str) for p in sys.path), "site" in sys.modules, hasattr(__builtins__, "exit"), hasattr(sys, "ps1"))
print(sorted(n for n in globals() if n.startswith("__")))
print(vars(sys.modules["__main__"]) is globals(), type(__builtins__).__name__, type(__loader__).__name__, sys.modules["__main__"].__file__)
print(os.listdir("."), os.path.isfile(__file__), open(__file__).readline().strip())
print(sys.stdin.read(), os.isatty(0), os.isatty(1))
print(copyright.__class__.__name__, repr(exit), credits is not None)
