import errno

# Limits.OpenFiles is 50.
files = []
try:
    for i in range(200):
        files.append(open(f"f{i % 10}", "w"))
    print("no limit")
except OSError as e:
    print(type(e).__name__, errno.errorcode[e.errno], 40 <= len(files) < 50)
for f in files:
    f.close()
with open("after", "w") as f:
    print(f.write("works"))
