import getpass, os, platform, sys

print(getpass.getuser(), os.getlogin() if False else "", sys.platform in ("linux", "wasi"), os.name, os.sep, os.linesep.encode())
print(sys.implementation.name, sys.byteorder, sys.flags.isolated, sys.flags.ignore_environment, __file__, sys.argv[0], __name__)
print(platform.python_implementation(), sys.getrecursionlimit(), sys.float_info.max, sys.dont_write_bytecode in (True, False))
