import errno, os

ok, long = "n" * 255, "n" * 256
open(ok, "w").close()
print(len(os.listdir(".")[0]))
for call in (lambda: open(long, "w"), lambda: os.mkdir(long), lambda: os.stat(long), lambda: os.rename(ok, long), lambda: os.symlink("x", long), lambda: os.stat("a/" * 3000), lambda: open("ü" * 128, "w")):
    try:
        call()
    except OSError as e:
        print(type(e).__name__, errno.errorcode[e.errno])
os.remove(ok)
path = "/".join(["d" * 50] * 20)
os.makedirs(path)
with open(path + "/f", "w") as f:
    f.write("deep")
print(len(path), open(path + "/f").read(), os.path.exists("d" * 50 + "/../" + "d" * 50))
os.symlink("t" * 4000, "longlink")
print(len(os.readlink("longlink")), os.path.exists("longlink"))
count = 0
for root, dirs, files in os.walk("d" * 50):
    count += 1
print(count)
