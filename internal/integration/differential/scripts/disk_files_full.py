import errno, os

# Limits.DiskFiles is 20.
made = 0
try:
    for i in range(100):
        open(f"f{i:02}", "w").close()
        made += 1
except OSError as e:
    print(made, errno.errorcode[e.errno])
for call in (lambda: os.mkdir("d"), lambda: os.symlink("f00", "l")):
    try:
        call()
    except OSError as e:
        print(errno.errorcode[e.errno])
os.remove("f00")
os.mkdir("d")
os.rename("f01", "d/f01")
open("d/f01", "w").close()
print(len(os.listdir(".")), os.listdir("d"))
