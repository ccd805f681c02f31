import sys

print(sys.path[0])
