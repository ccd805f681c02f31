import os, sys

print(sys.platform, os.uname().sysname, os.cpu_count() > 0, bool(sys.executable))
print(os.getpid() > 1, os.getppid() > 0)
