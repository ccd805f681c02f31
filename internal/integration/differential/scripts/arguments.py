import sys

print(len(sys.argv), sys.argv[0])
for a in sys.argv[1:]:
    print(ascii(a), len(a))
print(sys.argv is sys.orig_argv, type(sys.argv))
