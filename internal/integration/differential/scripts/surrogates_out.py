import sys

print(sys.stdout.errors, sys.stdin.errors)
print("\udcff and \udc80")
print("lone \ud800")
